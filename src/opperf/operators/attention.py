"""Attention as one operator: softmax(query key^T / sqrt(head width)) value.

Operations for each pair of a query and a key: a multiply-add for each element of the head to score, another to weigh
the value, one to scale and five for the softmax. With `causal`, query i sees the keys up to i, and only those count.
"""

from __future__ import annotations

from opperf.case import Case
from opperf.operators.definition import Operator
from opperf.operators.formulas import flag, like, product
from opperf.tensor import TensorSpec

#: (batch, heads, queries, keys, head width), causal: an encoder's, a long decoder's, one new query against a cache.
SIZES = {
    "small": ((1, 2, 16, 16, 32), False),
    "common": ((8, 12, 256, 256, 64), False),
    "large": ((2, 16, 1024, 1024, 64), True),
    "skewed": ((1, 32, 1, 2048, 128), False),
}


def _outputs(case: Case) -> tuple[TensorSpec, ...]:
    query, value = case.tensor("query"), case.tensor("value")
    return (like(query, (*query.shape[:-1], value.shape[-1])),)


def _flops(case: Case) -> int:
    query, key, value = (case.tensor(role).shape for role in ("query", "key", "value"))
    queries, keys = query[-2], key[-2]
    pairs = sum(min(i + 1, keys) for i in range(queries)) if flag(case, "causal") else queries * keys
    return product(query[:-2]) * pairs * (2 * query[-1] + 2 * value[-1] + 6)


def _arguments(shape: tuple[int, int, int, int, int], causal: bool) -> dict[str, TensorSpec | bool]:
    batch, heads, queries, keys, width = shape
    return {
        "query": TensorSpec((batch, heads, queries, width)),
        "key": TensorSpec((batch, heads, keys, width)),
        "value": TensorSpec((batch, heads, keys, width)),
        "causal": causal,
    }


OPERATORS = (
    Operator(
        name="scaled_dot_product_attention",
        category="attention",
        summary="values weighed by the softmax of scaled query-key products; (batch, heads, length, head width)",
        inputs=("query", "key", "value"),
        sizes={size: _arguments(*arguments) for size, arguments in SIZES.items()},
        outputs=_outputs,
        flops=_flops,
        differentiable=("query", "key", "value"),
        # Each of the two products has two of its size in the backward pass.
        backward_flops=2,
        aliases=("sdpa", "dot_product_attention"),
    ),
)
