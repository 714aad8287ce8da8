"""Operators that draw numbers: no tensor goes in, and one operation makes each number."""

from __future__ import annotations

from opperf.case import Argument, Case, DType
from opperf.operators.definition import FORWARD_ONLY, Operator
from opperf.operators.formulas import ELEMENTWISE, each_output, element_type, wholes
from opperf.tensor import TensorSpec


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


OPERATORS = (
    _random("random_uniform", "numbers evenly from [low, high)", ("uniform", "rand"), low=0.0, high=1.0),
    _random("random_normal", "numbers from a normal distribution", ("normal", "randn"), mean=0.0, std=1.0),
    _random("random_integers", "whole numbers evenly from [low, high)", ("randint",), dtype="int64", low=0, high=1000),
    _random("random_bernoulli", "ones with a probability, else zeros", ("bernoulli",), probability=0.5),
)
