"""Convolutions, pooling and Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable

from opperf.catalog import pooling, spectral
from opperf.catalog.definition import Arguments, Formula, Operator, Outputs, elements
from opperf.catalog.formulas import like, product, whole, wholes, windows
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
    of_sizes = {"small": small, "common": common, "large": large, "skewed": skewed}
    sizes = {size: {**arguments, **(more or {})} for size, arguments in of_sizes.items()}
    formula, inputs = flops or _work(outputs), ("data", "weight")
    return Operator(
        name,
        "convolution",
        summary,
        sizes=sizes,
        outputs=outputs,
        flops=formula,
        differentiable=inputs,
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


OPERATORS = (*_CONVOLUTION, *pooling.OPERATORS, *spectral.OPERATORS)
