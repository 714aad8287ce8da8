"""Steps of optimizers: what they change, what they move and how much they compute."""

from __future__ import annotations

import pytest

from opperf.catalog import catalog, operator
from opperf.catalog.definition import FORWARD_ONLY, Operator
from opperf.domain.tensor import TensorSpec

STEPS = [pytest.param(declared, id=name) for name, declared in catalog().items() if declared.category == "optimizer"]


@pytest.mark.parametrize("step", STEPS)
def test_a_step_changes_weight_and_states_and_leaves_the_gradient(step: Operator) -> None:
    weight, gradient, *states = step.inputs
    assert (weight, gradient) == ("weight", "gradient")
    assert step.mutates == ("weight", *states)
    assert step.directions == FORWARD_ONLY
    assert step.outputs(step.case("small")) == (TensorSpec((32, 32)),)


def test_adam_reads_four_tensors_and_writes_three() -> None:
    adam = operator("adam_update")
    assert adam.byte_count(adam.case("small"), "forward") == 7 * 32 * 32 * 4


@pytest.mark.parametrize(
    ("name", "operations"), [("sgd_update", 2), ("sgd_momentum_update", 4), ("adam_update", 12), ("ftrl_update", 18)]
)
def test_operations_are_those_of_the_formula(name: str, operations: int) -> None:
    assert operator(name).flops(operator(name).case("small")) == operations * 32 * 32
