"""Quantized tensors and packed weights: what they are made of, and how they are made again.

A case holds neither, since both are objects of PyTorch's. It holds what they are made of, behind a word that says by
which operator: `("packed_linear", weight, bias)`, whose weight is `("quantized", whole numbers, scale, zero point)`. So
a suite says of a packed weight which shape it has unpacked.

Whole numbers are any of their type, and scales are always the same: neither changes the work, and layers of one shape
are one case.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from opperf.domain.case import Argument
from opperf.domain.tensor import TensorSpec

QUANTIZED, BY_CHANNEL, LINEAR, HALF = "quantized", "quantized_by_channel", "packed_linear", "packed_linear_half"
#: The numbers of dimensions of the images whose convolutions pack their weights; one of 1 packs them as one of 2.
IMAGES = (2, 3)
#: The operators that make such objects, by the words for them: a file names these and no others.
MAKERS: Mapping[str, str] = {
    QUANTIZED: "aten::_make_per_tensor_quantized_tensor",
    BY_CHANNEL: "aten::_make_per_channel_quantized_tensor",
    LINEAR: "quantized::linear_prepack",
    HALF: "quantized::linear_prepack_fp16",
    **{
        f"packed_conv{way}{dims}d": f"quantized::conv{way}{dims}d_prepack"
        for way in ("", "_transpose")
        for dims in IMAGES
    },
}
#: Scales as a case has them: with it the whole numbers of a byte are the fractions from -1 to 1.
SCALE = 2.0**-7
#: The names of the types of quantized elements as a case has them, and the types that hold their whole numbers.
STORAGE = {torch.qint8: "int8", torch.quint8: "uint8", torch.qint32: "int32"}
TYPES = {str(dtype): dtype for dtype in STORAGE}


class NotQuantized(Exception):
    """An object that is not made of tensors, as far as opperf knows; the message says what it is."""


def is_quantized(value: Any) -> bool:
    """Whether a value is a quantized tensor, the type of one, or an object of PyTorch's such as packed weights."""
    is_tensor = isinstance(value, torch.Tensor) and value.is_quantized
    return is_tensor or isinstance(value, torch.ScriptObject) or (isinstance(value, torch.dtype) and value in STORAGE)


def is_made(argument: Argument) -> bool:
    """Whether an argument of a case says how an object is made."""
    return isinstance(argument, tuple) and bool(argument) and argument[0] in (*MAKERS, *TYPES)


def describe(value: Any) -> Argument:
    """Return the argument that a quantized tensor, its type or packed weights are; raises `NotQuantized`."""
    if isinstance(value, torch.dtype):
        return (str(value),)
    if isinstance(value, torch.Tensor):
        return _tensor(value)
    kind = str(value._type()).rstrip(">").rpartition("torch.classes.")[2]
    if kind == "quantized.LinearPackedParamsBase":
        weight, bias = value.unpack()
        return (LINEAR if weight.is_quantized else HALF, _tensor(weight), _bias(bias))
    for dims in IMAGES:
        if kind == f"quantized.Conv{dims}dPackedParamsBase":
            return _convolution(value, dims)
    raise NotQuantized(f"a value of type `{kind}`")


def compose(items: tuple[Any, ...]) -> Any:
    """Return the object that values in a tuple make behind a word for it; any other tuple as it is."""
    word = items[0] if items and isinstance(items[0], str) else ""
    if word in TYPES and len(items) == 1:
        return TYPES[word]
    if word not in MAKERS:
        return items
    namespace, _, name = MAKERS[word].partition("::")
    result = getattr(getattr(torch.ops, namespace), name)(*items[1:])
    if word != QUANTIZED or items[1].is_contiguous():
        return result
    # It is made in the order of its dimensions; only images in the order of channels have another.
    return result.contiguous(memory_format=torch.channels_last_3d if items[1].dim() == 5 else torch.channels_last)


def _convolution(weights: Any, dims: int) -> Argument:
    """Return how weights of a convolution are packed."""
    weight, bias = weights.unpack()
    transposed = bool(weights.transpose())
    names = ("stride", "padding", *(["output_padding"] if transposed else []), "dilation")
    numbers = (tuple(getattr(weights, name)()) for name in names)
    word = f"packed_conv{'_transpose' if transposed else ''}{dims}d"
    return (word, _tensor(weight), _bias(bias), *numbers, int(weights.groups()))


def _bias(bias: Any) -> Argument:
    return None if bias is None else TensorSpec(tuple(bias.shape), str(bias.dtype).removeprefix("torch."))


def _tensor(tensor: torch.Tensor) -> Argument:
    if not tensor.is_quantized:
        return TensorSpec(tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."))
    if tensor.dtype not in STORAGE:
        raise NotQuantized(f"a tensor of {tensor.dtype}")
    strides = None if tensor.is_contiguous() or not tensor.numel() else tuple(tensor.stride())
    if strides is not None and not _is_image(tensor):
        raise NotQuantized("a quantized tensor with gaps, or of another order than that of channels")
    stored = TensorSpec(tuple(tensor.shape), STORAGE[tensor.dtype], strides)
    if tensor.qscheme() == torch.per_tensor_affine:
        return (QUANTIZED, stored, SCALE, tensor.q_zero_point())
    if tensor.qscheme() != torch.per_channel_affine:
        raise NotQuantized(f"a tensor that is {tensor.qscheme()}")
    scales, points = tensor.q_per_channel_scales(), tensor.q_per_channel_zero_points()
    least, above = float(points.min()), float(points.max()) + 1
    return (
        BY_CHANNEL,
        stored,
        TensorSpec(tuple(scales.shape), "float64", range=(SCALE / 2, SCALE)),
        TensorSpec(tuple(points.shape), "int64", range=(least, above)),
        tensor.q_per_channel_axis(),
    )


def _is_image(tensor: torch.Tensor) -> bool:
    """Whether a tensor is one of images in the order of channels."""
    orders = {4: torch.channels_last, 5: torch.channels_last_3d}
    return tensor.dim() in orders and tensor.is_contiguous(memory_format=orders[tensor.dim()])
