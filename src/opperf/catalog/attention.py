"""Attention as one operator: softmax(query key^T / sqrt(head width)) value.

Operations for each pair of a query and a key: a multiply-add for each element of the head to score, another to weigh
the value, one to scale and five for the softmax. With `causal`, query i sees the keys up to i, and only those count.
The projections around it count as products do. Rotary positions take two multiplications and a sum for each element.
"""

from __future__ import annotations

from opperf.catalog.definition import Arguments, Operator
from opperf.catalog.formulas import each, flag, like, product, same, whole
from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

#: (batch, heads, queries, keys, head width), causal: an encoder's, a long decoder's, one new query against a cache.
SIZES = {
    "small": ((1, 2, 16, 16, 32), False),
    "common": ((8, 12, 256, 256, 64), False),
    "large": ((2, 16, 1024, 1024, 64), True),
    "skewed": ((1, 32, 1, 2048, 128), False),
}


#: The same for a decoder that reads its own text: (batch, heads, length, head width).
DECODERS = {"small": (1, 2, 16, 32), "common": (4, 12, 256, 64), "large": (2, 16, 1024, 64), "skewed": (1, 2, 2048, 64)}
#: (batch, query heads, key heads, queries, keys, head width), causal: as of SIZES, four queries' heads to each key's.
GROUPED = {
    "small": ((1, 4, 2, 16, 16, 32), False),
    "common": ((4, 16, 4, 256, 256, 64), True),
    "large": ((2, 32, 8, 1024, 1024, 64), True),
    "skewed": ((1, 32, 8, 1, 2048, 128), False),
}
#: (batch, length, width, heads)
LAYERS = {"small": (2, 8, 32, 4), "common": (4, 128, 512, 8), "large": (8, 512, 768, 12), "skewed": (1, 2048, 128, 2)}


def _outputs(case: Case) -> tuple[TensorSpec, ...]:
    query, value = case.tensor("query"), case.tensor("value")
    return (like(query, (*query.shape[:-1], value.shape[-1])),)


def _flops(case: Case) -> int:
    return _pair_flops(case, causal=flag(case, "causal"))


def _causal_flops(case: Case) -> int:
    return _pair_flops(case, causal=True)


def _pair_flops(case: Case, *, causal: bool) -> int:
    query, key, value = (case.tensor(role).shape for role in ("query", "key", "value"))
    queries, keys = query[-2], key[-2]
    pairs = sum(min(i + 1, keys) for i in range(queries)) if causal else queries * keys
    return product(query[:-2]) * pairs * (2 * query[-1] + 2 * value[-1] + 6)


def _layer_flops(case: Case) -> int:
    batch, length, width = case.tensor("data").shape
    heads = whole(case, "heads")
    if width % heads:
        raise InputError(f"`{case.operator}` cannot share {width} elements out to {heads} heads")
    pairs = batch * length * length
    return 8 * batch * length * width * width + pairs * (4 * width + 6 * heads)


def _arguments(shape: tuple[int, int, int, int, int], causal: bool) -> dict[str, TensorSpec | bool]:
    batch, heads, queries, keys, width = shape
    return {
        "query": TensorSpec((batch, heads, queries, width)),
        "key": TensorSpec((batch, heads, keys, width)),
        "value": TensorSpec((batch, heads, keys, width)),
        "causal": causal,
    }


def _decoder(shape: tuple[int, int, int, int]) -> Arguments:
    return {role: TensorSpec(shape) for role in ("query", "key", "value")}


def _grouped(shape: tuple[int, int, int, int, int, int], causal: bool) -> Arguments:
    batch, heads, shared, queries, keys, width = shape
    return {
        "query": TensorSpec((batch, heads, queries, width)),
        "key": TensorSpec((batch, shared, keys, width)),
        "value": TensorSpec((batch, shared, keys, width)),
        "causal": causal,
    }


def _layer(shape: tuple[int, int, int, int]) -> Arguments:
    batch, length, width, heads = shape
    return {
        "data": TensorSpec((batch, length, width)),
        "weight": TensorSpec((3 * width, width)),
        "bias": TensorSpec((3 * width,)),
        "output_weight": TensorSpec((width, width)),
        "output_bias": TensorSpec((width,)),
        "heads": heads,
    }


def _rotated(shape: tuple[int, int, int, int]) -> Arguments:
    angles = TensorSpec(shape[2:])
    return {"data": TensorSpec(shape), "cosine": angles, "sine": angles}


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
    Operator(
        name="causal_attention",
        category="attention",
        summary="attention in which each query sees the keys up to its own place; (batch, heads, length, head width)",
        inputs=("query", "key", "value"),
        sizes={size: _decoder(shape) for size, shape in DECODERS.items()},
        outputs=_outputs,
        flops=_causal_flops,
        differentiable=("query", "key", "value"),
        backward_flops=2,
    ),
    Operator(
        name="grouped_query_attention",
        category="attention",
        summary="attention in which several heads of queries, next to each other, share a head of keys and values",
        inputs=("query", "key", "value"),
        sizes={size: _grouped(*arguments) for size, arguments in GROUPED.items()},
        outputs=_outputs,
        flops=_flops,
        differentiable=("query", "key", "value"),
        backward_flops=2,
        aliases=("gqa",),
    ),
    Operator(
        name="multi_head_attention",
        category="attention",
        summary="one projection to queries, keys and values, the attention of each head, and the projection back",
        inputs=("data", "weight", "bias", "output_weight", "output_bias"),
        sizes={size: _layer(shape) for size, shape in LAYERS.items()},
        outputs=same(),
        flops=_layer_flops,
        differentiable=("data", "weight", "bias", "output_weight", "output_bias"),
        backward_flops=2,
        aliases=("mha", "self_attention"),
    ),
    Operator(
        name="rotary_embedding",
        category="attention",
        summary="data times the cosine, plus the data with its halves exchanged, the second negated, times the sine",
        inputs=("data", "cosine", "sine"),
        sizes={size: _rotated(shape) for size, shape in DECODERS.items()},
        outputs=same(),
        flops=each(3),
        differentiable=("data",),
        aliases=("rope",),
    ),
)
