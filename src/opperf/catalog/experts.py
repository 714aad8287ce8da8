"""What a layer of experts is made of: tokens sent to the few experts that a router picks, and brought back.

Operations: two for each multiply-add; five for each element of a softmax, two for each weight that is scaled anew; a
multiplication and a sum for each element that is brought back. Picking and moving are none.
"""

from __future__ import annotations

from opperf.catalog.definition import Arguments, Operator
from opperf.catalog.formulas import each, indices, like, none, product, whole
from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

#: (tokens, experts, experts for each token, width, width of an expert): skewed has many experts and few tokens each.
SIZES = {
    "small": (32, 4, 2, 16, 32),
    "common": (512, 8, 2, 256, 512),
    "large": (4096, 8, 2, 768, 1024),
    "skewed": (1024, 128, 8, 64, 64),
}


def _multiplied(case: Case) -> tuple[TensorSpec, ...]:
    data, weight = case.tensor("data"), case.tensor("weight")
    (rows, width), (groups, taken, out) = data.shape, weight.shape
    if width != taken or rows % groups:
        raise InputError(
            f"`{case.operator}` cannot multiply {rows} rows of {width} with {groups} matrices that take {taken}",
            hint="as many rows for each matrix, each as long as the matrix is high",
        )
    return (like(data, (rows, out)),)


def _multiplied_flops(case: Case) -> int:
    return 2 * product(case.tensor("data").shape) * case.tensor("weight").shape[-1]


def _sent(case: Case) -> tuple[TensorSpec, ...]:
    data, experts = case.tensor("data"), case.tensor("experts")
    return (like(data, (experts.elements, *data.shape[1:])),)


def _returned(case: Case) -> tuple[TensorSpec, ...]:
    data = case.tensor("data")
    return (like(data, (whole(case, "count"), *data.shape[1:])),)


def _routed(case: Case) -> tuple[TensorSpec, ...]:
    logits = case.tensor("logits")
    shape = (*logits.shape[:-1], whole(case, "k"))
    return like(logits, shape), TensorSpec(shape, "int64")


def _routed_flops(case: Case) -> int:
    return 5 * case.tensor("logits").elements + 2 * product(_routed(case)[0].shape)


def _grouped(tokens: int, experts: int, each_token: int, width: int, hidden: int) -> Arguments:
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


OPERATORS = (
    Operator(
        name="grouped_matmul",
        category="experts",
        summary="rows in as many equal groups as there are matrices, each group times its own matrix",
        inputs=("data", "weight"),
        sizes={size: _grouped(*numbers) for size, numbers in SIZES.items()},
        outputs=_multiplied,
        flops=_multiplied_flops,
        differentiable=("data", "weight"),
        backward_flops=2,
    ),
    Operator(
        name="moe_gather",
        category="experts",
        summary="the row of each token once for each of its experts, sorted by expert and then by token",
        inputs=("data", "experts"),
        sizes={size: _send(*numbers) for size, numbers in SIZES.items()},
        outputs=_sent,
        flops=none,
        differentiable=("data",),
        reads=("experts",),
    ),
    Operator(
        name="moe_scatter",
        category="experts",
        summary="rows times their weights, summed into `count` rows at the places of their tokens",
        inputs=("data", "tokens", "weights"),
        sizes={size: _bring(*numbers) for size, numbers in SIZES.items()},
        outputs=_returned,
        flops=each(2),
        differentiable=("data", "weights"),
    ),
    Operator(
        name="top_k_routing",
        category="experts",
        summary="the softmax's `k` greatest weights, scaled to a sum of one, and whose they are",
        inputs=("logits",),
        sizes={size: _route(*numbers) for size, numbers in SIZES.items()},
        outputs=_routed,
        flops=_routed_flops,
        differentiable=("logits",),
    ),
)
