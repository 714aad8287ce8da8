"""The user's own function as an implementation of an operator: its inputs by that operator's names."""

from __future__ import annotations

import pytest

from opperf.domain.case import Argument, Case
from opperf.domain.errors import InputError
from opperf.domain.message.replies import Meaning
from opperf.domain.tensor import TensorSpec
from opperf.parent.planning.implementations import as_implemented

VECTOR = TensorSpec((4,))
MEANING = Meaning("mine:f", "add", {"x": "lhs", "y": "rhs"})


def test_a_case_of_the_users_function_is_one_of_its_operator() -> None:
    case = as_implemented(Case("mine:f", {"x": VECTOR, "y": VECTOR}), MEANING)
    assert (case.operator, case.inputs) == ("add", {"lhs": VECTOR, "rhs": VECTOR})


@pytest.mark.parametrize(
    ("inputs", "complaint"),
    [({"x": VECTOR}, "without `rhs`"), ({"x": VECTOR, "y": VECTOR, "z": VECTOR}, "with `z`")],
)
def test_what_its_operator_lacks_or_does_not_take_is_refused(inputs: dict[str, Argument], complaint: str) -> None:
    with pytest.raises(InputError) as caught:
        as_implemented(Case("mine:f", inputs), MEANING)
    assert caught.value.message == f"`mine:f` {complaint}: it implements `add`"
