"""What MXNet's profiler says of operators, and their time together."""

from __future__ import annotations

import json

import pytest

from opperf.child.backends.mxnet.operator_times import operators, seconds
from opperf.domain.explanation import Event


def told(**domains: dict[str, float]) -> str:
    """Return a summary as the profiler writes it: totals in milliseconds by domain and name."""
    times = {
        domain.replace("_", " "): {name: {"Count": 2, "Total": total} for name, total in events.items()}
        for domain, events in domains.items()
    }
    return json.dumps({"Time": times, "Memory": {}, "Unit": {"Time": "ms", "Memory": "kB"}})


CUSTOM = told(
    Custom_Operator={"AddOne::pure_python": 1.5, "AddOne::_plus_scalar": 0.5, "AddOne::DeleteVariable": 0.004},
    operator={"DeleteVariable": 0.002},
)


def test_operators_have_counts_and_seconds() -> None:
    assert operators(told(operator={"dot": 3.0})) == [Event("dot", "operator", 2, 0.003)]


def test_letting_arrays_go_is_no_operator() -> None:
    assert [event.name for event in operators(CUSTOM)] == ["AddOne::pure_python", "AddOne::_plus_scalar"]


def test_calls_of_the_interface_are_no_operators() -> None:
    assert operators(told(MXNET={"MXNDArrayFree": 9.0})) == []


@pytest.mark.parametrize(("nested", "expected"), [(False, 0.002), (True, 0.0015)])
def test_a_custom_operator_is_its_python_and_what_it_calls_once(nested: bool, expected: float) -> None:
    assert seconds(operators(CUSTOM), nested=nested) == pytest.approx(expected)


def test_backward_that_runs_the_forward_operator_counts_whole() -> None:
    assert seconds(operators(told(operator={"batch_dot": 0.5, "_backward_add": 0.25})), nested=True) == 0.00075
