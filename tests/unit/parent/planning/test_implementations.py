"""The user's own function as an implementation of an operator: its inputs by that operator's names."""

from __future__ import annotations

import pytest

from opperf.catalog import operator
from opperf.domain.case import Argument, Case
from opperf.domain.errors import InputError
from opperf.domain.message.replies import Meaning
from opperf.domain.plan import Side, Trial
from opperf.domain.tensor import TensorSpec
from opperf.parent.planning.implementations import as_implemented, trial_on
from opperf.parent.planning.side_text import read_side

VECTOR = TensorSpec((4,))
MEANING = Meaning("mine:f", "add", {"x": "lhs", "y": "rhs"})


def test_a_case_of_the_users_function_is_one_of_its_operator() -> None:
    case = as_implemented(Case("mine:f", {"x": VECTOR, "y": VECTOR}), MEANING)
    assert (case.operator, case.inputs) == ("add", {"lhs": VECTOR, "rhs": VECTOR})


def test_an_attribute_of_a_side_is_the_cases_there_and_nowhere_else() -> None:
    own = Trial(Case("torch:blocked", {"x": TensorSpec((4,))}, {"block": 64, "deep": True}), Side("torch"), "forward")
    new = trial_on(own, read_side("torch:blocked;attribute.block=128"))
    assert new.case.attributes == {"block": 128, "deep": True}
    assert (new.case.inputs, new.side.spelling) == (own.case.inputs, "blocked")
    assert trial_on(own, read_side("torch:blocked")).case == own.case
    common = Trial(operator("sum").case("common"), Side("numpy"), "forward")
    assert trial_on(common, read_side("numpy;attribute.axis=0")).case.attributes["axis"] == 0
    with pytest.raises(InputError, match="no attribute of sum `axes`"):
        trial_on(common, read_side("numpy;attribute.axes=0"))


@pytest.mark.parametrize(
    ("inputs", "complaint"),
    [({"x": VECTOR}, "without `rhs`"), ({"x": VECTOR, "y": VECTOR, "z": VECTOR}, "with `z`")],
)
def test_what_its_operator_lacks_or_does_not_take_is_refused(inputs: dict[str, Argument], complaint: str) -> None:
    with pytest.raises(InputError) as caught:
        as_implemented(Case("mine:f", inputs), MEANING)
    assert caught.value.message == f"`mine:f` {complaint}: it implements `add`"
