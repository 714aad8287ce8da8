"""Operators that make tensors of known values: they fill memory, and what is read is nothing.

Those of one value, and `eye`, cost no arithmetic; a sequence is a multiply-add for each number.
"""

from __future__ import annotations

from collections.abc import Mapping

from opperf.catalog.definition import FORWARD_ONLY, Formula, Operator, Outputs
from opperf.catalog.formulas import ELEMENTWISE, each_output, element_type, none, same, whole, wholes
from opperf.domain.case import Argument, Case, DType
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

#: Lengths of sequences; the skewed one is prime, which no vector width divides.
LENGTHS = {"small": 1024, "common": 1_048_576, "large": 16_777_216, "skewed": 1_000_003}
FLOAT32 = DType("float32")


def _filled(case: Case) -> tuple[TensorSpec, ...]:
    return (TensorSpec(wholes(case, "shape"), element_type(case)),)


def _matrix(case: Case) -> tuple[TensorSpec, ...]:
    return (TensorSpec((whole(case, "rows"), whole(case, "columns")), element_type(case)),)


def _spaced(case: Case) -> tuple[TensorSpec, ...]:
    return (TensorSpec((whole(case, "count"),), element_type(case)),)


def _stepped(case: Case) -> tuple[TensorSpec, ...]:
    start, stop, step = (whole(case, name) for name in ("start", "stop", "step"))
    if step == 0:
        raise InputError(f"`step` of `{case.operator}` is 0", hint="a step forwards or backwards")
    return (TensorSpec((len(range(start, stop, step)),), element_type(case)),)


def _creation(
    name: str,
    summary: str,
    sizes: Mapping[str, Mapping[str, Argument]],
    outputs: Outputs,
    *,
    flops: Formula = none,
    inputs: tuple[str, ...] = (),
    untouched: bool = False,
    aliases: tuple[str, ...] = (),
) -> Operator:
    """Declare `name`; `untouched` memory of zeros may come from the system without a byte being written."""
    return Operator(
        name=name,
        category="creation",
        summary=summary,
        inputs=inputs,
        sizes=sizes,
        outputs=outputs,
        flops=flops,
        directions=FORWARD_ONLY,
        aliasing=FORWARD_ONLY if untouched else (),
        reads=(),
        aliases=aliases,
    )


def _of_shape(**more: Argument) -> dict[str, dict[str, Argument]]:
    return {size: {"shape": shape, **more, "dtype": FLOAT32} for size, shape in ELEMENTWISE.items()}


def _like(name: str, summary: str, **more: Argument) -> Operator:
    sizes = {size: {"data": TensorSpec(shape), **more} for size, shape in ELEMENTWISE.items()}
    return _creation(name, summary, sizes, same(), inputs=("data",), untouched=name == "zeros_like")


OPERATORS = (
    _creation(
        "zeros", "zeros (memory that the system zeroes may stay untouched)", _of_shape(), _filled, untouched=True
    ),
    _creation("ones", "ones", _of_shape(), _filled),
    _creation("full", "one value everywhere", _of_shape(value=0.5), _filled),
    _like("zeros_like", "zeros in the shape of the data"),
    _like("ones_like", "ones in the shape of the data"),
    _like("full_like", "one value everywhere, in the shape of the data", value=0.5),
    _creation(
        "arange",
        "whole numbers from `start` up to but not at `stop`, by `step`",
        {size: {"start": 0, "stop": count, "step": 1, "dtype": FLOAT32} for size, count in LENGTHS.items()},
        _stepped,
        flops=each_output(2, _stepped),
    ),
    _creation(
        "linspace",
        "`count` numbers at equal distances from `start` to `stop`, both included",
        {size: {"start": 0.0, "stop": 1.0, "count": count, "dtype": FLOAT32} for size, count in LENGTHS.items()},
        _spaced,
        flops=each_output(2, _spaced),
    ),
    _creation(
        "eye",
        "a matrix with ones on its diagonal and zeros elsewhere",
        {size: {"rows": rows, "columns": columns, "dtype": FLOAT32} for size, (rows, columns) in ELEMENTWISE.items()},
        _matrix,
        aliases=("identity",),
    ),
)
