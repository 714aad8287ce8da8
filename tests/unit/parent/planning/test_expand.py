"""From a selection to trials: names, cases, dtypes, directions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.each import each

from opperf.catalog import SIZES, catalog, categories, operator
from opperf.domain.case import Case, DType
from opperf.domain.code import Code, SuiteCode
from opperf.domain.errors import InputError, WorkerFailure
from opperf.domain.message.replies import Discovery, Example, Meaning
from opperf.domain.message.requests import R, Request
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.suite import Suite, SuiteCase
from opperf.domain.tensor import TensorSpec
from opperf.parent.planning.cases import _own_words
from opperf.parent.planning.expand import expand
from opperf.parent.planning.selection import Selection
from opperf.parent.planning.suites import unmeasured
from opperf.parent.sources.shapes_file import Row

SCALED, SHIFTED, SPREAD_OUT = (Code(f"mine.py:{name}", "numpy") for name in ("scaled", "shifted", "spread_out"))
NULL, NUMPY = Side("null"), Side("numpy")

#: What the fake children say of names: of `np.add`, that it is the sum; of `np.kron`, that it exists.
MEANINGS = {
    "np.add": Meaning("numpy.add", "add", {"x1": "lhs", "x2": "rhs"}),
    "add": Meaning("numpy.add", "add", {"x1": "lhs", "x2": "rhs"}),
    "np.add_own": Meaning("np.add_own", "add", {"self": "lhs", "other": "rhs"}),
    "sum": Meaning("numpy.sum", "sum", {"a": "data", "axis": "axis"}),
    "np.sum": Meaning(
        "numpy.sum", "sum", {"a": "data", "axis": "axis"}, takes=("a", "axis", "dtype"), unlike=("axis",)
    ),
    "np.einsum": Meaning("np.einsum", takes=("subscripts", "*operands")),
    "np.sqrt": Meaning("np.sqrt", takes=("x",)),
    "np.kron": Meaning("np.kron", takes=("a", "b")),
    "np.piecewise": Meaning("np.piecewise"),
    "steady": Meaning("steady"),
    "code:mine.py:scaled": Meaning("mine.py:scaled", takes=("x", "alpha")),
    "code:mine.py:shifted": Meaning("mine.py:shifted", takes=("x", "beta")),
    "code:mine.py:spread_out": Meaning("mine.py:spread_out"),
    "conv2d": Meaning(operator="conv2d", reason="no images"),
    "keras.layers.Dense": Meaning("keras.layers.Dense", takes=("inputs", "training"), builds=("units", "activation")),
}


class Answers:
    """A fake child, which knows the meanings above and has one registered operator, `np.kron`."""

    def describe(self, side: Side, name: str | Code) -> Meaning:
        return MEANINGS.get(str(name), Meaning(near=("np.add",)))

    def discover(self, side: Side, path: str | Code | SuiteCode | None, size: str) -> Discovery:
        if path is None:
            return Discovery(("np.kron",))
        if path == "np.piecewise":
            return Discovery(reason="it calls a Python function")
        known = path == "np.kron" and size == "common"
        return Discovery(examples=(Example(KRON),) if known else ())

    def workload(self, side: Side, request: Request[R]) -> R:
        raise AssertionError("nothing is left to the user's own code")


class Silent:
    """A fake child that must not be asked."""

    def describe(self, side: Side, name: str | Code) -> Meaning:
        raise AssertionError(f"no child need be asked, and one was for `{name}`")

    def discover(self, side: Side, path: str | Code | SuiteCode | None, size: str) -> Discovery:
        raise AssertionError(f"no child need be asked, and one was for `{path}`")

    def workload(self, side: Side, request: Request[R]) -> R:
        raise AssertionError(f"no child need be asked, and one was to {request}")


KRON = Case("numpy:np.kron", {"a": TensorSpec((256, 256)), "b": TensorSpec((2,))})
describe, never = Answers(), Silent()


def trials(selection: Selection, *sides: Side, ask: Any = describe) -> tuple[Trial, ...]:
    """Return the trials of a selection."""
    return expand(selection, Settings(), sides or (NUMPY,), ask).trials


def cases(selection: Selection, *sides: Side) -> list[Case]:
    """Return the cases of a selection, forward only."""
    return [trial.case for trial in trials(selection, *sides) if trial.direction == "forward"]


# Names ---------------------------------------------------------------------------------------------------------------


def test_an_operator_has_its_common_case_forward_and_backward() -> None:
    result = trials(Selection(operators=("exp",)), ask=never)
    assert [(trial.case, trial.direction, trial.origin) for trial in result] == [
        (operator("exp").case("common"), "forward", "catalog:common"),
        (operator("exp").case("common"), "backward", "catalog:common"),
    ]


def test_an_operator_without_a_gradient_has_a_forward_alone() -> None:
    assert [trial.direction for trial in trials(Selection(operators=("argmax",)))] == ["forward"]


def test_asked_directions_are_measured_even_where_there_is_none() -> None:
    # The child says why there is none, and the record keeps the reason.
    result = trials(Selection(operators=("argmax",), directions=("backward", "backward")))
    assert [trial.direction for trial in result] == ["backward"]


@each(
    ("inputs", "attributes", "operator_name"),
    [
        ({"a": "8"}, {}, "numpy:np.sum"),  # the operator would sum along an axis that nobody gave
        ({"a": "8x8"}, {"axis": "0"}, "sum"),
        ({"a": "8x8"}, {"axis": "0", "dtype": "float64"}, "numpy:np.sum"),
        ({"data": "8x8"}, {}, "sum"),
        ({}, {"axis": "0"}, "sum"),
    ],
)
def test_a_name_of_a_framework_is_its_own_function_where_the_operator_would_be_another(
    inputs: dict[str, str], attributes: dict[str, str], operator_name: str
) -> None:
    rows = (inputs,) if inputs else ()
    (case,) = cases(Selection(operators=("numpy:np.sum",), inputs=rows, attributes=attributes))
    assert case.operator == operator_name
    if operator_name != "sum":
        assert (list(case.inputs), list(case.attributes)) == (list(inputs), list(attributes))


def test_a_function_of_any_number_of_operands_takes_them_by_any_name() -> None:
    for inputs in ({"operands": "2x2;2x2"}, {"first": "2x2", "1": "2x2"}):
        (case,) = cases(Selection(operators=("numpy:np.einsum",), inputs=(inputs,)))
        assert list(case.inputs) == list(inputs)


def test_an_alias_is_the_operator_and_is_not_measured_twice() -> None:
    assert len(trials(Selection(operators=("plus", "add", "add")))) == 2


def test_a_category_is_all_its_operators_in_order() -> None:
    expected = [name for name, known in catalog().items() if known.category == "softmax"]
    assert [case.operator for case in cases(Selection(categories=("softmax",)))] == expected


def test_everything_is_the_whole_catalog_and_what_a_framework_has_registered_beside_it() -> None:
    assert [case.operator for case in cases(Selection(every=True))] == [*catalog(), "numpy:np.kron"]


def test_whoever_waits_for_everything_is_told_how_many_operators_were_asked() -> None:
    told: list[tuple[str, int, int]] = []
    expand(Selection(every=True), Settings(), (NUMPY,), describe, progress=lambda *progress: told.append(progress))
    assert told == [("numpy", 0, 0), ("numpy", 1, 1)]


def test_everything_can_leave_out_what_a_framework_has_registered() -> None:
    result = expand(Selection(every=True), Settings(), (NUMPY,), describe, registered=False).trials
    assert {trial.case.operator for trial in result} == set(catalog())


def test_a_registered_operator_can_be_skipped_by_a_pattern() -> None:
    assert "numpy:np.kron" not in {case.operator for case in cases(Selection(every=True, skip=("numpy:*",)))}


def test_a_registered_operator_without_a_case_of_a_size_is_left_out_of_everything() -> None:
    assert "numpy:np.kron" not in {case.operator for case in cases(Selection(every=True, sizes=("small",)))}


def test_a_registered_operator_has_its_example_forward_and_backward() -> None:
    result = trials(Selection(operators=("numpy:np.kron",)))
    assert [(trial.case, trial.direction, trial.origin) for trial in result] == [
        (KRON, "forward", "registry:common"),
        (KRON, "backward", "registry:common"),
    ]
    assert {trial.side.implementation for trial in result} == {"np.kron"}


def test_an_example_that_is_a_sample_scaled_up_says_by_how_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Answers, "discover", lambda *asked: Discovery(examples=(Example(KRON, 64),)))
    result = trials(Selection(operators=("numpy:np.kron",)))
    assert [(trial.case, trial.origin) for trial in result] == [(KRON, "registry:common x64")] * 2


def test_a_name_that_the_framework_declines_has_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    declined = Meaning(reason="its list cannot be read", hint="install it")
    monkeypatch.setattr(Answers, "describe", lambda *asked: declined)
    with pytest.raises(InputError, match="its list cannot be read") as caught:
        trials(Selection(operators=("numpy:np.listed",)))
    assert caught.value.hint == "install it"


def test_an_example_takes_the_asked_dtype() -> None:
    (case,) = cases(Selection(operators=("numpy:np.kron",), dtypes=("float64",)))
    assert [tensor.dtype for tensor in case.tensors()] == ["float64", "float64"]


def test_a_framework_that_does_not_start_keeps_the_catalog_in_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*asked: Any) -> Any:
        raise WorkerFailure("no such interpreter", slug="exit")

    monkeypatch.setattr(Answers, "discover", broken)
    assert [case.operator for case in cases(Selection(every=True))] == list(catalog())


def test_an_example_without_floating_inputs_has_a_forward_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Case("numpy:np.kron", {"a": TensorSpec((2,), "int32"), "b": TensorSpec((2,), requires_grad=False)})
    monkeypatch.setattr(Answers, "discover", lambda *asked: Discovery(examples=(Example(whole),)))
    assert [trial.direction for trial in trials(Selection(operators=("numpy:np.kron",)))] == ["forward"]


def test_named_operators_come_before_those_of_a_category() -> None:
    names = [case.operator for case in cases(Selection(operators=("add",), categories=("softmax",)))]
    assert names[0] == "add"
    assert "softmax" in names


def test_what_is_skipped_by_a_pattern_is_left_out() -> None:
    names = {case.operator for case in cases(Selection(every=True, skip=("conv*", "ADD", "s?m")))}
    assert not {name for name in names if name.startswith("conv")}
    assert "sum" not in names
    assert "add" in names


def test_a_framework_name_of_a_known_function_is_its_operator_by_that_path() -> None:
    (forward, *_) = trials(Selection(operators=("numpy:np.add",)))
    assert (forward.case.operator, forward.side.implementation) == ("add", "numpy.add")


def test_a_framework_name_is_measured_on_that_framework_alone() -> None:
    result = trials(Selection(operators=("numpy:np.add",)), NULL, NUMPY)
    assert {trial.side.framework for trial in result} == {"numpy"}


def test_a_neutral_name_is_measured_on_every_side() -> None:
    result = trials(Selection(operators=("exp",), directions=("forward",)), NULL, NUMPY, ask=never)
    assert [trial.side for trial in result] == [NULL, NUMPY]


def test_an_unknown_framework_name_is_refused_with_near_ones() -> None:
    with pytest.raises(InputError) as caught:
        trials(Selection(operators=("numpy:np.ad",)))
    assert (caught.value.message, caught.value.slug) == ("no operator `numpy:np.ad`", "unknown_operator")
    assert caught.value.hint == "did you mean `numpy:np.add`?"


def test_an_unknown_function_needs_inputs() -> None:
    with pytest.raises(InputError, match=r"no default inputs for `numpy:np\.kron`") as caught:
        trials(Selection(operators=("numpy:np.kron",), sizes=("large",)))
    assert caught.value.slug == "no_inputs"


def test_a_function_without_inputs_by_rule_says_why() -> None:
    with pytest.raises(InputError, match=r"no default inputs for `numpy:np\.piecewise`: it calls a Python function"):
        trials(Selection(operators=("numpy:np.piecewise",)))


def test_an_unknown_function_takes_its_own_names_and_goes_forward() -> None:
    selection = Selection(operators=("numpy:np.kron",), inputs=({"a": "2x2", "b": (3, 3)},), attributes={"axis": "1"})
    (result,) = trials(selection)
    assert result.case == Case("numpy:np.kron", {"a": TensorSpec((2, 2)), "b": TensorSpec((3, 3))}, {"axis": 1})
    assert (result.direction, result.side.implementation, result.origin) == ("forward", "np.kron", "user")


def test_a_script_of_the_null_framework_needs_no_inputs() -> None:
    (result,) = trials(Selection(operators=("null:steady",)), NULL)
    assert result.case == Case("null:steady")


def test_an_operator_that_a_framework_lacks_is_a_trial_all_the_same() -> None:
    # The child will skip it with the reason.
    (forward, *_) = trials(Selection(operators=("numpy:conv2d",)))
    assert (forward.case.operator, forward.side.implementation) == ("conv2d", None)


@each(
    ("selection", "words"),
    [
        (Selection(operators=("sofmax",)), "did you mean `softmax`"),
        (Selection(operators=("zzzzzz",)), "opperf operators"),
        (Selection(categories=("reductions",)), "did you mean `reduction`"),
        (Selection(operators=("add",), sizes=("big",)), "known: small"),
        (Selection(operators=("add",), directions=("backwards",)), "did you mean `backward`"),
        (Selection(operators=("add",), dtypes=("float31",)), "no dtype `float31`"),
    ],
)
def test_an_unknown_word_is_refused_with_what_is_known(selection: Selection, words: str) -> None:
    with pytest.raises(InputError, match=words):
        trials(selection, ask=never)


@pytest.mark.parametrize("selection", [Selection(), Selection(operators=("add",), skip=("*",))])
def test_a_selection_of_nothing_is_refused(selection: Selection) -> None:
    with pytest.raises(InputError, match="nothing to measure") as caught:
        trials(selection)
    assert caught.value.slug == "empty_plan"


def test_a_suite_of_another_framework_is_refused_with_its_own() -> None:
    suite = Suite("step", "", (SuiteCase(Case("mxnet:nd.add")),))
    with pytest.raises(InputError, match="nothing to measure for the suite") as caught:
        trials(Selection(suite=suite))
    assert (caught.value.slug, caught.value.hint) == ("empty_plan", "they are operators of mxnet: `--framework mxnet`")


@pytest.mark.parametrize(
    ("selection", "named", "hint"),
    [
        (Selection(), "nothing to measure", "name operators"),
        (Selection(operators=("add",), skip=("a*",)), "for `add`", "`--skip` leaves them out"),
        (Selection(categories=("mx_reduction",)), "for `mx_reduction`", "they are operators of mxnet: `--framework mx"),
    ],
)
def test_a_selection_of_nothing_is_refused_with_why_nothing_is_left(
    selection: Selection, named: str, hint: str
) -> None:
    with pytest.raises(InputError) as caught:
        trials(selection)
    assert named in caught.value.message
    assert hint in str(caught.value.hint)


def test_an_input_that_a_frameworks_own_operator_does_not_take_is_refused() -> None:
    with pytest.raises(InputError, match=r"no input of numpy:np\.kron `c`") as caught:
        trials(Selection(operators=("numpy:np.kron",), inputs=({"a": "2x2", "c": "2x2"},)))
    assert caught.value.hint == "it takes a, b"
    assert trials(Selection(operators=("numpy:np.kron",), inputs=({"0": "2x2", "1": "2x2"},)))


def test_an_unknown_name_is_refused_before_any_child_is_asked() -> None:
    with pytest.raises(InputError, match="softmax"):
        trials(Selection(operators=("numpy:np.add", "sofmax")), ask=never)


# Cases ---------------------------------------------------------------------------------------------------------------


def test_each_size_is_a_case() -> None:
    result = cases(Selection(operators=("add",), sizes=SIZES))
    assert result == [operator("add").case(size) for size in SIZES]


def test_the_size_int64_is_a_case_of_more_elements_than_32_bits_count() -> None:
    (trial, *_) = trials(Selection(operators=("add",), sizes=("int64",)))
    assert trial.case.tensor("lhs").elements > 2**31 - 1
    assert trial.origin == "catalog:int64"


def test_an_operator_without_a_case_so_large_is_refused_by_name_and_left_out_of_its_category() -> None:
    with pytest.raises(InputError) as caught:
        trials(Selection(operators=("zeros",), sizes=("int64",)))
    assert caught.value.slug == "no_such_size"
    assert cases(Selection(categories=(operator("zeros").category,), sizes=("small", "int64")))


def test_each_dtype_is_a_case() -> None:
    result = cases(Selection(operators=("add",), dtypes=("float32", "fp16")))
    assert [case.tensor("lhs").dtype for case in result] == ["float32", "float16"]


def test_inputs_are_cases_of_the_user() -> None:
    selection = Selection(operators=("add",), inputs=({"lhs": "2x3", "rhs": "2x3"}, {"lhs": (4,), "rhs": (4,)}))
    assert [case.tensor("lhs").shape for case in cases(selection)] == [(2, 3), (4,)]
    assert {trial.origin for trial in trials(selection)} == {"user"}


def test_an_attribute_alone_changes_the_common_case() -> None:
    (result,) = cases(Selection(operators=("softmax",), attributes={"axis": "0"}))
    assert result.attributes["axis"] == 0
    assert result.inputs == operator("softmax").case("common").inputs


def test_an_attribute_is_for_those_operators_of_a_selection_that_take_it() -> None:
    def attributes(*operators: str | Code, **given: str) -> list[dict[str, Any]]:
        selection = Selection(operators, inputs=[{"x": "4x4"}], attributes=given)
        return [dict(trial.case.attributes) for trial in expand(selection, Settings(), [NUMPY], Answers()).trials]

    assert attributes(SCALED, SHIFTED, alpha="2", beta="3") == [{"alpha": 2}, {"beta": 3}]
    # What takes any name gets all that was given, and what none takes goes to each, which refuses it.
    assert attributes(SCALED, SPREAD_OUT, alpha="2", gamma="4") == [{"alpha": 2, "gamma": 4}] * 2
    assert attributes(SCALED, beta="3") == [{"beta": 3}]


def test_an_attribute_of_one_operator_leaves_another_its_default_inputs() -> None:
    selection = Selection(("softmax", "topk"), directions=("forward",), attributes={"k": "3"})
    softmax, topk = (trial.case for trial in expand(selection, Settings(), [NULL], Answers()).trials)
    assert softmax == operator("softmax").case("common")
    assert topk.attributes["k"] == 3


def test_the_frameworks_own_argument_names_are_translated() -> None:
    selection = Selection(operators=("add",), inputs=({"x1": "5", "rhs": "5"},))
    (result,) = cases(selection)
    assert [result.tensor(name).shape for name in ("lhs", "rhs")] == [(5,), (5,)]


def test_the_names_of_the_function_that_the_user_wrote_are_translated() -> None:
    selection = Selection(operators=("numpy:np.add_own",), inputs=({"self": "5", "x2": "5"},))
    (result,) = cases(selection)
    assert [result.tensor(name).shape for name in ("lhs", "rhs")] == [(5,), (5,)]


def test_neutral_names_are_not_translated() -> None:
    selection = Selection(operators=("add",), inputs=({"lhs": "5", "rhs": "5"},))
    assert len(trials(selection, ask=never)) == 2


def test_an_unknown_argument_name_is_refused_with_both_kinds_of_names() -> None:
    with pytest.raises(InputError, match=r"it takes lhs, rhs; numpy calls them x1, x2"):
        trials(Selection(operators=("add",), inputs=({"zzz": "5"},)))


def test_a_dtype_argument_follows_the_dtype() -> None:
    (result,) = cases(Selection(operators=("cast",), attributes={"dtype": "int8"}))
    assert result.attributes["dtype"] == DType("int8")


# Suites --------------------------------------------------------------------------------------------------------------


def suite(folder: Path, *entries: SuiteCase) -> Path:
    """Write a suite file."""
    path = folder / "suite.json"
    path.write_text(json.dumps(Suite("s", "test", entries).to_json()))
    return path


EXP = Case("exp", {"data": TensorSpec((3,))})


def test_the_cases_of_a_suite_are_measured_with_their_origins(tmp_path: Path) -> None:
    path = suite(tmp_path, SuiteCase(EXP, 2, "model.py:3"), SuiteCase(Case("argmax", {"data": TensorSpec((3,))})))
    result = trials(Selection(suite=path), ask=never)
    assert [(trial.case.operator, trial.direction, trial.origin) for trial in result] == [
        ("exp", "forward", "model.py:3"),
        ("exp", "backward", "model.py:3"),
        ("argmax", "forward", "user"),
    ]


def test_a_framework_name_in_a_suite_is_for_that_framework(tmp_path: Path) -> None:
    path = suite(tmp_path, SuiteCase(Case("numpy:np.kron", {"a": TensorSpec((2,))})), SuiteCase(EXP))
    result = trials(Selection(suite=path, directions=("forward",)), NULL, NUMPY, ask=never)
    assert [(trial.side.framework, trial.side.implementation) for trial in result] == [
        ("null", None),
        ("numpy", "np.kron"),
        ("numpy", None),
    ]


def test_an_unknown_operator_in_a_suite_is_refused_with_its_place(tmp_path: Path) -> None:
    path = suite(tmp_path, SuiteCase(EXP), SuiteCase(Case("zzzzz")))
    with pytest.raises(InputError, match=r"suite\.json: cases\[1\]"):
        trials(Selection(suite=path))


def test_operators_named_beside_a_suite_choose_from_its_cases_and_add_none(tmp_path: Path) -> None:
    path = suite(tmp_path, SuiteCase(EXP, 2), SuiteCase(operator("add").case("small"), 3), SuiteCase(EXP, 4, "b"))
    result = trials(Selection(suite=path, operators=("plus",), directions=("forward",)))
    assert [(trial.case, trial.count) for trial in result] == [(operator("add").case("small"), 3)]


def test_a_category_beside_a_suite_chooses_from_its_cases(tmp_path: Path) -> None:
    path = suite(tmp_path, SuiteCase(EXP), SuiteCase(operator("softmax").case("small")))
    assert [case.operator for case in cases(Selection(suite=path, categories=("softmax",)))] == ["softmax"]


def test_an_implementation_named_beside_a_suite_measures_the_cases_of_its_operator(tmp_path: Path) -> None:
    path = suite(tmp_path, SuiteCase(EXP), SuiteCase(operator("add").case("small")))
    result = trials(Selection(suite=path, operators=("numpy:np.add", "add"), directions=("forward",)))
    assert [(trial.case.operator, trial.side.implementation) for trial in result] == [
        ("add", "numpy.add"),
        ("add", None),
    ]


def test_a_name_that_a_suite_itself_has_chooses_without_asking_a_child(tmp_path: Path) -> None:
    kron = Case("numpy:np.kron", {"a": TensorSpec((2,))})
    path = suite(tmp_path, SuiteCase(kron), SuiteCase(EXP))
    result = trials(Selection(suite=path, operators=("numpy:np.kron",), directions=("forward",)), ask=never)
    assert [trial.case for trial in result] == [kron]


def test_an_operator_that_a_suite_has_no_case_of_is_refused_with_those_it_has(tmp_path: Path) -> None:
    path = suite(tmp_path, SuiteCase(EXP), SuiteCase(Case("mxnet:nd.add", {"lhs": TensorSpec((2,))})))
    with pytest.raises(InputError, match="no case of `add`") as caught:
        trials(Selection(suite=path, operators=("exp", "add")))
    assert (caught.value.hint, caught.value.slug) == ("it has `mxnet:nd.add`, `exp`", "not_in_suite")


def test_patterns_leave_out_cases_of_a_suite(tmp_path: Path) -> None:
    path = suite(tmp_path, SuiteCase(EXP), SuiteCase(operator("add").case("small")))
    assert [case.operator for case in cases(Selection(suite=path, skip=("e*",)))] == ["add"]


def test_a_dtype_is_that_of_a_suites_float32_tensors_too(tmp_path: Path) -> None:
    result = cases(Selection(suite=suite(tmp_path, SuiteCase(EXP)), dtypes=("float64",)))
    assert [case.tensor("data").dtype for case in result] == ["float64"]


def test_equal_cases_of_a_suite_are_one_that_occurs_as_often_as_all(tmp_path: Path) -> None:
    origins = ("a", "b", "a", "c", "d", "e")
    path = suite(tmp_path, *(SuiteCase(EXP, count, origin) for count, origin in enumerate(origins, 1)))
    (result,) = trials(Selection(suite=path, directions=("forward",)))
    assert (result.count, result.origin) == (21, "a, b, c, 2 more")


@pytest.mark.parametrize(
    ("option", "given"),
    [
        ("--input", {"inputs": ({"data": "3"},)}),
        ("--attribute", {"attributes": {"axis": "1"}}),
        ("--size", {"sizes": ("small",)}),
        ("--random", {"random": 3}),
        ("--all", {"every": True}),
    ],
)
def test_what_a_suite_leaves_no_room_for_is_refused(option: str, given: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=option):
        trials(Selection(suite=suite(tmp_path, SuiteCase(EXP)), **given))


def test_cases_that_no_chosen_framework_has_are_noted() -> None:
    mxnet = SuiteCase(Case("mxnet:nd.add"))
    chosen = Selection(suite=Suite("step", "", (mxnet, SuiteCase(EXP), mxnet)))
    assert unmeasured(chosen, {"mxnet", "numpy"}) == []
    assert unmeasured(chosen, {"numpy"}) == [
        "2 of 3 cases of step are mxnet's own operators, and are measured with `--framework mxnet` only"
    ]


def test_cases_of_layers_are_noted_where_no_framework_runs_their_library() -> None:
    chosen = Selection(suite=Suite("step", "", (SuiteCase(Case("keras:layers.Dense")),)))
    assert unmeasured(chosen, {"jax"}) == []
    hosts = "`--framework tensorflow` or `--framework jax` or `--framework torch`"
    assert unmeasured(chosen, {"numpy"}) == [
        f"1 of 1 cases of step are keras's own operators, and are measured with {hosts} only"
    ]


# Rows of a file ------------------------------------------------------------------------------------------------------


def test_each_row_of_a_file_is_a_case_with_its_attributes() -> None:
    rows = (Row({"data": "4x8", "axis": "0"}, "s.csv:2"), Row({"data": [8, 8], "axis": 1}, "s.csv:3"))
    result = cases(Selection(operators=("softmax",), rows=rows))
    assert [(case.tensor("data").shape, case.attributes["axis"]) for case in result] == [((4, 8), 0), ((8, 8), 1)]


def test_a_row_of_a_framework_s_own_function_has_inputs_and_attributes() -> None:
    (case,) = cases(Selection(operators=("null:steady",), rows=(Row({"a": "4x4", "axis": "1"}, "s.csv:2"),)), NULL)
    assert (list(case.inputs), case.attributes) == (["a"], {"axis": 1})


def test_a_row_that_an_operator_does_not_take_is_refused_with_its_line() -> None:
    for row, told in (({"lhz": "4"}, "no input of add `lhz`"), ({"lhs": "4y"}, "`4y` is not a shape")):
        with pytest.raises(InputError, match=rf"^s\.csv:2: .*{told}"):
            trials(Selection(operators=("add",), rows=(Row(row, "s.csv:2"),)))


def test_a_shape_for_every_input_is_refused_where_nobody_knows_which_those_are() -> None:
    with pytest.raises(InputError, match="does not know which arguments of `null:steady` are tensors"):
        trials(Selection(operators=("null:steady",), inputs=({"*": "8x8"},)), NULL)


def test_rows_and_inputs_are_not_given_together() -> None:
    with pytest.raises(InputError, match="`--input` and `--shapes`"):
        trials(Selection(operators=("exp",), inputs=({"data": "3"},), rows=(Row({"data": "4"}, "s.csv:2"),)))


# Equal inputs --------------------------------------------------------------------------------------------------------


def test_equal_inputs_are_measured_once_and_asked_for_at_each_place() -> None:
    given = [{"data": (n,)} for n in (3, 4, 3)]
    plan = expand(Selection(operators=("exp",), inputs=given, directions=("forward",)), Settings(), (NUMPY,), never)
    assert [trial.case.tensor("data").shape for trial in plan.trials] == [(3,), (4,)]
    assert [trial.case.tensor("data").shape for trial in plan.selection] == [(3,), (4,), (3,)]
    assert plan.again == 1


def test_a_dtype_that_changes_nothing_adds_no_case() -> None:
    chosen = Selection(operators=("exp",), dtypes=("float32", "fp32"), values=("uniform", "uniform"))
    assert len(expand(chosen, Settings(), (NUMPY,), never).selection) == 2


def test_every_category_can_be_planned() -> None:
    for name in categories():
        assert trials(Selection(categories=(name,)), ask=never)


def test_a_suite_says_in_which_directions_its_cases_are_measured_unless_others_are_asked_for(tmp_path: Path) -> None:
    path = suite(tmp_path, SuiteCase(EXP, directions=("forward",)), SuiteCase(operator("add").case("small")))
    result = [(trial.case.operator, trial.direction) for trial in trials(Selection(suite=path))]
    assert result == [("exp", "forward"), ("add", "forward"), ("add", "backward")]
    asked = [
        (trial.case.operator, trial.direction) for trial in trials(Selection(suite=path, directions=("backward",)))
    ]
    assert asked == [("exp", "backward"), ("add", "backward")]


def test_a_direction_that_a_suite_cannot_mean_is_refused_with_its_place(tmp_path: Path) -> None:
    path = suite(tmp_path, SuiteCase(EXP, directions=("sideways",)))
    with pytest.raises(InputError, match=r'suite\.json: cases\[0\]\.directions\[0\]: found "sideways"'):
        trials(Selection(suite=path))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_inputs_of_a_frameworks_own_operator_are_within_its_domain(dtype: str) -> None:
    selection = Selection(operators=("numpy:np.sqrt",), inputs=({"x": "64"},), dtypes=(dtype,))
    (made,) = cases(selection)
    assert made["x"] == TensorSpec((64,), dtype, range=(0.1, 2.0))


def test_a_suite_that_says_nothing_of_values_is_within_the_domain_of_its_operators() -> None:
    suite = Suite("s", "user", (SuiteCase(Case("numpy:np.log", {"x": TensorSpec((4,))})),))
    (made,) = cases(Selection(suite=suite))
    assert made["x"] == TensorSpec((4,), range=(0.1, 2.0))


def dense(*sides: Side, **attributes: object) -> tuple[Trial, ...]:
    """Return the trials of a layer of Keras, named with its attributes."""
    selection = Selection(("keras:layers.Dense",), inputs=({"inputs": "32x128"},), attributes=attributes)
    return trials(selection, *sides)


def test_a_layer_is_the_same_case_on_each_framework_that_runs_its_library() -> None:
    there = dense(Side("tensorflow"), Side("jax"), Side("torch"), NUMPY, units=64)
    assert [trial.side.framework for trial in there] == ["tensorflow"] * 2 + ["jax"] * 2 + ["torch"] * 2
    assert {trial.side.implementation for trial in there} == {"keras.layers.Dense"}
    assert {trial.direction for trial in there} == {"forward", "backward"}
    assert len({trial.case.id for trial in there}) == 1


def test_an_attribute_of_a_layer_that_only_its_constructor_takes_needs_no_prefix() -> None:
    case = dense(Side("jax"), units=64, training=True)[0].case
    assert case.attributes == {"build.units": 64, "training": True}
    assert dense(Side("jax"), **{"build.units": 64, "training": True})[0].case == case


def test_an_attribute_that_a_layer_does_not_take_is_refused() -> None:
    with pytest.raises(InputError, match=r"no attribute of keras:layers\.Dense `unit`"):
        dense(Side("jax"), unit=64)


def test_layers_say_which_frameworks_run_them() -> None:
    with pytest.raises(InputError) as caught:
        dense(NUMPY, units=64)
    assert caught.value.hint == "keras runs on tensorflow, jax, torch: `--framework tensorflow`"


def test_a_layer_by_its_path_in_one_framework_is_that_of_its_library() -> None:
    selection = Selection(("jax:keras.layers.Dense",), inputs=({"inputs": "32x128"},))
    assert trials(selection, Side("jax"))[0].case.operator == "keras:layers.Dense"


def test_the_users_functions_give_the_words_of_the_operator_that_they_implement() -> None:
    class Own(Answers):
        def describe(self, side: Side, name: str | Code) -> Meaning:
            return {
                "code:mine:f": Meaning("f", "add", {"x": "lhs"}),
                "code:mine:g": Meaning("g", "sum", {"y": "data"}),
            }[str(name)]

    selection = Selection(("add", Code("mine:f"), Code("mine:g")))
    assert _own_words(selection, operator("add"), NUMPY, Own()) == {"x": "lhs"}


def test_a_name_that_spellings_of_an_operator_share_is_told_with_those_of_the_suite(tmp_path: Path) -> None:
    path = suite(tmp_path, SuiteCase(EXP), SuiteCase(Case("torch:aten::add_.Tensor", {"0": TensorSpec((2,))})))
    with pytest.raises(InputError, match="no case of `add`") as caught:
        trials(Selection(suite=path, operators=("add",)))
    assert caught.value.hint == "it has `torch:aten::add_.Tensor`, `exp`"
