"""Reductions, sorting, and scores of predictions in JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from opperf.child.backends.arrays.compositions import scores
from opperf.child.backends.binding import Binding, call, composition, compositions, functions


def top_k(data: Any, k: int, axis: int | None, largest: bool | None) -> tuple[Any, Any]:
    """Return the largest or smallest values along an axis, and their indices; lax has the largest of the last axis."""
    place = -1 if axis is None else axis
    rows = jnp.moveaxis(data, place, -1)
    values, indices = lax.top_k(-rows if largest is False else rows, k)
    values = -values if largest is False else values
    return jnp.moveaxis(values, -1, place), jnp.moveaxis(indices, -1, place)


def top_k_accuracy(data: Any, labels: Any, k: int) -> Any:
    best = lax.top_k(data, k)[1]
    return jnp.mean(jnp.any(best == labels[:, None], 1))


BINDINGS: dict[str, Binding] = {
    # Reductions, running sums and sorting in JAX.
    **functions(
        "jax.numpy",
        {
            ("data", "axis=axis, keepdims=keepdims"): (
                "sum mean max min prod std variance=var argmax argmin all any nansum nanprod"
            ),
            ("data", "axis=axis"): "cumsum cumprod",
            ("data", "axis=axis, descending=descending"): "sort argsort",
        },
    ),
    "norm": call(
        "jax.numpy.linalg.vector_norm",  # `norm` takes at most two axes
        "data",
        "axis=axis, keepdims=keepdims",
        also=("jax.numpy.linalg.norm",),
    ),
    "logsumexp": call("jax.scipy.special.logsumexp", "data", "axis=axis, keepdims=keepdims"),
    "topk": composition(top_k, note="jax.lax.top_k, whose indices are int32"),
    **compositions(
        top_k_accuracy=(top_k_accuracy, "jax.lax.top_k, a comparison, jax.numpy.any and jax.numpy.mean, composed")
    ),
    **scores(jnp, "jax.numpy"),
}
