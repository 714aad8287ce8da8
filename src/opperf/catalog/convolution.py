"""Convolutions, pooling and Fourier transforms."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from opperf.catalog.definition import FORWARD_ONLY, Arguments, Formula, Operator, Outputs, elements
from opperf.catalog.formulas import each, like, product, whole, wholes, windows
from opperf.domain.case import Argument, Case
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

# Convolutions: data is (batch, channels, space...), weight (out channels, in channels / groups, space...), no bias.
#
# `stride`, `padding` and `dilation` are one number or one for each space dimension; padding is on both ends. An output
# element is one multiply-add for each weight that meets it, padding included, as every published count has it. The
# backward pass is two convolutions of the same work.

_Shape = tuple[int, ...]


def _convolve(groups: Callable[[Case], int]) -> Outputs:
    def outputs(case: Case) -> tuple[TensorSpec, ...]:
        data, weight = case.tensor("data"), case.tensor("weight")
        if data.shape[1] != weight.shape[1] * groups(case):
            raise InputError(
                f"`{case.operator}`: the data has {data.shape[1]} channels, "
                f"and the weight takes {weight.shape[1]} in each of {groups(case)} groups"
            )
        kernel = weight.shape[2:]
        space = windows(case, data.shape[2:], kernel, wholes(case, "stride", len(kernel), 1))
        return (like(data, (data.shape[0], weight.shape[0], *space)),)

    return outputs


def _work(outputs: Outputs) -> Formula:
    return lambda case: 2 * elements(outputs(case)) * product(case.tensor("weight").shape[1:])


def _transpose(case: Case) -> tuple[TensorSpec, ...]:
    data, weight = case.tensor("data"), case.tensor("weight")
    if data.shape[1] != weight.shape[0]:
        raise InputError(f"`{case.operator}`: {data.shape[1]} channels of data, {weight.shape[0]} of weight")
    kernel = weight.shape[2:]
    stride, padding, extra, dilation = (
        wholes(case, name, len(kernel), default)
        for name, default in (("stride", 1), ("padding", 0), ("output_padding", 0), ("dilation", 1))
    )
    space = tuple(
        (size - 1) * step - 2 * pad + spread * (width - 1) + 1 + more
        for size, width, step, pad, more, spread in zip(
            data.shape[2:], kernel, stride, padding, extra, dilation, strict=True
        )
    )
    return (like(data, (data.shape[0], weight.shape[1] * whole(case, "groups", 1), *space)),)


def _transposed_work(case: Case) -> int:
    return 2 * case.tensor("data").elements * product(case.tensor("weight").shape[1:])


def _arguments(
    data: _Shape, weight: _Shape, stride: int | _Shape = 1, padding: int | _Shape = 0, dilation: int = 1
) -> Arguments:
    count = len(weight) - 2

    def spread(value: int | _Shape) -> Argument:
        return (value,) * count if isinstance(value, int) else value

    return {
        "data": TensorSpec(data),
        "weight": TensorSpec(weight),
        "stride": spread(stride),
        "padding": spread(padding),
        "dilation": spread(dilation),
    }


def _convolution(
    name: str,
    summary: str,
    *,
    small: Arguments,
    common: Arguments,
    large: Arguments,
    skewed: Arguments,
    outputs: Outputs,
    flops: Formula | None = None,
    more: Arguments | None = None,
    aliases: tuple[str, ...] = (),
) -> Operator:
    """Declare `name`; `more` are attributes that all sizes have with the same value."""
    sizes = {"small": small, "common": common, "large": large, "skewed": skewed}
    return Operator(
        name=name,
        category="convolution",
        summary=summary,
        inputs=("data", "weight"),
        sizes={size: {**arguments, **(more or {})} for size, arguments in sizes.items()},
        outputs=outputs,
        flops=flops or _work(outputs),
        differentiable=("data", "weight"),
        backward_flops=2,
        aliases=aliases,
    )


_grouped = _convolve(lambda case: whole(case, "groups", 1))
_depthwise = _convolve(lambda case: case.tensor("data").shape[1])

_CONVOLUTION = (
    _convolution(
        "conv1d",
        "the convolution along one dimension",
        small=_arguments((1, 8, 128), (8, 8, 3), padding=1),
        common=_arguments((16, 64, 512), (128, 64, 3), padding=1),
        large=_arguments((8, 128, 1024), (256, 128, 5), padding=2),
        # The first layer of a speech model: one channel, ten seconds.
        skewed=_arguments((1, 1, 160_000), (64, 1, 10), stride=5),
        more={"groups": 1},
        outputs=_grouped,
    ),
    _convolution(
        "conv2d",
        "the convolution of images",
        small=_arguments((1, 4, 16, 16), (8, 4, 3, 3), padding=1),
        common=_arguments((20, 16, 28, 28), (32, 16, 3, 3)),
        # A ResNet's second stage; skewed is its first layer: three channels, many pixels.
        large=_arguments((8, 64, 56, 56), (64, 64, 3, 3), padding=1),
        skewed=_arguments((4, 3, 224, 224), (64, 3, 7, 7), stride=2, padding=3),
        more={"groups": 1},
        outputs=_grouped,
    ),
    _convolution(
        "conv3d",
        "the convolution of videos or volumes",
        small=_arguments((1, 2, 8, 8, 8), (4, 2, 3, 3, 3), padding=1),
        common=_arguments((2, 16, 8, 28, 28), (32, 16, 3, 3, 3), padding=1),
        large=_arguments((1, 32, 16, 56, 56), (32, 32, 3, 3, 3), padding=1),
        skewed=_arguments((1, 3, 8, 112, 112), (64, 3, 3, 7, 7), stride=(1, 2, 2), padding=(1, 3, 3)),
        more={"groups": 1},
        outputs=_grouped,
    ),
    _convolution(
        "depthwise_conv2d",
        "the convolution of each channel separately; weight is (channels x multiplier, 1, height, width)",
        small=_arguments((1, 4, 16, 16), (4, 1, 3, 3), padding=1),
        common=_arguments((16, 96, 28, 28), (96, 1, 3, 3), padding=1),
        large=_arguments((8, 96, 112, 112), (96, 1, 3, 3), padding=1),
        skewed=_arguments((16, 960, 7, 7), (960, 1, 5, 5), padding=2),
        outputs=_depthwise,
    ),
    _convolution(
        "conv_transpose2d",
        "the transposed convolution of images; weight is (in channels, out channels / groups, height, width)",
        small=_arguments((1, 4, 16, 16), (4, 8, 2, 2), stride=2),
        common=_arguments((8, 64, 28, 28), (64, 32, 4, 4), stride=2, padding=1),
        large=_arguments((8, 128, 56, 56), (128, 64, 2, 2), stride=2),
        # The first layer of an image generator: many channels, hardly any pixels.
        skewed=_arguments((1, 512, 4, 4), (512, 256, 4, 4), stride=2, padding=1),
        more={"output_padding": (0, 0), "groups": 1},
        outputs=_transpose,
        flops=_transposed_work,
        aliases=("deconvolution",),
    ),
    _convolution(
        "grouped_conv2d",
        "the convolution of images in separate groups of channels",
        small=_arguments((1, 8, 16, 16), (8, 2, 3, 3), padding=1),
        # A ResNeXt's blocks; skewed is one of the last, with many channels and few pixels.
        common=_arguments((8, 128, 28, 28), (128, 32, 3, 3), padding=1),
        large=_arguments((8, 128, 56, 56), (128, 32, 3, 3), padding=1),
        skewed=_arguments((4, 1024, 7, 7), (1024, 256, 3, 3), padding=1),
        more={"groups": 4},
        outputs=_grouped,
    ),
    _convolution(
        "dilated_conv2d",
        "the convolution of images with dilated weights",
        small=_arguments((1, 4, 16, 16), (8, 4, 3, 3), padding=2, dilation=2),
        common=_arguments((4, 64, 28, 28), (64, 64, 3, 3), padding=2, dilation=2),
        # A segmenter's later stages keep their pixels; skewed sees as far as it can.
        large=_arguments((2, 256, 56, 56), (256, 256, 3, 3), padding=4, dilation=4),
        skewed=_arguments((1, 16, 128, 128), (16, 16, 3, 3), padding=32, dilation=32),
        more={"groups": 1},
        outputs=_grouped,
    ),
    _convolution(
        "conv_transpose1d",
        "the transposed convolution along one dimension; weight as in `conv_transpose2d`",
        small=_arguments((1, 4, 64), (4, 8, 2), stride=2),
        common=_arguments((8, 128, 256), (128, 64, 4), stride=2, padding=1),
        large=_arguments((8, 256, 1024), (256, 128, 4), stride=2, padding=1),
        # The last layer of a speech generator: one channel of many samples comes out.
        skewed=_arguments((1, 64, 20_000), (64, 1, 16), stride=8, padding=4),
        more={"output_padding": (0,), "groups": 1},
        outputs=_transpose,
        flops=_transposed_work,
    ),
    _convolution(
        "conv_transpose3d",
        "the transposed convolution of volumes; weight as in `conv_transpose2d`",
        small=_arguments((1, 2, 4, 4, 4), (2, 4, 2, 2, 2), stride=2),
        common=_arguments((1, 32, 8, 14, 14), (32, 16, 4, 4, 4), stride=2, padding=1),
        large=_arguments((1, 64, 16, 28, 28), (64, 32, 2, 2, 2), stride=2),
        skewed=_arguments((1, 256, 2, 2, 2), (256, 128, 4, 4, 4), stride=2, padding=1),
        more={"output_padding": (0, 0, 0), "groups": 1},
        outputs=_transpose,
        flops=_transposed_work,
    ),
)


# Pooling: the maximum or mean of a sliding window; data is (batch, channels, space...).
#
# `kernel`, `stride` and `padding` are one number or one for each space dimension; a stride of None is the kernel.
# Window counts are rounded down. An output element costs one operation for each element of its window.

SHAPES: dict[int, dict[str, _Shape]] = {
    1: {"small": (1, 8, 128), "common": (16, 64, 1024), "large": (16, 256, 4096), "skewed": (1, 1, 1_000_000)},
    2: {"small": (1, 4, 16, 16), "common": (16, 64, 32, 32), "large": (16, 64, 128, 128), "skewed": (64, 2048, 7, 7)},
    3: {
        "small": (1, 2, 8, 8, 8),
        "common": (2, 32, 8, 28, 28),
        "large": (2, 64, 16, 56, 56),
        "skewed": (1, 2048, 2, 7, 7),
    },
}


def _kernel(case: Case) -> _Shape:
    return wholes(case, "kernel", len(case.tensor("data").shape) - 2)


def _pool_outputs(case: Case) -> tuple[TensorSpec, ...]:
    data, kernel = case.tensor("data"), _kernel(case)
    space = windows(case, data.shape[2:], kernel, wholes(case, "stride", len(kernel), kernel))
    return (like(data, (*data.shape[:2], *space)),)


def _global(case: Case) -> tuple[TensorSpec, ...]:
    data = case.tensor("data")
    return (like(data, data.shape[:2] + (1,) * (len(data.shape) - 2)),)


def _pool(name: str, summary: str, dimensions: int, kernel: int, stride: int, padding: int) -> Operator:
    attributes: Mapping[str, _Shape] = {
        "kernel": (kernel,) * dimensions,
        "stride": (stride,) * dimensions,
        "padding": (padding,) * dimensions,
    }
    return Operator(
        name=name,
        category="pooling",
        summary=summary,
        inputs=("data",),
        sizes={size: {"data": TensorSpec(shape), **attributes} for size, shape in SHAPES[dimensions].items()},
        outputs=_pool_outputs,
        flops=lambda case: elements(_pool_outputs(case)) * product(_kernel(case)),
        differentiable=("data",),
    )


def _global_pool(name: str, summary: str, dimensions: int = 2) -> Operator:
    return Operator(
        name=name,
        category="pooling",
        summary=summary,
        inputs=("data",),
        sizes={size: {"data": TensorSpec(shape)} for size, shape in SHAPES[dimensions].items()},
        outputs=_global,
        flops=each(1),
        differentiable=("data",),
    )


def _adapt(case: Case) -> tuple[TensorSpec, ...]:
    data = case.tensor("data")
    return (like(data, (*data.shape[:2], *wholes(case, "output_size", 2))),)


def _powers(case: Case) -> int:
    # A power of each element in each window and its addition, and a root of each sum.
    return elements(_pool_outputs(case)) * (2 * product(_kernel(case)) + 1)


_POOLING = (
    _pool("max_pool1d", "the largest value of each window of a sequence", 1, kernel=3, stride=2, padding=1),
    _pool("avg_pool1d", "the mean of each window of a sequence, padding as zeros", 1, kernel=2, stride=2, padding=0),
    _pool("max_pool2d", "the largest value of each window of an image", 2, kernel=3, stride=2, padding=1),
    _pool("avg_pool2d", "the mean of each window of an image, padding as zeros", 2, kernel=2, stride=2, padding=0),
    _global_pool("global_avg_pool2d", "the mean of each channel of an image, as one pixel"),
    _global_pool("global_max_pool2d", "the largest value of each channel of an image, as one pixel"),
    _pool("max_pool3d", "the largest value of each window of a volume", 3, kernel=3, stride=2, padding=1),
    _pool("avg_pool3d", "the mean of each window of a volume, padding as zeros", 3, kernel=2, stride=2, padding=0),
    _global_pool("global_avg_pool1d", "the mean of each channel of a sequence, as one number", 1),
    _global_pool("global_max_pool1d", "the largest value of each channel of a sequence, as one number", 1),
    _global_pool("global_avg_pool3d", "the mean of each channel of a volume, as one number", 3),
    _global_pool("global_max_pool3d", "the largest value of each channel of a volume, as one number", 3),
    Operator(
        name="adaptive_avg_pool2d",
        category="pooling",
        summary="the means of `output_size` windows that cover the image evenly and may overlap",
        inputs=("data",),
        sizes={
            size: {"data": TensorSpec(shape), "output_size": (edge, edge)}
            for (size, shape), edge in zip(SHAPES[2].items(), (5, 7, 7, 3), strict=True)
        },
        outputs=_adapt,
        # Windows overlap by a row or column at most where the sizes do not divide: each element is added about once.
        flops=each(1),
        differentiable=("data",),
    ),
    Operator(
        name="lp_pool2d",
        category="pooling",
        summary="the `power`-norm of each window of an image",
        inputs=("data",),
        sizes={
            size: {"data": TensorSpec(shape, range=(0.1, 1.0)), "kernel": (2, 2), "stride": (2, 2), "power": 2}
            for size, shape in SHAPES[2].items()
        },
        outputs=_pool_outputs,
        flops=_powers,
        differentiable=("data",),
    ),
)


# Fourier transforms along the last dimension, or the last two.
#
# Operations by the usual count: 5 N log2 N for the transform of N complex numbers, half of that where one side is real.
# Measured forward: to PyTorch the gradient of a complex tensor is the conjugate of what it is to JAX.

#: (signals, length); skewed is one long signal.
SIGNALS = {"small": (8, 128), "common": (256, 1024), "large": (1024, 4096), "skewed": (1, 1_048_576)}
#: (images, height, width); skewed are many small ones.
IMAGES = {"small": (2, 16, 16), "common": (16, 256, 256), "large": (16, 512, 512), "skewed": (4096, 16, 16)}


def _transform(
    name: str, summary: str, *, axes: int = 1, dtype: str = "complex64", output: str = "complex64"
) -> Operator:
    """Declare `name`; of real numbers the half of the spectrum that says everything is `last // 2 + 1` wide."""
    width = _as_wide if dtype == output else _half if dtype == "float32" else _full

    def outputs(case: Case) -> tuple[TensorSpec, ...]:
        *rows, last = case.tensor("data").shape
        return (TensorSpec((*rows, width(last)), output),)

    def flops(case: Case) -> int:
        data, result = case.tensor("data").shape, outputs(case)[0].shape
        # The longer side is the one with every number in it.
        whole = max(data, result)
        count = product(whole[-axes:])
        each = 5 * count * math.log2(max(count, 2))
        return round(product(whole[:-axes]) * (each if dtype == output else each / 2))

    shapes = SIGNALS if axes == 1 else IMAGES
    return Operator(
        name=name,
        category="spectral",
        summary=summary,
        inputs=("data",),
        sizes={size: {"data": TensorSpec(_input_shape(shape, dtype, output), dtype)} for size, shape in shapes.items()},
        outputs=outputs,
        flops=flops,
        directions=FORWARD_ONLY,
    )


def _as_wide(last: int) -> int:
    return last


def _half(last: int) -> int:
    return last // 2 + 1


def _full(last: int) -> int:
    return 2 * (last - 1)


def _input_shape(shape: _Shape, dtype: str, output: str) -> _Shape:
    """Return the shape of the input: half a spectrum where real numbers are made of it."""
    return (*shape[:-1], _half(shape[-1])) if dtype != output == "float32" else shape


_SPECTRAL = (
    _transform("fft", "the Fourier transform of complex numbers along the last dimension"),
    _transform("ifft", "the inverse Fourier transform of complex numbers along the last dimension"),
    _transform("rfft", "the Fourier transform of real numbers, as half a spectrum", dtype="float32"),
    _transform("irfft", "the inverse of `rfft`: an even count of real numbers from half a spectrum", output="float32"),
    _transform("fft2", "the Fourier transform of complex images along the last two dimensions", axes=2),
    _transform("rfft2", "the Fourier transform of real images, as half a spectrum", axes=2, dtype="float32"),
)


OPERATORS = (*_CONVOLUTION, *_POOLING, *_SPECTRAL)
