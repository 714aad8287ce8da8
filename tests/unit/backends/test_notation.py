"""How the rules of MXNet's registered operators are read."""

from __future__ import annotations

import pytest

from opperf.backends.mxnet import array_rules, gradient_rules, layer_rules, special_rules
from opperf.backends.mxnet.notation import SIDES, alike, sizes, tensor, tensors
from opperf.tensor import TensorSpec

RULES = {**layer_rules.RULES, **array_rules.RULES, **special_rules.RULES}


@pytest.mark.parametrize(
    ("text", "shape"),
    [("n,n", (8, 8)), ("2n", (16,)), ("nn,3", (64, 3)), ("1,2nn", (1, 128)), ("()", ()), ("5", (5,))],
)
def test_a_shape_is_written_with_the_side_and_its_square(text: str, shape: tuple[int, ...]) -> None:
    assert sizes(text, 8) == shape


@pytest.mark.parametrize("text", ["m", "n3", "nnn", "2-n", "-1"])
def test_what_is_no_shape_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no shape"):
        sizes(text, 8)


def test_behind_a_shape_stand_type_bounds_filling_and_gradient() -> None:
    assert tensor("n int32 0..4", 8) == TensorSpec((8,), "int32", range=(0, 4))
    assert tensor("n,n ones fixed", 8) == TensorSpec((8, 8), values="ones", requires_grad=False)


def test_arrays_come_by_name_and_in_their_order() -> None:
    found = tensors("data: n,n | index: n int32", 4)
    assert list(found.items()) == [("data", TensorSpec((4, 4))), ("index", TensorSpec((4,), "int32"))]
    assert tensors("", 4) == {}


def test_operators_that_are_alike_share_a_rule() -> None:
    assert alike("x: n", {"a": 1}, "one", "two") == {"one": ("x: n", {"a": 1}), "two": ("x: n", {"a": 1})}


def test_no_operator_has_a_rule_in_two_files() -> None:
    assert len(RULES) == len(layer_rules.RULES) + len(array_rules.RULES) + len(special_rules.RULES)


@pytest.mark.parametrize("size", SIDES)
def test_every_rule_is_read_at_every_size_and_stays_below_a_gibibyte(size: str) -> None:
    side = SIDES[size]
    written = {**RULES, **{name: (text, given) for name, (text, _, given) in gradient_rules.GRADIENTS.items()}}
    for name, (text, _) in written.items():
        assert sum(spec.nbytes for spec in tensors(text, side).values()) < 2**30, name


def test_the_results_of_a_gradient_stand_behind_its_inputs() -> None:
    for name, (text, inputs, _) in gradient_rules.GRADIENTS.items():
        assert 0 < inputs <= len(tensors(text, 8)), name
