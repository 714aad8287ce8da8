"""Weights in PyTorch: a new tensor, filled in place by a function of `torch.nn.init`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from opperf.child.backends.call import Binding, Call, composed


def _filled(name: str, own: str, more: str = "", **settings: Any) -> Call:
    fill: Callable[..., Any] = getattr(torch.nn.init, own)

    def initializer(shape: Any, *, std: float | None = None, **keywords: Any) -> Any:
        given = settings if std is None else {"std": std, "a": -2 * std, "b": 2 * std}
        return fill(torch.empty(shape, **keywords), **given)

    initializer.__name__ = name
    return composed(initializer, "shape", f"dtype=dtype{more}", note=f"torch.empty and torch.nn.init.{own}")


BINDINGS: dict[str, Binding] = {
    "xavier_uniform": _filled("xavier_uniform", "xavier_uniform_"),
    "xavier_normal": _filled("xavier_normal", "xavier_normal_"),
    "kaiming_uniform": _filled("kaiming_uniform", "kaiming_uniform_", nonlinearity="relu"),
    "kaiming_normal": _filled("kaiming_normal", "kaiming_normal_", nonlinearity="relu"),
    "truncated_normal": _filled("truncated_normal", "trunc_normal_", ", std=std"),
    "orthogonal": _filled("orthogonal", "orthogonal_"),
}
