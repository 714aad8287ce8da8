"""A softmax that works in the memory of its input, and does not declare it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def f(x: torch.Tensor) -> torch.Tensor:
    """Shift, exponentiate and divide in place."""
    x -= x.amax(dim=-1, keepdim=True)
    x.exp_()
    return x.div_(x.sum(dim=-1, keepdim=True))
