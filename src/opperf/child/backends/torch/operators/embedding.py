"""PyTorch's lookup of rows, and one-hot rows."""

from __future__ import annotations

from typing import Any

import torch

from opperf.child.backends.call import Binding, call, composed


def one_hot(indices: Any, depth: int, dtype: Any) -> Any:
    """Return one-hot rows of a dtype; PyTorch makes them of whole numbers only."""
    return torch.nn.functional.one_hot(indices, depth).to(dtype)


BINDINGS: dict[str, Binding] = {
    "embedding": call("torch.nn.functional.embedding", "input=indices, weight=weight"),
    "one_hot": composed(one_hot, "indices, depth, dtype", note="torch.nn.functional.one_hot, then cast to the dtype"),
    **{
        f"embedding_bag_{mode}": call(
            "torch.nn.functional.embedding_bag", "input=indices, weight=weight", f"mode='{mode}'"
        )
        for mode in ("sum", "mean")
    },
}
