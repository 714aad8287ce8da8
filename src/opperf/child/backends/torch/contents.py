"""What PyTorch's tensors hold: told from what they held before, and put back, with shape, strides and storage.

An operator that works in place may change those too: `t_`, `resize_`, `set_`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from zlib import crc32

import torch

from opperf.child.backends.torch.specs import tensors


def written(function: Callable[..., Any]) -> list[str]:
    """Return the arguments that the schema of a registered operator marks as written, by any of its overloads."""
    if isinstance(function, torch._ops.OpOverload):
        own = function._schema.arguments
        return [one.name for one in own if one.alias_info is not None and one.alias_info.is_write]
    if isinstance(function, torch._ops.OpOverloadPacket):
        return [name for overload in function.overloads() for name in written(getattr(function, overload))]
    return []


def digest(tensor: Any) -> object:
    """Return the marks of a tensor: how it lies in memory, and a checksum of its elements."""
    tensor = tensor.detach()
    if tensor.layout != torch.strided:
        return str(tensor.layout), tuple(tensor.shape), tuple(digest(part) for part in _parts(tensor))
    lies = (str(tensor.dtype), tuple(tensor.shape), tensor.stride(), tensor.is_conj(), tensor.is_neg())
    if tensor._is_zerotensor():
        return lies
    on_host = _once(tensor).cpu()
    # The order in memory, in which what is only transposed needs no copy.
    order = sorted(range(on_host.dim()), key=on_host.stride, reverse=True)
    plain = on_host.permute(order).resolve_conj().resolve_neg().contiguous()
    size = plain.numel() * plain.element_size()
    return lies, crc32((ctypes.c_char * size).from_address(plain.data_ptr())) if size else 0


def refill(tensor: Any, pool: Any, start: int) -> None:
    """Write the elements of a flat tensor from `start` on into another one; of those that share a place the first."""
    source = pool[start : start + tensor.numel()].reshape(tensor.shape)
    once = tuple(slice(1) if stride == 0 else slice(None) for stride in tensor.stride())
    with torch.no_grad():
        tensor.detach()[once].copy_(source[once])


def snapshot(values: Sequence[Any]) -> Callable[[], None]:
    """Remember tensors and return what puts them back."""
    with torch.no_grad():
        parts = [_remember(tensor) for tensor in values]

    def restore() -> None:
        with torch.no_grad():
            for part in parts:
                part()

    return restore


def _remember(tensor: Any) -> Callable[[], None]:
    if tensor.layout != torch.strided:
        return partial(_replace, tensor, tensor.detach().clone())
    before = tensor.detach()  # the same memory, whatever becomes of the tensor
    once = _once(before)
    return partial(_write, tensor, before, once, once.clone())


def _replace(tensor: Any, copy: Any) -> None:
    tensor.data = copy.clone()


def _write(tensor: Any, before: Any, once: Any, copy: Any) -> None:
    if _place(tensor) != _place(before):
        tensor.data = before
    once.copy_(copy)


def _place(tensor: Any) -> tuple[object, ...]:
    return tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype, tensor.layout


def _once(tensor: Any) -> Any:
    """Return a tensor without the repetitions of elements that share a place."""
    return tensor[tuple(slice(1) if stride == 0 else slice(None) for stride in tensor.stride())]


def _parts(tensor: Any) -> list[Any]:
    """Return the tensors that a sparse one is made of."""
    if tensor.layout == torch.sparse_coo:
        return [tensor._indices(), tensor._values()]
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
    if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        return [tensor.ccol_indices(), tensor.row_indices(), tensor.values()]
    return tensors(tensor.to_dense())
