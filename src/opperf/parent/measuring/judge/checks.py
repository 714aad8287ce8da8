"""Whether a candidate is right, before anything is timed: small cases, then the size that is timed, then neighbours.

Every call is inspected here. What is timed later is inspected again, since a function may tell the one from the other.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from opperf.catalog import catalog
from opperf.domain.case import Case, map_tensors
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import OperatorFailure, OpperfError
from opperf.domain.plan import Trial
from opperf.domain.problem import OpenedProblem
from opperf.domain.tensor import TensorSpec
from opperf.parent.documents.candidates import Evidence
from opperf.parent.measuring.judge.bench import FEW_SLOTS, Bench
from opperf.parent.measuring.judge.failing import (
    Failing,
    check_outlines,
    check_places,
    failing_at_first,
    failure_of,
    inspect,
    layout_remarks,
    with_slug,
)
from opperf.parent.measuring.judge.seat import Seat

#: Of a problem, so many cases are checked that its files list, but for the one that is timed, and that they do not.
MOST_LISTED, MOST_HIDDEN = 3, 2
#: How values are distributed of which a case is checked, in turn: those of the case, and then harder ones.
KINDS = (
    "plain", "magnitudes", "spike", "positive", "mixed", "sorted", "clustered", "constant_rows", "large", "vary",
)  # fmt: skip
#: Those of what is constant: such values are drawn once, and have to suit every reference.
OF_CONSTANTS = tuple(kind for kind in KINDS if kind not in ("plain", "large", "vary"))


@dataclass(frozen=True)
class Stage:
    """A case to check, and what it is called: `tiny`, `size`, `listed`, or `other`.

    A candidate may refuse sizes, but not those that are `required`: the problem's own. What is constant is drawn in a
    `harder` way in one stage.
    """

    name: str
    case: Case
    harder: bool = False
    required: bool = False


def stages(case: Case) -> list[Stage]:
    """Return the cases in which a candidate for a case is checked, smallest first."""
    definition = catalog().get(case.operator)
    tiny = definition.small_case(case) if definition is not None else _with_extents(case, lambda size: min(size, 3))
    others = [_with_extents(case, lambda size: size + 1), _with_extents(case, lambda size: max(1, size - size // 3))]
    return [Stage("tiny", tiny), Stage("size", case), *(Stage("other", one) for one in others)]


def problem_stages(problem: OpenedProblem) -> list[Stage]:
    """Return the cases in which a candidate for a problem is checked: the smallest listed one first."""
    timed, *others = problem.cases
    others.sort(key=lambda case: case.input_bytes)
    smaller = [Stage("tiny", case, required=True) for case in others[:1]]
    more = [Stage("listed", case, required=True) for case in others[1:MOST_LISTED]]
    return [*smaller, Stage("size", timed), *more, *(Stage("other", case) for case in problem.hidden[:MOST_HIDDEN])]


def _with_extents(case: Case, change: Callable[[int], int]) -> Case:
    """Return a case with other extents, the same for all that were alike; those of one stay."""

    def of(spec: TensorSpec) -> TensorSpec:
        if spec.is_given or spec.strides is not None:
            return spec
        shape = tuple(size if size <= 1 else change(size) for size in spec.shape)
        return replace(spec, shape=shape)

    inputs = {name: map_tensors(value, of) for name, value in case.inputs.items()}
    return replace(case, inputs=inputs)


class Checks:
    """Checks candidates on one bench."""

    def __init__(self, bench: Bench) -> None:
        """Find out which stages the reference takes."""
        self._bench = bench
        own = problem_stages(bench.problem) if bench.problem else stages(bench.trial.case)
        self.stages = list(self._usable(own))
        if bench.constant:
            self.stages.append(Stage("size", bench.trial.case, harder=True))

    def _usable(self, every: Sequence[Stage]) -> Iterator[Stage]:
        usable: set[Case] = set()
        for stage in every:
            if stage.case in usable:
                continue
            try:
                self._bench.lay(stage.case, FEW_SLOTS)
            except OperatorFailure:
                if stage.name == "size":
                    raise
                continue
            usable.add(stage.case)
            yield stage

    @property
    def sittings(self) -> list[list[Stage]]:
        """The stages that one process sees: all, but one where something is constant, which has one value there."""
        return [[stage] for stage in self.stages] if self._bench.constant else [self.stages]

    def check(
        self,
        seat: Seat,
        trial: Trial,
        stages: Sequence[Stage],
        reach: Callable[[str], object],
        remarks: list[Evidence],
    ) -> None:
        """Check a candidate at some stages, and add what is worth telling of one that is right; raises `Failing`.

        `reach` is called with `load`, `tiny` and `size` when that is over. One that was written for some sizes may
        raise at any but the one that is timed, and those that a problem lists.
        """
        for stage in stages:
            is_other = stage.name == "other"
            try:
                self._check(seat, trial, stage, reach)
                if not is_other:
                    reach(stage.name)
                if stage.name == "size" and not stage.harder:
                    remarks.extend(layout_remarks(self._bench, seat))
            except OpperfError as error:
                failing = failure_of(error, stage.name, stage.case)
                fails = failing.evidence.slug == "fails"
                if is_other and not fails:
                    raise with_slug(failing, "listed_sizes_only", "; at the size that is timed it is right") from error
                is_required = stage.required or stage.case == self._bench.trial.case
                if is_required or not (is_other or (fails and seat.worker.alive)):
                    raise failing_at_first(failing, remarks) from error
                remarks.append(replace(failing.evidence, slug="listed_sizes_only"))
                if not seat.worker.alive:  # there is nobody to call at the other size
                    break

    def _check(self, seat: Seat, trial: Trial, stage: Stage, reach: Callable[[str], object]) -> None:
        bench = self._bench
        constant = random.SystemRandom().choice(OF_CONSTANTS) if stage.harder else "plain"
        bench.lay(stage.case, FEW_SLOTS, constant)
        try:
            seat.take(replace(trial, case=stage.case), bench.geometry)
        except OpperfError as error:
            raise failure_of(error, "load" if stage is self.stages[0] else stage.name, stage.case) from error
        reach("load")
        slots = range(bench.geometry.slots)
        calls = 0
        for turn, start in enumerate(range(0, len(KINDS), len(slots))):
            kinds = [KINDS[(start + i) % len(KINDS)] for i in slots]
            if turn == 1 and bench.problem is None:  # of a model there would be another one
                seat.take(replace(trial, case=stage.case), bench.geometry)
            seat.line_up(slots)
            bench.draw(slots, kinds)
            turned = seat.go()
            if turn == 0:
                seat.outline()
                check_outlines(bench, seat, stage.name)
            for place, slot in enumerate(slots):
                calls += 1
                try:
                    inspect(bench, seat, turned, place, slot, stage.name, calls)
                except Failing as failing:
                    if stage.harder:
                        text = f"; the values of what is constant are {constant.replace('_', ' ')}"
                        raise with_slug(failing, "values_only", text) from failing
                    raise self._known_better(failing, stage, seat, slot, kinds[place], turn) from failing
            check_places(bench, seat, turned, stage.name)

    def _known_better(self, failing: Failing, stage: Stage, seat: Seat, slot: int, kind: str, turn: int) -> Failing:
        if kind != "plain" and not self._is_wrong_anyway(seat, slot, stage):
            return with_slug(failing, "values_only", f"; the values are {kind.replace('_', ' ')}")
        if turn > 0:
            return with_slug(failing, "first_calls_only", "; earlier calls were right")
        if stage.name == "size" and stage is not self.stages[0]:
            return with_slug(failing, "small_sizes_only", "; smaller cases were right")
        return failing

    def _is_wrong_anyway(self, seat: Seat, slot: int, stage: Stage) -> bool:
        """Whether values of the case's own kind come out wrong by now too: then it is the call that makes it so."""
        seat.line_up((slot,))
        self._bench.draw((slot,), ("plain",))
        try:
            inspect(self._bench, seat, seat.go(), 0, slot, stage.name, 0)
        except OpperfError:
            return True
        return False
