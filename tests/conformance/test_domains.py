"""Every spelling in the table of domains runs on the inputs that the table gives it, and finds a number everywhere."""

from __future__ import annotations

import math

import pytest
from tests.conformance.conftest import Bench
from tests.domain_examples import EXAMPLES

from opperf.catalog.domain_table import within
from opperf.domain.case import Case
from opperf.domain.registry import split_implementation

FLOATS = ("float16", "float32", "float64")


@pytest.mark.parametrize("case", EXAMPLES, ids=lambda case: case.operator)
def test_an_operator_is_defined_for_the_inputs_that_the_table_gives_it(case: Case, benches: dict[str, Bench]) -> None:
    framework, path = split_implementation(case.operator)
    found = benches[str(framework)].evaluate(within(case), implementation=path)
    assert not [value for one in found if one.dtype in FLOATS for value in one.values if math.isnan(value)]


@pytest.mark.parametrize("path", ["aten::log_", "aten::acos_", "aten::acosh_", "aten::logit_", "aten::_foreach_log_"])
def test_an_operator_in_place_is_defined_for_each_of_its_calls(path: str, benches: dict[str, Bench]) -> None:
    example = next(case for case in EXAMPLES if case.operator.endswith(path.strip("_").removeprefix("aten::_")))
    case = Case(f"torch:{path}", example.inputs)
    (found, *_) = benches["torch"].evaluate(within(case), implementation=path) or (None,)
    assert found is None or not any(map(math.isnan, found.values))
