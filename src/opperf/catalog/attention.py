"""Attention, and layers of experts."""

from __future__ import annotations

from opperf.catalog.definition import Arguments, Operator
from opperf.catalog.formulas import counted_rows, each, flag, indices, like, none, product, same, whole
from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

# Attention as one operator: softmax(query key^T / sqrt(head width)) value.
#
# Operations for each pair of a query and a key: a multiply-add for each element of the head to score, another to weigh
# the value, one to scale and five for the softmax. With `causal`, query i sees the keys up to i, and only those count.
# The projections around it count as products do. Rotary positions take two multiplications and a sum for each element.

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
GROUPED_QUERIES = {
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
        raise InputError(f"`{case.operator}` cannot split {width} elements between {heads} heads")
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


def _group(shape: tuple[int, int, int, int, int, int], causal: bool) -> Arguments:
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


def _rotate(shape: tuple[int, int, int, int]) -> Arguments:
    angles = TensorSpec(shape[2:])
    return {"data": TensorSpec(shape), "cosine": angles, "sine": angles}


_ATTENTION = (
    # Each of the two products has two of its size in the backward pass.
    Operator(
        "scaled_dot_product_attention",
        "attention",
        "values weighted by the softmax of scaled query-key products; (batch, heads, length, head width)",
        sizes={size: _arguments(*arguments) for size, arguments in SIZES.items()},
        outputs=_outputs,
        flops=_flops,
        differentiable=("query", "key", "value"),
        backward_flops=2,
        aliases=("sdpa", "dot_product_attention"),
    ),
    Operator(
        "causal_attention",
        "attention",
        "attention in which each query sees keys up to its own position; (batch, heads, length, head width)",
        sizes={size: _decoder(shape) for size, shape in DECODERS.items()},
        outputs=_outputs,
        flops=_causal_flops,
        differentiable=("query", "key", "value"),
        backward_flops=2,
    ),
    Operator(
        "grouped_query_attention",
        "attention",
        "attention in which neighbouring query heads share a head of keys and values",
        sizes={size: _group(*arguments) for size, arguments in GROUPED_QUERIES.items()},
        outputs=_outputs,
        flops=_flops,
        differentiable=("query", "key", "value"),
        backward_flops=2,
        aliases=("gqa",),
    ),
    Operator(
        "multi_head_attention",
        "attention",
        "one projection to queries, keys and values, the attention of each head, and the projection back",
        sizes={size: _layer(shape) for size, shape in LAYERS.items()},
        outputs=same(),
        flops=_layer_flops,
        differentiable=("data", "weight", "bias", "output_weight", "output_bias"),
        backward_flops=2,
        aliases=("mha", "self_attention"),
    ),
    Operator(
        "rotary_embedding",
        "attention",
        "data times the cosine, plus the data with swapped halves (the second negated) times the sine",
        sizes={size: _rotate(shape) for size, shape in DECODERS.items()},
        outputs=same(),
        flops=each(3),
        differentiable=("data",),
        aliases=("rope",),
    ),
)


# What a layer of experts is made of: tokens sent to the few experts that a router picks, and brought back.
#
# Operations: two for each multiply-add; five for each element of a softmax, two for each weight that is scaled anew; a
# multiplication and a sum for each element that is brought back. Picking and moving are none.

#: (tokens, experts, experts for each token, width, width of an expert): skewed has many experts and few tokens each.
EXPERTS_SIZES = {
    "small": (32, 4, 2, 16, 32),
    "common": (512, 8, 2, 256, 512),
    "large": (4096, 8, 2, 768, 1024),
    "skewed": (1024, 128, 8, 64, 64),
}


def _multiply(case: Case) -> tuple[TensorSpec, ...]:
    data, weight = case.tensor("data"), case.tensor("weight")
    (rows, width), (groups, length, out) = data.shape, weight.shape
    if width != length or rows % groups:
        raise InputError(
            f"`{case.operator}` cannot multiply {rows} rows of {width} with {groups} matrices that take {length}",
            hint="give each matrix the same number of rows, as long as the matrix is high",
        )
    return (like(data, (rows, out)),)


def _multiplied_flops(case: Case) -> int:
    return 2 * product(case.tensor("data").shape) * case.tensor("weight").shape[-1]


def _dispatch(case: Case) -> tuple[TensorSpec, ...]:
    data, experts = case.tensor("data"), case.tensor("experts")
    return (like(data, (experts.elements, *data.shape[1:])),)


def _routes(case: Case) -> tuple[TensorSpec, ...]:
    logits = case.tensor("logits")
    shape = (*logits.shape[:-1], whole(case, "k"))
    return like(logits, shape), TensorSpec(shape, "int64")


def _routed_flops(case: Case) -> int:
    return 5 * case.tensor("logits").elements + 2 * product(_routes(case)[0].shape)


def _experts_grouped(tokens: int, experts: int, each_token: int, width: int, hidden: int) -> Arguments:
    return {"data": TensorSpec((tokens * each_token, width)), "weight": TensorSpec((experts, width, hidden))}


def _send(tokens: int, experts: int, each_token: int, width: int, _: int) -> Arguments:
    return {"data": TensorSpec((tokens, width)), "experts": indices((tokens, each_token), experts)}


def _bring(tokens: int, _: int, each_token: int, width: int, __: int) -> Arguments:
    slots = tokens * each_token
    return {
        "data": TensorSpec((slots, width)),
        "tokens": indices((slots,), tokens),
        "weights": TensorSpec((slots,), range=(0.0, 1.0)),
        "count": tokens,
    }


def _route(tokens: int, experts: int, each_token: int, _: int, __: int) -> Arguments:
    return {"logits": TensorSpec((tokens, experts), range=(-4.0, 4.0)), "k": each_token}


_EXPERTS = (
    Operator(
        "grouped_matmul",
        "experts",
        "rows in equal groups, each multiplied by its own matrix",
        sizes={size: _experts_grouped(*numbers) for size, numbers in EXPERTS_SIZES.items()},
        outputs=_multiply,
        flops=_multiplied_flops,
        differentiable=("data", "weight"),
        backward_flops=2,
    ),
    Operator(
        "moe_gather",
        "experts",
        "the row of each token once per expert, sorted by expert and then by token",
        sizes={size: _send(*numbers) for size, numbers in EXPERTS_SIZES.items()},
        outputs=_dispatch,
        flops=none,
        differentiable=("data",),
        reads=("experts",),
    ),
    Operator(
        "moe_scatter",
        "experts",
        "weighted rows, summed into `count` rows by token",
        sizes={size: _bring(*numbers) for size, numbers in EXPERTS_SIZES.items()},
        outputs=counted_rows,
        flops=each(2),
        differentiable=("data", "weights"),
    ),
    Operator(
        "top_k_routing",
        "experts",
        "the `k` largest softmax weights, scaled to a sum of one, and their indices",
        sizes={size: _route(*numbers) for size, numbers in EXPERTS_SIZES.items()},
        outputs=_routes,
        flops=_routed_flops,
        differentiable=("logits",),
    ),
)


OPERATORS = (*_ATTENTION, *_EXPERTS)
