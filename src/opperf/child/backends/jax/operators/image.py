"""Images and their colors in JAX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.ndimage import map_coordinates

from opperf.child.backends.arrays.operators import images
from opperf.child.backends.arrays.windows import spread
from opperf.child.backends.binding import Binding, Call, call, compositions
from opperf.child.backends.jax.operators.convolution import both_ends


def grid_sample(data: Any, grid: Any) -> Any:
    """Return a mixture of the pixels around each point; -1 and 1 are the centres at the edges."""
    height, width = data.shape[2:]
    rows, columns = (grid[..., 1] + 1) * ((height - 1) / 2), (grid[..., 0] + 1) * ((width - 1) / 2)

    def sample(plane: Any, down: Any, right: Any) -> Any:
        return map_coordinates(plane, (down, right), order=1)

    return jax.vmap(jax.vmap(sample, (0, None, None)))(data, rows, columns)


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
    **images(jnp, "jax.numpy", _array_like, "indexing with slices"),
    "image_flip_left_right": call("jax.numpy.flip", "data", "axis=-2"),
    "image_flip_top_bottom": call("jax.numpy.flip", "data", "axis=-3"),
    "image_resize_bilinear": _resize("bilinear"),
    "image_resize_nearest": _resize("nearest"),
    "upsample_bilinear": _resize("bilinear"),
    **compositions(
        image_to_tensor=(
            lambda data: data.transpose(0, 3, 1, 2).astype(jnp.float32) / 255,
            "a transpose, a cast and a division",
        ),
        grid_sample=(grid_sample, "jax.scipy.ndimage.map_coordinates under jax.vmap over batch and channels"),
        im2col=(im2col, "jax.lax.conv_general_dilated_patches and a reshape"),
    ),
}
