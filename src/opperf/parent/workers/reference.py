"""What neutral operators should compute, and whether a side's implementation does: asked before anything is timed.

The side's child evaluates the operator's small case into files. A child of NumPy and SciPy evaluates the same case,
from the same bits, in float64, and compares. It is started when there is something to compare, serves every side of a
command, and sleeps while samples are taken: nothing asks it then. Without it a run goes on unchecked, and says so.

What a layer of a library that runs on several frameworks should compute is what the first of them computes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from importlib.util import find_spec
from typing import TypeAlias

from opperf.catalog import Operator, catalog
from opperf.domain import plan
from opperf.domain.case import Case, map_tensors
from opperf.domain.code import Code
from opperf.domain.errors import OperatorFailure, OpperfError, WorkerFailure
from opperf.domain.files.destination import ScratchFolder
from opperf.domain.message.replies import Output
from opperf.domain.message.requests import Ask, Compare, Evaluate, R, Request
from opperf.domain.operator_group import group_of
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.registry import LAYER_LIBRARIES, LayerLibrary, split_implementation
from opperf.domain.tensor import FLOAT8, TensorSpec
from opperf.parent.documents.environment import CURRENT, EnvironmentSpec, preset
from opperf.parent.workers.environments import is_built
from opperf.parent.workers.interpreters import imports_here
from opperf.parent.workers.process import Launch, Worker
from opperf.parent.workers.starting import start

#: The tensors that a child wrote.
Outputs: TypeAlias = tuple[Output, ...]
#: The categories whose results are rounded once, or nearly: those that can be compared in eight bits.
ONE_STEP = ("elementwise_unary", "elementwise_binary", "broadcast")

#: The most elements of inputs whose results are compared with those of another framework, or of an operator that your
#: own function stands in for: that is Python's work, element by element.
MOST_COMPARED = 1 << 20


class NotChecked(Exception):
    """Why an implementation was not compared with the reference."""


class Reference:
    """Checks each implementation of a neutral operator once, in each element type. Close it with its command."""

    def __init__(self, settings: Settings, progress: Callable[[str], None]) -> None:
        self._settings = settings
        self._progress = progress
        self.worker: Worker | None = None
        #: Whether the child is still importing what it computes with.
        self._importing = False
        self._against = ""
        self._broken: str | None = None
        self._folder: ScratchFolder | None = None
        self._expected: dict[str, Outputs] = {}
        #: Which framework computed a layer first, and what, by case.
        self._first: dict[str, tuple[str, Outputs]] = {}
        self._results: dict[tuple[object, ...], str | OperatorFailure] = {}

    def for_job(self, settings: Settings) -> Reference:
        """Return a reference for one of several jobs, with a child of its own; what is checked is common to all."""
        other = Reference(settings, self._progress)
        other._results = self._results
        return other

    def begin(self, *trials: Trial) -> None:
        """Start the child, if it is needed, to import its packages while the children of these trials import theirs.

        `check` waits for it before anything is timed, whether or not it is asked. Its environment is not built here.
        """
        for trial in trials:
            if self.worker is not None or self._broken is not None:
                break
            small = self._small(trial) if trial.case.operator in catalog() else None
            if small is None or small.key in self._results or self._why_not(small) is not None:
                continue
            if (environment := _environment()) == CURRENT or is_built(environment):
                with suppress(NotChecked):  # `check` says so where it asks
                    self._begin()

    def check(self, trial: Trial, ask: Ask) -> Mapping[str, str]:
        """Return the fact of what a trial's implementation was checked against, or why it was not.

        There is none for what is neither a neutral operator nor a layer that several frameworks have. Raises
        `OperatorFailure` for an implementation that computes something else, at each of its trials, and what `ask`
        raises when the child is lost.
        """
        try:
            small = self._small(trial)
            if small is None:
                return {}
            if small.key not in self._results:
                self._results[small.key] = self._look(small, ask)
            result = self._results[small.key]
        finally:
            self._settle()
        if isinstance(result, OperatorFailure):
            raise result
        return {"checked": result}

    def check_beside(self, base: Trial, new: Trial, ask_base: Ask, ask_new: Ask) -> Mapping[str, str]:
        """Return the fact of what your own function was checked against that stands in for a framework's operator.

        There is none where a neutral operator says what to compute, since the function's own child checks it by that.
        Raises as `check` does.
        """
        name, owns = base.case.operator, isinstance(base.side.implementation, Code)
        is_own = isinstance(new.side.implementation, Code) and not owns and base.case.id == new.case.id
        unchecked = self._settings.check_of(new.side) == plan.UNCHECKED or base.side.framework == "null"
        if not is_own or unchecked or name in catalog() or split_implementation(name)[0] is None:
            return {}
        key = ("beside", base.key, new.key)
        if key not in self._results:
            self._results[key] = self._look_beside(base, new, ask_base, ask_new)
        if isinstance(result := self._results[key], OperatorFailure):
            raise result
        return {"checked": result}

    def _look_beside(self, base: Trial, new: Trial, ask_base: Ask, ask_new: Ask) -> str | OperatorFailure:
        """Compare what both return, as far as the function returns as much."""
        if group_of(base.case.operator) == "random":
            return "no: its results are random"
        if sum(tensor.elements for tensor in base.case.tensors()) > MOST_COMPARED:
            return f"no: its inputs have more than {MOST_COMPARED} elements"
        try:
            expected = self._evaluate(replace(base, direction="forward"), "base", ask_base)
            results = self._evaluate(replace(new, direction="forward"), "new", ask_new)
            count, seed = min(len(results), len(expected)), self._settings.seed
            self._ask(Compare(base, seed, results[:count], expected[:count], f"`{base.case.operator}`"))
        except NotChecked as why:
            return f"no: {why}"
        except OperatorFailure as failure:
            return failure if failure.reason.slug == "wrong_result" else f"no: {failure.message}"
        return f"against `{base.case.operator}`"

    def _small(self, trial: Trial) -> Trial | None:
        """Return the trial of a small case that is compared, None where nothing says what it should compute."""
        definition, shared = catalog().get(trial.case.operator), _library(trial) is not None
        if (
            not (definition or shared)
            or self._settings.check_of(trial.side) == plan.UNCHECKED
            or not _comparable(trial.side)
        ):
            return None
        case = definition.small_case(trial.case) if definition else _of_two(trial.case)
        return Trial(case, trial.side, "forward")

    def close(self) -> None:
        """End the child, and forget what it computed."""
        if self.worker is not None:
            if self._importing:
                self.worker.kill()  # it hears nothing while it imports
            else:
                self.worker.close()
            self.worker, self._importing = None, False
        if self._folder is not None:
            self._folder.close()
            self._folder = None
        self._expected.clear()
        self._first.clear()

    def _look(self, small: Trial, ask: Ask) -> str | OperatorFailure:
        try:
            against = self._compare(small, ask)
        except NotChecked as why:
            return f"no: {why}"
        except OperatorFailure as wrong:
            return wrong
        return f"against {against}"

    def _compare(self, small: Trial, ask: Ask) -> str:
        """Compare the results of a small case, and return with whose.

        Raises `NotChecked`, and `OperatorFailure` where they differ.
        """
        definition = catalog().get(small.case.operator)
        if (why := self._why_not(small)) is not None:
            raise NotChecked(why)
        is_first = definition is None and small.case.id not in self._first
        try:
            results = self._evaluate(small, small.case.id if is_first else "found", ask)
        except OperatorFailure as failure:
            raise NotChecked(f"its small case failed: {failure.message}") from failure
        if is_first:
            self._first[small.case.id] = small.side.framework, results
            raise NotChecked("it is the reference for the others")
        if definition is None:
            against, expected = self._first[small.case.id]
            count = min(len(results), len(expected))
        else:
            expected = self._reference(small.case)
            against, count = self._against, len(definition.outputs(small.case))
        # Some functions return more than the operator: the places of what they sorted, the state of a layer.
        try:
            self._ask(Compare(small, self._settings.seed, results[:count], expected[:count], against))
        except OperatorFailure as failure:
            if failure.reason.slug != "wrong_result":
                raise NotChecked(f"the results cannot be compared: {failure.message}") from failure
            raise
        return against

    def _why_not(self, small: Trial) -> str | None:
        """Return why a small case is not compared, None where it is."""
        definition = catalog().get(small.case.operator)
        return (_unlike(definition, small) if definition else _unlike_layer(small)) or self._broken

    def _reference(self, case: Case) -> Outputs:
        """Return the expected results of a case, once for all sides."""
        if case.id not in self._expected:
            try:
                self._expected[case.id] = self._evaluate(Trial(case, _side(), "forward"), case.id, self._ask)
            except OperatorFailure as failure:
                raise NotChecked(f"the reference failed: {failure.message}") from failure
        return self._expected[case.id]

    def _evaluate(self, trial: Trial, name: str, ask: Ask) -> Outputs:
        if self._folder is None:
            self._folder = ScratchFolder("check")
        folder = self._folder.path / name
        folder.mkdir(exist_ok=True)
        return ask(Evaluate(trial, self._settings.seed, str(folder))).outputs

    def _ask(self, request: Request[R]) -> R:
        """Ask the reference; a child that is lost is replaced when the next operator is checked."""
        worker = self._start()
        try:
            return worker.ask(request, self._settings.timeout)
        except WorkerFailure as lost:
            self.worker = None
            raise NotChecked(f"the reference process ended: {lost.message}") from lost

    def _start(self) -> Worker:
        """Return the child, which has said hello."""
        worker = self._begin()
        if self._importing:
            self._importing = False
            with self._explained():
                worker.greet()
            facts = worker.facts
            self._against = f"NumPy {facts.get('version')} and SciPy {facts.get('scipy')} in float64"
        return worker

    def _begin(self) -> Worker:
        """Return the child, which may still be starting."""
        if self.worker is None:
            with self._explained():
                self.worker, _ = start(_side(), Launch(self._settings.cpus), progress=self._progress, greet=False)
            self._importing = True
        return self.worker

    def _settle(self) -> None:
        """Wait for a child that nobody has asked: it must not import while something is timed."""
        if self._importing:
            with suppress(NotChecked):
                self._start()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say what keeps the child from starting, and let nothing start it again."""
        try:
            yield
        except OpperfError as error:
            if self.worker is not None:
                self.worker.kill()
            self.worker, first = None, str(error).partition("\n")[0]
            self._broken = f"the reference does not start: {first}"
            self._progress(f"results are not checked: {self._broken}; turn the check off with `--no-check`")
            raise NotChecked(self._broken) from error


def _comparable(side: Side) -> bool:
    """Whether a side's results are compared here: null has none, and the user's own code is checked in its child."""
    return side.framework != "null" and not isinstance(side.implementation, Code)


def _library(trial: Trial) -> LayerLibrary | None:
    """Return the library of the layer that a trial is of, None for any other operator."""
    return LAYER_LIBRARIES.get(split_implementation(trial.case.operator)[0] or "")


def _of_two(case: Case) -> Case:
    """Return the case of a layer for a batch of two at most: the first extent of each of its inputs."""

    def change(tensor: TensorSpec) -> TensorSpec:
        is_settled = tensor.is_given or tensor.strides is not None
        return (
            tensor
            if is_settled
            else replace(tensor, shape=(*(min(2, extent) for extent in tensor.shape[:1]), *tensor.shape[1:]))
        )

    return replace(case, inputs={name: map_tensors(value, change) for name, value in case.inputs.items()})


def _unlike_layer(small: Trial) -> str | None:
    """Return why the results of a layer need not be those of another framework, or are not compared."""
    library, path = _library(small), str(small.side.implementation)
    if small.case.get("training") or (library and any(fnmatchcase(path, pattern) for pattern in library.unlike)):
        return "in training, a layer may be random"
    if sum(tensor.elements for tensor in small.case.tensors()) > MOST_COMPARED:
        return f"its inputs have more than {MOST_COMPARED} elements for a batch of two"
    return _recompile_reason(small)


def _recompile_reason(small: Trial) -> str | None:
    """Return why a compiled program for other shapes says nothing of the one that is measured."""
    if (small.side.framework, small.side.mode) == ("torch", "compiled"):
        # What it compiles for a second shape may be another program than what it would for that shape alone.
        return "torch.compile depends on earlier shapes; `--mode eager` is checked"
    return None


def _unlike(definition: Operator, small: Trial) -> str | None:
    """Return why results of a small case say nothing of the implementation, or cannot be had."""
    if definition.random:
        return "its results are random"
    floats, expected = (sum(one.is_float for one in case.tensors()) for case in (small.case, definition.case("small")))
    if floats < expected:
        return "with integers in place of floats, results overflow and round differently in each framework"
    if definition.category not in ONE_STEP and any(one.dtype in FLOAT8 for one in small.case.tensors()):
        return "in eight bits, the error of a sum of a few elements can be as large as the sum"
    return _recompile_reason(small)


def _side() -> Side:
    return Side("numpy", environment=_environment().text, settings=plan.REFERENCE)


def _environment() -> EnvironmentSpec:
    """Return where NumPy and SciPy are: here, or in an environment of their own."""
    return CURRENT if imports_here("numpy") and find_spec("scipy") is not None else preset("reference")
