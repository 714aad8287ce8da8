"""Operators that draw numbers: one operation makes each, and to most of them no tensor goes in."""

from __future__ import annotations

from collections.abc import Mapping

from opperf.catalog.definition import FORWARD_ONLY, Arguments, Formula, Operator, Outputs
from opperf.catalog.formulas import ELEMENTWISE, each_output, element_type, none, same, whole, wholes
from opperf.domain.case import Argument, Case, DType
from opperf.domain.tensor import TensorSpec


def _drawn(case: Case) -> tuple[TensorSpec, ...]:
    return (TensorSpec(wholes(case, "shape"), element_type(case)),)


def _random(
    name: str, summary: str, aliases: tuple[str, ...] = (), dtype: str = "float32", **attributes: Argument
) -> Operator:
    return Operator(
        name=name,
        category="random",
        summary=summary,
        inputs=(),
        sizes={size: {"shape": shape, "dtype": DType(dtype), **attributes} for size, shape in ELEMENTWISE.items()},
        outputs=_drawn,
        flops=each_output(1, _drawn),
        directions=FORWARD_ONLY,
        random=True,
        aliases=aliases,
    )


def _with_data(
    name: str, summary: str, sizes: Mapping[str, Arguments], outputs: Outputs, flops: Formula, alias: str
) -> Operator:
    """Declare `name`, which draws by a tensor that goes in."""
    return Operator(
        name=name,
        category="random",
        summary=summary,
        inputs=("data",),
        sizes=sizes,
        outputs=outputs,
        flops=flops,
        directions=FORWARD_ONLY,
        random=True,
        aliases=(alias,),
    )


def _chosen(case: Case) -> tuple[TensorSpec, ...]:
    return (TensorSpec((case.tensor("data").shape[0], whole(case, "count")), "int64"),)


OPERATORS = (
    _random("random_uniform", "numbers evenly from [low, high)", ("uniform", "rand"), low=0.0, high=1.0),
    _random("random_normal", "numbers from a normal distribution", ("normal", "randn"), mean=0.0, std=1.0),
    _random("random_integers", "whole numbers evenly from [low, high)", ("randint",), dtype="int64", low=0, high=1000),
    _random("random_bernoulli", "ones with a probability, else zeros", ("bernoulli",), probability=0.5),
    _random("random_poisson", "counts of rare events, `rate` on average", ("poisson",), rate=3.0),
    _random("random_exponential", "times between rare events, `scale` on average", ("exponential",), scale=2.0),
    _random("random_gamma", "numbers from a gamma distribution", ("gamma",), alpha=2.0, scale=1.5),
    _random(
        "random_negative_binomial",
        "failures before the `successes`, each of which has a probability",
        ("negative_binomial",),
        successes=3,
        probability=0.4,
    ),
    _with_data(
        "random_categorical",
        "`count` places in each row, drawn by the probabilities that stand there, and put back",
        {
            size: {"data": TensorSpec(shape, range=(0.1, 1.0), values="constant"), "count": 4}
            for size, shape in {**ELEMENTWISE, "large": (8192, 1024)}.items()
        },
        _chosen,
        each_output(1, _chosen),
        "multinomial",
    ),
    _with_data(
        "shuffle",
        "the rows in another order, drawn anew",
        {size: {"data": TensorSpec(shape)} for size, shape in ELEMENTWISE.items()},
        same(),
        none,
        "random_permutation",
    ),
)
