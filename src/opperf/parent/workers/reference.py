"""What neutral operators should compute, and whether a side's implementation does: asked before anything is timed.

The side's child evaluates the operator's small case into files. A child of NumPy and SciPy evaluates the same case,
from the same bits, in float64, and compares. It is started when there is something to compare, serves every side of a
command, and sleeps while samples are taken: nothing asks it then. Without it a run goes on unchecked, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Protocol, TypeAlias

from opperf.catalog import Operator, catalog
from opperf.domain import plan
from opperf.domain.case import Case
from opperf.domain.code import Code
from opperf.domain.environment import CURRENT, EnvironmentSpec, preset
from opperf.domain.errors import OperatorFailure, OpperfError, WorkerFailure
from opperf.domain.files.destination import ScratchFolder
from opperf.domain.message.replies import Output
from opperf.domain.message.requests import Compare, Evaluate, R, Request
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.tensor import FLOAT8
from opperf.parent.workers.interpreters import imports_here
from opperf.parent.workers.process import Worker, start

#: The tensors that a child wrote.
Outputs: TypeAlias = tuple[Output, ...]
#: The categories whose results are rounded once, or nearly: those that can be compared in eight bits.
ONE_STEP = ("elementwise_unary", "elementwise_binary", "broadcast")


class Ask(Protocol):
    """Asks the child of a side."""

    def __call__(self, request: Request[R], /) -> R:
        """Return the reply."""


class NotChecked(Exception):
    """Why an implementation was not compared with the reference."""


class Reference:
    """Checks each implementation of a neutral operator once, in each element type. Close it with its command."""

    def __init__(self, settings: Settings, progress: Callable[[str], None]) -> None:
        self._settings = settings
        self._progress = progress
        self.worker: Worker | None = None
        self._against = ""
        self._broken: str | None = None
        self._folder: ScratchFolder | None = None
        self._expected: dict[str, Outputs] = {}
        self._results: dict[tuple[object, ...], str | OperatorFailure] = {}

    def for_job(self, settings: Settings) -> Reference:
        """Return a reference for one of several jobs, with a child of its own; what is checked is common to all."""
        other = Reference(settings, self._progress)
        other._results = self._results
        return other

    def check(self, trial: Trial, ask: Ask) -> Mapping[str, str]:
        """Return the fact of what a trial's implementation was checked against, or why it was not.

        There is none for what is no neutral operator. Raises `OperatorFailure` for an implementation that computes
        something else, at each of its trials, and what `ask` raises when the child is lost.
        """
        definition = catalog().get(trial.case.operator)
        if definition is None or not self._settings.check or not _comparable(trial.side):
            return {}
        small = Trial(definition.small_case(trial.case), trial.side, "forward")
        if small.key not in self._results:
            self._results[small.key] = self._look(definition, small, ask)
        result = self._results[small.key]
        if isinstance(result, OperatorFailure):
            raise result
        return {"checked": result}

    def close(self) -> None:
        """End the child, and forget what it computed."""
        if self.worker is not None:
            self.worker.close()
            self.worker = None
        if self._folder is not None:
            self._folder.close()
            self._folder = None
        self._expected.clear()

    def _look(self, definition: Operator, small: Trial, ask: Ask) -> str | OperatorFailure:
        try:
            self._compare(definition, small, ask)
        except NotChecked as why:
            return f"no: {why}"
        except OperatorFailure as wrong:
            return wrong
        return f"against {self._against}"

    def _compare(self, definition: Operator, small: Trial, ask: Ask) -> None:
        """Compare the results of a small case; raises `NotChecked`, and `OperatorFailure` where they differ."""
        why = _unlike(definition, small) or self._broken
        if why is not None:
            raise NotChecked(why)
        try:
            results = self._evaluate(small, "found", ask)
        except OperatorFailure as failure:
            raise NotChecked(f"its small case failed: {failure.message}") from failure
        expected = self._reference(small.case)
        # Some functions return more than the operator: the places of what they sorted.
        count = len(definition.outputs(small.case))
        try:
            self._ask(Compare(small, results[:count], expected[:count], self._against))
        except OperatorFailure as failure:
            if failure.reason.slug != "wrong_result":
                raise NotChecked(f"the results cannot be compared: {failure.message}") from failure
            raise

    def _reference(self, case: Case) -> Outputs:
        """Return what a case should compute, once for all sides."""
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
            raise NotChecked(f"the reference was lost: {lost.message}") from lost

    def _start(self) -> Worker:
        if self.worker is not None:
            return self.worker
        try:
            self.worker, _ = start(_side(), cpus=self._settings.cpus, progress=self._progress)
        except OpperfError as error:
            first = str(error).partition("\n")[0]
            self._broken = f"the reference does not start: {first}"
            self._progress(f"results are not checked: {self._broken}; turn the check off with `--no-check`")
            raise NotChecked(self._broken) from error
        facts = self.worker.facts
        self._against = f"NumPy {facts.get('version')} and SciPy {facts.get('scipy')} in float64"
        return self.worker


def _comparable(side: Side) -> bool:
    """Whether a side's results are compared here: null has none, and the user's own code is checked in its child."""
    return side.framework != "null" and not isinstance(side.implementation, Code)


def _unlike(definition: Operator, small: Trial) -> str | None:
    """Return why results of a small case say nothing of the implementation, or cannot be had."""
    if definition.random:
        return "its results are random"
    floats, expected = (sum(one.is_float for one in case.tensors()) for case in (small.case, definition.case("small")))
    if floats < expected:
        return "with integers in place of floats, results overflow and round differently in each framework"
    if definition.category not in ONE_STEP and any(one.dtype in FLOAT8 for one in small.case.tensors()):
        return "in eight bits, the error of a sum of a few elements can be as large as the sum"
    if (small.side.framework, small.side.mode) == ("torch", "compiled"):
        # What it compiles for a second shape may be another program than what it would for that shape alone.
        return "torch.compile depends on the shapes that it has seen; `--mode eager` is checked"
    return None


def _side() -> Side:
    return Side("numpy", environment=_environment().text, settings=plan.REFERENCE)


def _environment() -> EnvironmentSpec:
    """Return where NumPy and SciPy are: here, or in an environment of their own."""
    return CURRENT if imports_here("numpy") and find_spec("scipy") is not None else preset("reference")
