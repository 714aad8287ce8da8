"""From a case to a call: every argument in its place."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from opperf.catalog import Operator, operator
from opperf.child.backends.binding import Call, Parameter, parameters
from opperf.child.worker.arguments import bind, call_of
from opperf.domain.case import Case, Device, DType, ListOf
from opperf.domain.tensor import TensorSpec

if TYPE_CHECKING:
    from tests.unit.child.worker.conftest import Arrays

DATA = TensorSpec((2, 3))
CASE = Case("f", {"data": DATA, "other": TensorSpec((4,), "int64")}, {"axis": 1})


def fake(positional: str, keywords: str = "", **more: Any) -> Call:
    """Return a call of the fake framework's function."""
    return Call("fake.identity", parameters(positional), parameters(keywords), **more)


def test_arguments_stand_where_the_binding_puts_them(backend: Arrays) -> None:
    bound = bind(CASE, fake("y=other, x=data", "dim=axis"), None, backend, seed=0)
    assert [argument.shape for argument in bound.arguments] == [(4,), (2, 3)]
    assert bound.keywords == {"dim": 1}


def test_constants_are_passed_as_they_are(backend: Arrays) -> None:
    bound = bind(CASE, fake("data, 7, 'text'", "ret_typ='both', k=(1, 2)"), None, backend, seed=0)
    assert bound.arguments[1:] == (7, "text")
    assert bound.keywords == {"ret_typ": "both", "k": (1, 2)}


def test_a_keyword_that_the_case_lacks_is_left_out(backend: Arrays) -> None:
    bound = bind(CASE, fake("data", "axis=axis, keepdims=keepdims"), None, backend, seed=0)
    assert bound.keywords == {"axis": 1}


def test_a_keyword_that_is_none_is_passed(backend: Arrays) -> None:
    case = replace(CASE, attributes={"axis": None})
    assert bind(case, fake("data", "axis=axis"), None, backend, seed=0).keywords == {"axis": None}


def test_a_place_that_the_case_lacks_is_none(backend: Arrays) -> None:
    assert bind(CASE, fake("data, bias, axis"), None, backend, seed=0).arguments[1:] == (None, 1)


def test_a_star_spreads_a_list(backend: Arrays) -> None:
    case = Case("concat", {"data": ListOf((DATA, DATA, DATA))}, {"axis": 0})
    bound = bind(case, fake("*data, axis"), None, backend, seed=0)
    assert [getattr(argument, "shape", argument) for argument in bound.arguments] == [(2, 3), (2, 3), (2, 3), 0]


def test_a_list_stays_a_list_and_a_tuple_a_tuple(backend: Arrays) -> None:
    case = Case("f", {"a": ListOf((DATA,)), "b": (DATA, 1)})
    result, pair = bind(case, fake("a, b"), None, backend, seed=0).arguments
    assert isinstance(result, list)
    assert isinstance(pair, tuple)
    assert pair[1] == 1


def test_dtypes_become_the_frameworks_own_and_devices_their_names(backend: Arrays) -> None:
    case = Case("f", {}, {"dtype": DType("int8"), "device": Device("cpu")})
    assert bind(case, fake("dtype, device"), None, backend, seed=0).arguments == (np.dtype("int8"), "cpu")


def test_an_argument_is_adapted_once_before_anything_is_timed(backend: Arrays) -> None:
    bound = bind(CASE, fake("data", adapt={"data": np.transpose, "missing": np.abs}), None, backend, seed=0)
    assert bound.arguments[0].shape == (3, 2)


def test_an_argument_is_derived_from_the_adapted_ones(backend: Arrays) -> None:
    call = fake(
        "data", "shape=target", adapt={"data": np.transpose}, derive={"target": lambda made: made["data"].shape}
    )
    assert bind(CASE, call, None, backend, seed=0).keywords == {"shape": (3, 2)}


def test_the_path_is_looked_up_in_the_framework(backend: Arrays) -> None:
    assert bind(CASE, fake("data"), None, backend, seed=0).function(1) == 1


def test_a_path_that_is_not_there_is_a_lookup_error(backend: Arrays) -> None:
    with pytest.raises(LookupError):
        bind(CASE, Call("fake.missing", ()), None, backend, seed=0)


def test_a_composition_brings_its_own_function(backend: Arrays) -> None:
    assert bind(CASE, fake("data", function=max), None, backend, seed=0).function is max


def test_values_depend_on_seed_case_and_place(backend: Arrays) -> None:
    case = Case("f", {"a": DATA, "b": DATA, "c": ListOf((DATA, DATA))})
    call = fake("a, b, *c")
    arguments = [bind(case, call, None, backend, seed=0).arguments, bind(case, call, None, backend, seed=1).arguments]
    arguments.append(bind(replace(case, operator="g"), call, None, backend, seed=0).arguments)
    values = [argument.tobytes() for several in arguments for argument in several]
    assert len(set(values)) == 12


def test_the_same_seed_gives_the_same_values(backend: Arrays) -> None:
    one, other = (bind(CASE, fake("data"), None, backend, seed=3).arguments[0] for _ in range(2))
    assert np.array_equal(one, other)


def test_the_place_of_an_input_does_not_depend_on_how_a_framework_calls_it(backend: Arrays) -> None:
    one = bind(CASE, fake("x=data"), None, backend, seed=0).arguments[0]
    other = bind(CASE, fake("other", "y=data"), None, backend, seed=0).keywords["y"]
    assert np.array_equal(one, other)


def named(bound_tensors: tuple[Any, ...], arguments: tuple[Any, ...]) -> list[int]:
    """Return at which places among the arguments some tensors stand."""
    return [next(i for i, argument in enumerate(arguments) if argument is tensor) for tensor in bound_tensors]


def test_declared_inputs_have_gradients(backend: Arrays) -> None:
    case = operator("take").case("small")
    bound = bind(case, fake("data, indices"), operator("take"), backend, seed=0)
    assert named(bound.differentiable, bound.arguments) == [0]


def test_every_floating_input_of_an_unknown_operator_has_a_gradient(backend: Arrays) -> None:
    case = Case("f", {"a": DATA, "b": TensorSpec((2,), "int64"), "c": TensorSpec((2,), "float64")})
    bound = bind(case, fake("a, b, c"), None, backend, seed=0)
    assert named(bound.differentiable, bound.arguments) == [0, 2]


def test_a_tensor_may_be_left_without_a_gradient(backend: Arrays) -> None:
    case = Case("f", {"a": TensorSpec((2,), requires_grad=False), "b": DATA})
    bound = bind(case, fake("a, b"), None, backend, seed=0)
    assert named(bound.differentiable, bound.arguments) == [1]


def test_each_tensor_of_a_list_has_a_gradient(backend: Arrays) -> None:
    case = Case("f", {"data": ListOf((DATA, TensorSpec((2,), "int8"), DATA))})
    bound = bind(case, fake("*data"), None, backend, seed=0)
    assert named(bound.differentiable, bound.arguments) == [0, 2]


def test_an_input_that_the_case_leaves_out_has_no_gradient(backend: Arrays) -> None:
    declared = operator("linear")
    case = Case("linear", {name: DATA for name in declared.differentiable if name != "bias"})
    bound = bind(case, fake("data, weight"), declared, backend, seed=0)
    assert len(bound.differentiable) == 2


UPDATE = operator("sgd_update")


def test_declared_inputs_are_mutated(backend: Arrays) -> None:
    bound = bind(UPDATE.case("small"), fake("weight, gradient", "lr=learning_rate"), UPDATE, backend, seed=0)
    assert bound.mutated == ("weight",)
    assert bound.values["weight"] is bound.arguments[0]


def test_what_the_schema_or_the_author_of_an_operator_says_is_mutated_too(
    backend: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend, "written", lambda function: ["self", "out", "absent"])
    case = Case("f", {"data": DATA, "b": DATA, "out": DATA}, {"absent": None})
    declared = replace(fake("self=data, b=b, out=out"), mutates=("b",))
    assert bind(case, declared, None, backend, seed=0).mutated == ("data", "out", "b")


def test_tensors_that_never_change_are_not_mutated(backend: Arrays) -> None:
    backend.immutable = True
    bound = bind(UPDATE.case("small"), fake("weight, gradient", "lr=learning_rate"), UPDATE, backend, seed=0)
    assert bound.mutated == ()


@pytest.mark.parametrize(("training", "count"), [(True, 2), (False, 0)])
def test_statistics_change_in_training_alone(training: bool, count: int, backend: Arrays) -> None:
    definition = operator("batch_norm")
    case = replace(definition.case("small"), attributes={"training": training})
    bound = bind(case, fake(", ".join(definition.inputs)), definition, backend, seed=0)
    assert len(bound.mutated) == count
    assert bound.training is training


def training_of(definition: Operator | None, attributes: dict[str, Any], backend: Arrays) -> bool:
    """Return whether a case of the definition is bound as in training."""
    return bind(Case("f", {"data": DATA}, attributes), fake("data"), definition, backend, seed=0).training


def test_an_operator_that_knows_training_trains_unless_it_is_told_not_to(backend: Arrays) -> None:
    assert training_of(operator("dropout"), {}, backend)
    assert not training_of(operator("dropout"), {"training": False}, backend)
    assert not training_of(operator("abs"), {}, backend)
    assert not training_of(None, {}, backend)


def test_a_function_that_nobody_describes_takes_inputs_by_place_and_attributes_by_name() -> None:
    call = call_of(CASE, "fake.thing", {})
    assert call.path == "fake.thing"
    assert call.positional == (Parameter("data", neutral="data"), Parameter("other", neutral="other"))
    assert call.keywords == (Parameter("axis", neutral="axis"),)


@pytest.mark.parametrize(
    ("parameters", "placed", "named"),
    [
        ({"other": True, "data": True, "axis": True}, ["other", "data"], ["axis"]),
        ({"data": True, "weight": True, "other": True}, ["data"], ["other", "axis"]),
        ({"data": True, "axis": True, "other": False}, ["data"], ["other", "axis"]),
        ({"data": True}, ["data", "other"], ["axis"]),
    ],
)
def test_inputs_stand_in_the_order_of_the_functions_parameters_where_those_are_known(
    parameters: dict[str, bool], placed: list[str], named: list[str]
) -> None:
    call = call_of(CASE, "fake.thing", parameters)
    assert [parameter.neutral for parameter in call.positional] == placed
    assert [parameter.own for parameter in call.keywords] == named
