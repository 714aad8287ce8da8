"""Every spelling in the table of domains runs on the inputs that the table gives it, and finds a number everywhere."""

from __future__ import annotations

import math

import pytest
from tests.conformance.conftest import Bench
from tests.domain_examples import EXAMPLES
from tests.each import check_each

from opperf.catalog.valid_values import restrict
from opperf.domain.case import Case
from opperf.domain.registry import split_implementation

FLOATS = ("float16", "float32", "float64")


def framework_of(case: Case) -> str:
    return str(split_implementation(case.operator)[0])


@pytest.mark.parametrize("framework", sorted({*map(framework_of, EXAMPLES)}))
def test_an_operator_is_defined_for_the_inputs_that_the_table_gives_it(
    framework: str, benches: dict[str, Bench]
) -> None:
    def check(case: Case) -> None:
        computed = benches[framework].evaluate(restrict(case), implementation=split_implementation(case.operator)[1])
        assert not [value for one in computed if one.dtype in FLOATS for value in one.values if math.isnan(value)]

    check_each([case for case in EXAMPLES if framework_of(case) == framework], check, lambda case: case.operator)


@pytest.mark.parametrize("path", ["aten::log_", "aten::acos_", "aten::acosh_", "aten::logit_", "aten::_foreach_log_"])
def test_an_operator_in_place_is_defined_for_each_of_its_calls(path: str, benches: dict[str, Bench]) -> None:
    example = next(case for case in EXAMPLES if case.operator.endswith(path.strip("_").removeprefix("aten::_")))
    case = Case(f"torch:{path}", example.inputs)
    (result, *_) = benches["torch"].evaluate(restrict(case), implementation=path) or (None,)
    assert result is None or not any(map(math.isnan, result.values))
