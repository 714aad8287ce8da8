"""Images and their colors in JAX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.ndimage import map_coordinates

from opperf.child.backends.arrays.operators import CHANGES, change, depth_to_space, normalization, space_to_depth
from opperf.child.backends.binding import Binding, Call, call, composition, compositions
from opperf.child.backends.jax.operators.convolution import both_ends, spread


def grid_sample(data: Any, grid: Any) -> Any:
    """Return what is mixed of the pixels around each point; -1 and 1 are the centres at the edges."""
    height, width = data.shape[2:]
    rows, columns = (grid[..., 1] + 1) * ((height - 1) / 2), (grid[..., 0] + 1) * ((width - 1) / 2)

    def sample(plane: Any, down: Any, right: Any) -> Any:
        return map_coordinates(plane, (down, right), order=1)

    return jax.vmap(jax.vmap(sample, (0, None, None)))(data, rows, columns)


def pixel_shuffle(data: Any, factor: int) -> Any:
    """Return channels spread over pixels."""
    batch, channels, height, width = data.shape
    blocks = data.reshape(batch, channels // factor**2, factor, factor, height, width)
    return blocks.transpose(0, 1, 4, 2, 5, 3).reshape(batch, -1, height * factor, width * factor)


def im2col(data: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    """Return the elements under each place of a window as a column."""
    patches = lax.conv_general_dilated_patches(
        data, spread(kernel, 2, 1), spread(stride, 2, 1), both_ends(padding, 2), rhs_dilation=spread(dilation, 2, 1)
    )
    return patches.reshape(*patches.shape[:2], -1)


def _shape(arguments: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the shape of the result, by its size or by the scale."""
    data = arguments["data"].shape
    if "scale" in arguments:
        return (*data[:2], arguments["scale"] * data[2], arguments["scale"] * data[3])
    return (*data[:2], *spread(arguments.get("size"), 2, 1))


def _resize(method: str) -> Call:
    return call(
        "jax.image.resize", "image=data, shape=shape", f"method={method!r}, antialias=False", derive={"shape": _shape}
    )


def _array_like(data: Any, numbers: Any) -> Any:
    return jnp.asarray(numbers, data.dtype)


BINDINGS: dict[str, Binding] = {
    # Images in JAX.
    "image_normalize": normalization(
        _array_like, "a difference and a division; mean and deviation are precomputed arrays"
    ),
    "image_flip_left_right": call("jax.numpy.flip", "data", "axis=-2"),
    "image_flip_top_bottom": call("jax.numpy.flip", "data", "axis=-3"),
    "image_resize_bilinear": _resize("bilinear"),
    "image_resize_nearest": _resize("nearest"),
    "upsample_bilinear": _resize("bilinear"),
    "depth_to_space": composition(depth_to_space, "data, factor", note="jax.numpy.transpose between reshapes"),
    "space_to_depth": composition(space_to_depth, "data, factor", note="jax.numpy.transpose between reshapes"),
    **compositions(
        image_to_tensor=(
            lambda data: data.transpose(0, 3, 1, 2).astype(jnp.float32) / 255,
            "a transpose, a cast and a division",
        ),
        image_crop=(
            lambda data, top, left, height, width: data[:, top : top + height, left : left + width],
            "indexing with slices",
        ),
        upsample_nearest=(
            lambda data, scale: jnp.repeat(jnp.repeat(data, scale, axis=2), scale, axis=3),
            "jax.numpy.repeat in both dimensions",
        ),
        grid_sample=(grid_sample, "jax.scipy.ndimage.map_coordinates under jax.vmap over batch and channels"),
        pixel_shuffle=(pixel_shuffle, "a transpose between reshapes"),
        im2col=(im2col, "jax.lax.conv_general_dilated_patches and a reshape"),
    ),
    **{name: change(name, _array_like) for name in CHANGES},
}
