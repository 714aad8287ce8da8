"""Gated activations in PyTorch: one function for glu, a product of two halves for the others."""

from __future__ import annotations

from typing import Any

from torch.nn import functional as F

from opperf.child.backends.call import Binding, call, composed


def reglu(data: Any) -> Any:
    """Return the first half times the relu of the second."""
    first, second = data.chunk(2, dim=-1)
    return first * F.relu(second)


def swiglu(data: Any) -> Any:
    """Return the first half times the silu of the second."""
    first, second = data.chunk(2, dim=-1)
    return first * F.silu(second)


def geglu(data: Any, approximate: str | None) -> Any:
    """Return the first half times the gelu of the second."""
    first, second = data.chunk(2, dim=-1)
    return first * F.gelu(second, approximate=approximate or "none")


BINDINGS: dict[str, Binding] = {
    "glu": call("torch.nn.functional.glu", "input=data", "dim=-1"),
    "reglu": composed(reglu, "data", note="torch.chunk, torch.nn.functional.relu and a product"),
    "swiglu": composed(swiglu, "data", note="torch.chunk, torch.nn.functional.silu and a product"),
    "geglu": composed(geglu, "data, approximate", note="torch.chunk, torch.nn.functional.gelu and a product"),
}
