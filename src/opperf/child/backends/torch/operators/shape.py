"""Operators that move, join, split and convert data in PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from opperf.child.backends.binding import Binding, Call, call, compositions, functions, parameters


def as_tuple(value: Any) -> tuple[Any, ...]:
    """Return one number as a tuple of one, which some functions insist on."""
    return (value,) if isinstance(value, int) else tuple(value)


def all_dimensions(arguments: Mapping[str, Any]) -> range:
    """Return all dimensions of the data."""
    return range(arguments["data"].dim())


def axes(arguments: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the new order of dimensions; none given reverses them."""
    order = arguments.get("axes")
    return tuple(reversed(all_dimensions(arguments))) if order is None else order


def axis(arguments: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the dimensions that are meant; none given means all."""
    value = arguments.get("axis")
    return tuple(all_dimensions(arguments)) if value is None else as_tuple(value)


def last_first(widths: Any) -> tuple[int, ...]:
    """Return (before, after) of each dimension as PyTorch lists them: flat, the last dimension first.

    >>> last_first(((0, 0), (1, 2)))
    (1, 2, 0, 0)
    """
    return tuple(width for pair in reversed(widths) for width in pair)


BINDINGS: dict[str, Binding] = {
    # PyTorch's ways to lay out the elements of a tensor anew; several are views, which move nothing.
    **functions(
        "torch",
        {
            ("input=data, dim0=axis1, dim1=axis2", ""): "swap_axes=transpose",
            ("input=data", "start_dim=1"): "flatten",
            ("input=data, dim=axis", ""): "expand_dims=unsqueeze",
            ("input=data, shifts=shift, dims=axis", ""): "roll",
            ("input=data, repeats=repeats, dim=axis", ""): "repeat=repeat_interleave",
            ("input=data", ""): "copy=clone",
            # Joining and parting; the parts are views.
            ("tensors=data", "dim=axis"): "concatenate=cat stack",
            ("input=data, chunks=sections", "dim=axis"): "split=chunk",
        },
    ),
    **functions(
        "torch.Tensor",
        {
            ("self=data, other=like", ""): "reshape_like=reshape_as",
            ("self=data, dtype=dtype", ""): "cast=to",
            ("self=data", ""): "item contiguous",
            ("self=data, device=device", ""): "to_device=to",
        },
    ),
    "transpose": call("torch.permute", "input=data, dims=axes", derive={"axes": axes}),
    "reshape": call("torch.reshape", "input=data, shape=shape", adapt={"shape": as_tuple}),
    "squeeze": call("torch.squeeze", "input=data, dim=axis", derive={"axis": axis}),
    "flip": call("torch.flip", "input=data, dims=axis", derive={"axis": axis}),
    "tile": call("torch.tile", "input=data, dims=repeats", adapt={"repeats": as_tuple}),
    "pad": call("torch.nn.functional.pad", "input=data, pad=widths", "value=value", adapt={"widths": last_first}),
    # PyTorch's brackets, layouts and way to NumPy.
    "get_item": Call(
        "torch.Tensor.__getitem__", parameters("data, index"), function=torch.Tensor.__getitem__, note="`data[index]`"
    ),
    **compositions(
        shape_array=(lambda data: torch.tensor(data.shape), "torch.tensor of the shape"),
        size_array=(lambda data: torch.tensor([data.numel()]), "torch.tensor of torch.Tensor.numel"),
        to_numpy=(lambda data: data.cpu().numpy(), "torch.Tensor.cpu and torch.Tensor.numpy"),
    ),
}
