"""PyTorch's reductions. `prod`, `argmax`, `argmin` and the running ones take one axis, the others several."""

from __future__ import annotations

from typing import Any

import torch

from opperf.child.backends.call import Binding, call, composed
from opperf.child.backends.torch.operators.shape import axis


def nanprod(data: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Count what is not a number as one."""
    known = torch.where(torch.isnan(data), 1, data)
    return known.prod() if axis is None else known.prod(axis, keepdims)


FOLD = "dim=axis, keepdim=keepdims"

BINDINGS: dict[str, Binding] = {
    "sum": call("torch.sum", "input=data", FOLD),
    "mean": call("torch.mean", "input=data", FOLD),
    # `torch.max` along an axis returns indices as well; `torch.amax` is the maximum alone.
    "max": call("torch.amax", "input=data", FOLD),
    "min": call("torch.amin", "input=data", FOLD),
    "prod": call("torch.prod", "input=data", FOLD),
    "nansum": call("torch.nansum", "input=data", FOLD),
    "nanprod": composed(
        nanprod, "data", "axis=axis, keepdims=keepdims", note="torch.isnan, torch.where and torch.prod, composed"
    ),
    "norm": call("torch.linalg.vector_norm", "x=data", FOLD),
    "variance": call("torch.var", "input=data", f"{FOLD}, correction=0"),
    "std": call("torch.std", "input=data", f"{FOLD}, correction=0"),
    "logsumexp": call("torch.logsumexp", "input=data", FOLD, derive={"axis": axis}),
    "argmax": call("torch.argmax", "input=data", FOLD),
    "argmin": call("torch.argmin", "input=data", FOLD),
    "all": call("torch.all", "input=data", FOLD),
    "any": call("torch.any", "input=data", FOLD),
    "cumsum": call("torch.cumsum", "input=data", "dim=axis"),
    "cumprod": call("torch.cumprod", "input=data", "dim=axis"),
}
