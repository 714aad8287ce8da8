"""Operators that move, join, split and convert data in PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from opperf.child.backends.binding import Binding, Call, call, compositions, parameters


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
    "transpose": call("torch.permute", "input=data, dims=axes", derive={"axes": axes}),
    "swap_axes": call("torch.transpose", "input=data, dim0=axis1, dim1=axis2"),
    "reshape": call("torch.reshape", "input=data, shape=shape", adapt={"shape": as_tuple}),
    "reshape_like": call("torch.Tensor.reshape_as", "self=data, other=like"),
    "flatten": call("torch.flatten", "input=data", "start_dim=1"),
    "expand_dims": call("torch.unsqueeze", "input=data, dim=axis"),
    "squeeze": call("torch.squeeze", "input=data, dim=axis", derive={"axis": axis}),
    "flip": call("torch.flip", "input=data, dims=axis", derive={"axis": axis}),
    "roll": call("torch.roll", "input=data, shifts=shift, dims=axis"),
    "tile": call("torch.tile", "input=data, dims=repeats", adapt={"repeats": as_tuple}),
    "repeat": call("torch.repeat_interleave", "input=data, repeats=repeats, dim=axis"),
    "pad": call("torch.nn.functional.pad", "input=data, pad=widths", "value=value", adapt={"widths": last_first}),
    "copy": call("torch.clone", "input=data"),
    "cast": call("torch.Tensor.to", "self=data, dtype=dtype"),
    # PyTorch's joining and parting of tensors; the parts are views.
    "concatenate": call("torch.cat", "tensors=data", "dim=axis"),
    "stack": call("torch.stack", "tensors=data", "dim=axis"),
    "split": call("torch.chunk", "input=data, chunks=sections", "dim=axis"),
    # PyTorch's brackets, layouts and way to NumPy.
    "get_item": Call(
        "torch.Tensor.__getitem__", parameters("data, index"), function=torch.Tensor.__getitem__, note="`data[index]`"
    ),
    "item": call("torch.Tensor.item", "self=data"),
    "to_device": call("torch.Tensor.to", "self=data, device=device"),
    "contiguous": call("torch.Tensor.contiguous", "self=data"),
    **compositions(
        shape_array=(lambda data: torch.tensor(data.shape), "torch.tensor of the shape"),
        size_array=(lambda data: torch.tensor([data.numel()]), "torch.tensor of torch.Tensor.numel"),
        to_numpy=(lambda data: data.cpu().numpy(), "torch.Tensor.cpu and torch.Tensor.numpy"),
    ),
}
