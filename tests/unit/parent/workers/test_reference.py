"""When an implementation is compared with the reference, how often, and what becomes of a run that has none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opperf.catalog import operator
from opperf.domain.case import Argument, Case
from opperf.domain.code import Code
from opperf.domain.errors import EnvironmentFailure, OperatorFailure, WorkerFailure
from opperf.domain.message.replies import Evaluation, Output
from opperf.domain.message.requests import Request, verb
from opperf.domain.plan import UNCHECKED, Settings, Side, Trial
from opperf.domain.reason import Reason
from opperf.domain.tensor import TensorSpec
from opperf.parent.workers.process import Launch
from opperf.parent.workers.reference import Reference

TORCH, JAX = Side("torch"), Side("jax")
#: What the reference calls itself.
NAME = "NumPy 2 and SciPy 1 in float64"


def trial(name: str = "add", side: Side = TORCH, direction: str = "forward", dtype: str = "float32") -> Trial:
    """Return a trial of the common size."""
    return Trial(operator(name).case("common").with_dtype(dtype), side, direction)


class Child:
    """A child that writes nothing, and notes what it was asked; `trouble` is raised by verb, once."""

    facts: Mapping[str, Any] = {"version": "2", "scipy": "1"}

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.trouble: dict[str, Exception] = {}
        self.greeted = self.closed = self.killed = 0

    def ask(self, request: Request[Any], timeout: float = 0) -> Any:
        self.asked.append(request)
        if verb(request) in self.trouble:
            raise self.trouble.pop(verb(request))
        return Evaluation((Output("output.bin", (), "float32"),) * 3)

    def verbs(self) -> list[str]:
        return [verb(request) for request in self.asked]

    def greet(self) -> None:
        self.greeted += 1
        if "greet" in self.trouble:
            raise self.trouble["greet"]

    def close(self) -> None:
        self.closed += 1

    def kill(self) -> None:
        self.killed += 1


@pytest.fixture
def starts() -> list[Side]:
    """The sides that a child was started for."""
    return []


@pytest.fixture
def numpy(monkeypatch: pytest.MonkeyPatch, starts: list[Side]) -> Child:
    """The child that the reference is."""
    child = Child()

    def start(side: Side, launch: Launch, **_: Any) -> tuple[Child, Path]:
        starts.append(side)
        if "start" in child.trouble:
            raise child.trouble["start"]
        return child, Path()

    monkeypatch.setattr("opperf.parent.workers.reference.start", start)
    return child


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def make(notes: list[str]) -> Callable[..., Reference]:
    """Make a reference with settings."""
    return lambda **settings: Reference(Settings(**settings), notes.append)


@pytest.fixture
def reference(make: Callable[..., Reference], numpy: Child) -> Iterator[Reference]:
    result = make(seed=7)
    yield result
    result.close()


@pytest.mark.parametrize(
    "unlike",
    [
        trial(side=Side("null")),
        replace(trial(), case=replace(trial().case, operator="torch:aten::mm")),
        trial(side=replace(TORCH, implementation=Code("mine:add"))),
    ],
    ids=["null", "no neutral operator", "the user's own code"],
)
def test_what_has_no_reference_starts_none(
    unlike: Trial, reference: Reference, numpy: Child, starts: list[Side]
) -> None:
    assert reference.check(unlike, numpy.ask) == {}
    assert (starts, numpy.asked) == ([], [])


def test_nothing_is_compared_when_nobody_wants_it(make: Callable[..., Reference], numpy: Child) -> None:
    assert make(check=UNCHECKED).check(trial(), numpy.ask) == {}
    assert numpy.asked == []


def test_the_small_case_is_evaluated_on_both_from_one_seed_and_compared(reference: Reference, numpy: Child) -> None:
    child = Child()
    assert reference.check(trial(dtype="float16"), child.ask) == {"checked": f"against {NAME}"}
    small = operator("add").case("small").with_dtype("float16")
    (asked,) = child.asked
    assert (verb(asked), asked.trial.case, asked.seed) == ("evaluate", small, 7)
    evaluate, compare = numpy.asked
    assert (verb(evaluate), evaluate.trial.case, evaluate.seed) == ("evaluate", small, 7)
    assert evaluate.trial.side.framework == "numpy"
    assert (verb(compare), compare.trial.case) == ("compare", small)


def test_only_the_tensors_of_the_catalog_are_compared(reference: Reference, numpy: Child) -> None:
    reference.check(trial("sort"), numpy.ask)
    compared = numpy.asked[-1]
    assert [len(compared.results), len(compared.expected)] == [1, 1]  # a framework may return the places too


def test_an_implementation_is_compared_once_in_each_element_type(reference: Reference) -> None:
    child = Child()
    for direction in ("forward", "backward", "forward"):
        reference.check(trial(direction=direction), child.ask)
    assert child.verbs() == ["evaluate"]
    reference.check(trial(dtype="float64"), child.ask)
    reference.check(trial(side=replace(TORCH, implementation="torch.add")), child.ask)
    assert child.verbs() == ["evaluate"] * 3


def test_one_result_of_the_reference_serves_all_sides(reference: Reference, numpy: Child, starts: list[Side]) -> None:
    for side in (TORCH, JAX):
        reference.check(trial(side=side), Child().ask)
    assert numpy.verbs() == ["evaluate", "compare", "compare"]
    assert len(starts) == 1


def test_a_wrong_implementation_fails_at_each_of_its_trials(reference: Reference, numpy: Child) -> None:
    numpy.trouble["compare"] = OperatorFailure(Reason("wrong_result", "element 0 is 1, and 2 of it"))
    for direction in ("forward", "backward"):
        with pytest.raises(OperatorFailure, match="element 0 is 1"):
            reference.check(trial(direction=direction), numpy.ask)
    assert reference.check(trial(side=JAX), numpy.ask) == {"checked": f"against {NAME}"}


@pytest.mark.parametrize(
    ("unlike", "why"),
    [
        (trial("dropout"), "no: its results are random"),
        (trial("divide", dtype="int32"), "no: with integers in place of floats"),
        (trial("sum", dtype="float8_e5m2"), "no: in eight bits, the error of a sum"),
        (trial(side=replace(TORCH, mode="compiled")), "no: torch.compile"),
    ],
    ids=["random", "whole numbers", "eight bits", "compiled"],
)
def test_what_cannot_be_compared_says_why_and_starts_nothing(
    unlike: Trial, why: str, reference: Reference, numpy: Child, starts: list[Side]
) -> None:
    assert reference.check(unlike, numpy.ask)["checked"].startswith(why)
    assert (starts, numpy.asked) == ([], [])


def test_a_small_case_that_fails_leaves_its_operator_unchecked(reference: Reference, numpy: Child) -> None:
    child = Child()
    child.trouble["evaluate"] = OperatorFailure(Reason("operator_error", "no float8"))
    assert reference.check(trial(), child.ask) == {"checked": "no: its small case failed: no float8"}
    assert numpy.asked == []


def test_an_operator_that_the_reference_lacks_is_unchecked(reference: Reference, numpy: Child) -> None:
    numpy.trouble["evaluate"] = OperatorFailure(Reason("operator_error", "no such function"))
    assert reference.check(trial(), Child().ask) == {"checked": "no: the reference failed: no such function"}


def test_results_that_cannot_be_compared_are_not_wrong(reference: Reference, numpy: Child) -> None:
    numpy.trouble["compare"] = OperatorFailure(Reason("operator_error", "no space left"))
    unchecked = {"checked": "no: the results cannot be compared: no space left"}
    assert reference.check(trial(), Child().ask) == unchecked


def test_a_child_that_is_lost_while_it_is_checked_is_told_as_any_other(reference: Reference) -> None:
    child = Child()
    child.trouble["evaluate"] = WorkerFailure("ended by SIGSEGV", slug="crash")
    with pytest.raises(WorkerFailure, match="SIGSEGV"):
        reference.check(trial(), child.ask)


def test_a_reference_that_is_lost_leaves_one_operator_unchecked(
    reference: Reference, numpy: Child, starts: list[Side]
) -> None:
    numpy.trouble["evaluate"] = WorkerFailure("ended by SIGSEGV", slug="crash")
    assert reference.check(trial(), Child().ask) == {"checked": "no: the reference process ended: ended by SIGSEGV"}
    assert reference.check(trial("subtract"), Child().ask) == {"checked": f"against {NAME}"}
    assert len(starts) == 2


def test_a_reference_that_cannot_be_had_is_told_once_and_tried_once(
    reference: Reference, numpy: Child, starts: list[Side], notes: list[str]
) -> None:
    numpy.trouble["start"] = EnvironmentFailure("`reference` cannot be built", hint="look at the network")
    unchecked = {"checked": "no: the reference does not start: `reference` cannot be built"}
    for name in ("add", "subtract"):
        assert reference.check(trial(name), Child().ask) == unchecked
    assert len(starts) == 1
    (told,) = notes
    assert told.startswith("results are not checked: the reference does not start: `reference` cannot be built")


def test_what_was_written_is_gone_with_the_reference(reference: Reference, numpy: Child) -> None:
    reference.check(trial(), numpy.ask)
    folder = Path(numpy.asked[0].folder).parent
    assert folder.is_dir()
    reference.close()
    assert (folder.exists(), numpy.closed) == (False, 1)


def layer(side: Side, *shape: int, name: str = "Dense", **attributes: Argument) -> Trial:
    """Return a trial of a layer of Keras."""
    case = Case(f"keras:layers.{name}", {"inputs": TensorSpec(shape or (32, 8))}, {"build.units": 4, **attributes})
    return Trial(case, replace(side, implementation=f"keras.layers.{name}"), "backward")


def test_a_layer_is_compared_with_what_the_first_framework_computed(reference: Reference, numpy: Child) -> None:
    first, second = Child(), Child()
    assert reference.check(layer(TORCH), first.ask) == {"checked": "no: it is the reference for the others"}
    assert numpy.asked == []
    assert reference.check(layer(JAX), second.ask) == {"checked": "against torch"}
    (evaluate,) = first.asked
    assert (evaluate.trial.direction, evaluate.trial.case.inputs["inputs"].shape) == ("forward", (2, 8))
    assert evaluate.trial.case == second.asked[0].trial.case
    assert evaluate.folder != second.asked[0].folder
    (compare,) = numpy.asked
    assert (verb(compare), compare.against) == ("compare", "torch")


def test_a_layer_that_computes_something_else_is_not_measured(reference: Reference, numpy: Child) -> None:
    reference.check(layer(TORCH), Child().ask)
    numpy.trouble["compare"] = OperatorFailure(Reason("wrong_result", "element 0 is 1, and 2 of torch"))
    for _ in range(2):
        with pytest.raises(OperatorFailure, match="element 0 is 1"):
            reference.check(layer(JAX), Child().ask)


@pytest.mark.parametrize(
    ("unlike", "why"),
    [
        (layer(TORCH, training=True), "may be random"),
        (layer(TORCH, name="RandomFlip"), "may be random"),
        (layer(TORCH, 32, 1 << 20), "more than 1048576 elements"),
        (layer(replace(TORCH, mode="compiled")), "torch.compile"),
    ],
)
def test_layers_that_need_not_agree_are_not_compared(unlike: Trial, why: str, reference: Reference) -> None:
    child = Child()
    assert why in reference.check(unlike, child.ask)["checked"]
    assert child.asked == []


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy and SciPy are there, wherever these tests run."""
    monkeypatch.setattr("opperf.parent.workers.reference.is_built", lambda _: True)


@pytest.mark.usefixtures("installed")
def test_a_reference_that_is_needed_starts_ahead_and_is_waited_for_when_it_is_asked(
    reference: Reference, numpy: Child, starts: list[Side]
) -> None:
    reference.begin(trial())
    assert (len(starts), numpy.greeted, numpy.asked) == (1, 0, [])
    assert reference.check(trial(), Child().ask) == {"checked": f"against {NAME}"}
    reference.begin(trial("subtract"))
    assert (len(starts), numpy.greeted) == (1, 1)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    "other",
    [
        trial(side=Side("null")),
        trial("dropout"),
        trial(side=replace(TORCH, implementation=Code("mine:add"))),
        trial(side=replace(TORCH, mode="compiled")),
    ],
    ids=["null", "random", "the user's own code", "compiled"],
)
def test_a_reference_that_is_not_needed_does_not_start_ahead(
    other: Trial, reference: Reference, numpy: Child, starts: list[Side]
) -> None:
    reference.begin(other)
    assert starts == []


def test_nothing_is_built_ahead(reference: Reference, starts: list[Side], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opperf.parent.workers.reference.imports_here", lambda _: False)
    monkeypatch.setattr("opperf.parent.workers.reference.is_built", lambda _: False)
    reference.begin(trial())
    assert starts == []


@pytest.mark.usefixtures("installed")
def test_no_child_imports_while_something_is_timed_though_nobody_asks_it(reference: Reference, numpy: Child) -> None:
    child = Child()
    child.trouble["evaluate"] = OperatorFailure(Reason("operator_error", "not here"))
    reference.begin(trial())
    assert reference.check(trial(), child.ask) == {"checked": "no: its small case failed: not here"}
    assert numpy.greeted == 1
    assert numpy.asked == []


@pytest.mark.usefixtures("installed")
def test_a_reference_that_fails_while_it_starts_ahead_is_told_once(
    reference: Reference, numpy: Child, starts: list[Side], notes: list[str]
) -> None:
    numpy.trouble["greet"] = WorkerFailure("it died", slug="exit")
    reference.begin(trial())
    for name in ("add", "subtract"):
        assert reference.check(trial(name), Child().ask) == {"checked": "no: the reference does not start: it died"}
        reference.begin(trial("multiply"))
    assert (len(starts), len(notes), numpy.killed) == (1, 1, 1)


@pytest.mark.usefixtures("installed")
def test_a_reference_that_still_imports_when_it_is_closed_is_killed(reference: Reference, numpy: Child) -> None:
    reference.begin(trial())
    reference.close()
    assert (numpy.closed, numpy.killed) == (0, 1)
