"""How the rules of operators are read that the catalog does not have."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from tests.each import each

from opperf.child.backends.arrays import rules as shared
from opperf.child.backends.jax import rules as jax_rules
from opperf.child.backends.mxnet import array_rules, gradient_rules, layer_rules, special_rules
from opperf.child.backends.naming.notation import SIDES, Rule, alike, inputs, sizes, tensor
from opperf.child.backends.numpy import functions as numpy_own
from opperf.domain.case import Case, DType, ListOf
from opperf.domain.tensor import TensorSpec

MXNET = (layer_rules.RULES, array_rules.RULES, special_rules.RULES)
#: Every table of rules, by a name for the test.
TABLES: dict[str, Mapping[str, Rule]] = {
    "mxnet": {name: rule for table in MXNET for name, rule in table.items()},
    "mxnet gradients": {name: (text, given) for name, (text, _, given) in gradient_rules.GRADIENTS.items()},
    "shared": shared.RULES,
    **{f"{area}*": rules.functions for own in (numpy_own, jax_rules) for area, rules in own.AREAS.items()},
}


@each(
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
    result = inputs("data: n,n | index: n int32", 4)
    assert list(result.items()) == [("data", TensorSpec((4, 4))), ("index", TensorSpec((4,), "int32"))]
    assert inputs("", 4) == {}


def test_a_list_of_arrays_stands_in_brackets_and_may_hold_a_value() -> None:
    assert inputs("arrays: [n,n; n int32; = True]", 4) == {
        "arrays": ListOf((TensorSpec((4, 4)), TensorSpec((4,), "int32"), True))
    }


def test_what_is_no_array_keeps_its_place_among_them() -> None:
    result = inputs("subscripts = 'ij->ji' | x: n,n | dtype = float16", 4)
    assert list(result.items()) == [("subscripts", "ij->ji"), ("x", TensorSpec((4, 4))), ("dtype", DType("float16"))]


def test_operators_that_are_alike_share_a_rule() -> None:
    assert alike("x: n", {"a": 1}, "one", "two") == {"one": ("x: n", {"a": 1}), "two": ("x: n", {"a": 1})}


def test_no_operator_of_mxnet_has_a_rule_in_two_files() -> None:
    assert len({name for table in MXNET for name in table}) == sum(map(len, MXNET))


@each("table", TABLES)
def test_every_rule_is_read_at_every_size_and_stays_below_a_gibibyte(table: str) -> None:
    for name, (text, _) in TABLES[table].items():
        for size, side in SIDES.items():
            assert Case(name, inputs(text, side)).input_bytes < 2**30, (name, size)


@pytest.mark.parametrize("left_out", [jax_rules.LEFT_OUT, numpy_own.LEFT_OUT])
def test_a_function_is_left_out_once_for_a_reason_in_words(left_out: Mapping[str, tuple[str, ...]]) -> None:
    names = [name for names in left_out.values() for name in names]
    assert sorted(set(names)) == sorted(names)
    assert [reason for reason in left_out if len(reason.split()) < 5] == []


def test_the_results_of_a_gradient_stand_behind_its_inputs() -> None:
    for name, (text, count, _) in gradient_rules.GRADIENTS.items():
        assert 0 < count <= len(inputs(text, 8)), name
