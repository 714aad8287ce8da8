"""Indexing and embeddings in PyTorch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch

from opperf.child.backends.arrays.compositions import each_dimension, slices, unravelled
from opperf.child.backends.binding import Binding, Call, composition, compositions, functions, parameters


def take(data: Any, indices: Any, axis: int | None) -> Any:
    """Return slices at indices of any shape; `torch.take` itself knows flattened tensors only."""
    if axis is None:
        return torch.take(data, indices)
    axis %= data.ndim
    rows = torch.index_select(data, axis, indices.reshape(-1))
    return rows.reshape(data.shape[:axis] + indices.shape + data.shape[axis + 1 :])


def brackets(arguments: Mapping[str, Any]) -> tuple[slice, ...]:
    """Return the slices in the brackets; without a value there is no bound."""
    return slices(*(each_dimension(arguments.get(name)) for name in ("begin", "end", "step")))


def ravel_multi_index(indices: Any, steps: Any) -> Any:
    return (indices * steps).sum(0)


def steps(arguments: Mapping[str, Any]) -> Any:
    """Return how far apart neighbours along each dimension are in a flattened tensor."""
    shape = arguments["shape"]
    far = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    return torch.tensor(far, device=arguments["indices"].device)[:, None]


BINDINGS: dict[str, Binding] = {
    # PyTorch's picking and placing of elements.
    **functions(
        "torch",
        {
            ("input=data, dim=axis, index=indices", ""): "index_select gather",
            ("input=data, dim=axis, index=indices, src=updates", ""): "scatter_add",
            ("condition=condition, input=lhs, other=rhs", ""): "where",
            ("input=data, mask=mask, value=value", ""): "masked_fill",
            ("input=indices, weight=weight", ""): "embedding=nn.functional.embedding",
            ("input=indices, weight=weight", "mode='sum'"): "embedding_bag_sum=nn.functional.embedding_bag",
            ("input=indices, weight=weight", "mode='mean'"): "embedding_bag_mean=nn.functional.embedding_bag",
        },
    ),
    "ravel_multi_index": composition(
        ravel_multi_index,
        derive={"steps": steps},
        note="a product with the precomputed steps of each dimension, and torch.sum",
    ),
    **compositions(
        take=(take, "torch.index_select and reshape, or torch.take without an axis"),
        pick=(
            lambda data, indices, axis: data.gather(axis, indices.unsqueeze(axis)).squeeze(axis),
            "torch.gather between views",
        ),
        unravel_index=unravelled(torch, "torch"),
    ),
    # `data[rows, columns]`: the coordinates are taken apart before anything is timed.
    "gather_nd": Call(
        "torch.Tensor.__getitem__",
        parameters("data, indices"),
        function=torch.Tensor.__getitem__,
        adapt={"indices": lambda indices: indices.unbind(0)},
    ),
    "slice": Call(
        "torch.Tensor.__getitem__",
        parameters("data, slices"),
        function=torch.Tensor.__getitem__,
        derive={"slices": brackets},
    ),
    **compositions(
        one_hot=(
            lambda indices, depth, dtype: torch.nn.functional.one_hot(indices, depth).to(dtype),
            "torch.nn.functional.one_hot, then cast to the dtype",
        )
    ),
}
