"""Indexing and embeddings in PyTorch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

import torch

from opperf.child.backends.binding import Binding, Call, call, composition, compositions, parameters


def take(data: Any, indices: Any, axis: int | None) -> Any:
    """Return slices at indices of any shape; `torch.take` itself knows flattened tensors only."""
    if axis is None:
        return torch.take(data, indices)
    axis %= data.ndim
    rows = torch.index_select(data, axis, indices.reshape(-1))
    return rows.reshape(data.shape[:axis] + indices.shape + data.shape[axis + 1 :])


def slices(arguments: Mapping[str, Any]) -> tuple[slice, ...]:
    """Return what stands in the brackets of `data[begin:end:step, ...]`; what is not given is no bound."""
    settings = (arguments.get(name) for name in ("begin", "end", "step"))
    bounds = (value if isinstance(value, tuple) else (value,) for value in settings)
    return tuple(slice(*each) for each in zip_longest(*bounds))


def ravel_multi_index(indices: Any, steps: Any) -> Any:
    """Return the sums of coordinates times steps."""
    return (indices * steps).sum(0)


def steps(arguments: Mapping[str, Any]) -> Any:
    """Return how far apart neighbours along each dimension are in a flattened tensor."""
    shape = arguments["shape"]
    far = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    return torch.tensor(far, device=arguments["indices"].device)[:, None]


BINDINGS: dict[str, Binding] = {
    # PyTorch's picking and placing of elements.
    "index_select": call("torch.index_select", "input=data, dim=axis, index=indices"),
    "gather": call("torch.gather", "input=data, dim=axis, index=indices"),
    "ravel_multi_index": composition(
        ravel_multi_index,
        "indices, steps",
        derive={"steps": steps},
        note="a product with the precomputed steps of each dimension, and torch.sum",
    ),
    **compositions(
        take=(take, "torch.index_select and reshape, or torch.take without an axis"),
        pick=(
            lambda data, indices, axis: data.gather(axis, indices.unsqueeze(axis)).squeeze(axis),
            "torch.gather between views",
        ),
        unravel_index=(
            lambda indices, shape: torch.stack(torch.unravel_index(indices, shape)),
            "torch.unravel_index and torch.stack",
        ),
    ),
    # `data[rows, columns]`: the coordinates are taken apart before anything is timed.
    "gather_nd": Call(
        "torch.Tensor.__getitem__",
        parameters("data, indices"),
        function=torch.Tensor.__getitem__,
        adapt={"indices": lambda indices: indices.unbind(0)},
    ),
    "scatter_add": call("torch.scatter_add", "input=data, dim=axis, index=indices, src=updates"),
    "where": call("torch.where", "condition=condition, input=lhs, other=rhs"),
    "masked_fill": call("torch.masked_fill", "input=data, mask=mask, value=value"),
    "slice": Call(
        "torch.Tensor.__getitem__",
        parameters("data, slices"),
        function=torch.Tensor.__getitem__,
        derive={"slices": slices},
    ),
    # PyTorch's lookup of rows, and one-hot rows.
    "embedding": call("torch.nn.functional.embedding", "input=indices, weight=weight"),
    **{
        f"embedding_bag_{mode}": call(
            "torch.nn.functional.embedding_bag", "input=indices, weight=weight", f"mode='{mode}'"
        )
        for mode in ("sum", "mean")
    },
    **compositions(
        one_hot=(
            lambda indices, depth, dtype: torch.nn.functional.one_hot(indices, depth).to(dtype),
            "torch.nn.functional.one_hot, then cast to the dtype",
        )
    ),
}
