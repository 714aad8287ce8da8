"""Explore operators: search their cases for what costs too much, and confirm it by pairs of fresh processes."""

from __future__ import annotations

import math
import random
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from opperf.catalog import Operator, catalog
from opperf.catalog.valid_values import restrict
from opperf.domain.case import Case
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, OpperfError
from opperf.domain.peaks import Peaks
from opperf.domain.plan import Settings, Trial
from opperf.domain.stats.significance import PairedTest
from opperf.domain.tensor import TensorSpec
from opperf.domain.units import plural
from opperf.parent.analysis.verdict import Rule
from opperf.parent.commands.compare import parse_sides
from opperf.parent.commands.explore.meter import OBJECTIVES, Bench, Ledger, Question
from opperf.parent.commands.explore.search import SUSPICION, Cliff, LevelSearch, Search, more_work
from opperf.parent.commands.explore.space import CONTIGUOUS, LAYOUTS, Point, Space, read_dimensions
from opperf.parent.documents.comparison import Explanations
from opperf.parent.documents.exploration import Anomaly, Exploration, Territory
from opperf.parent.measuring.calibration import stored_rates
from opperf.parent.measuring.comparing import Comparing
from opperf.parent.measuring.contest import Contest, header, outcome, start
from opperf.parent.measuring.explain import explain
from opperf.parent.measuring.progress import Progress, Stoppable, planning
from opperf.parent.measuring.session import Session
from opperf.parent.planning import request as requests
from opperf.parent.planning.implementations import trial_on
from opperf.parent.planning.request import Request
from opperf.parent.planning.selection import Selection
from opperf.parent.planning.side_text import SideText
from opperf.parent.reports.rerun import case_words, compare_command
from opperf.parent.sources.options import Exploring
from opperf.parent.sources.plugin_file import named_side
from opperf.parent.workers.interpreters import settled_side

#: The objectives that hold a point against its neighbours; the others hold it against most points.
BESIDE_NEIGHBOURS = ("cliff", "memory")
#: The share of the time that looks may take; what is left confirms.
SEARCHING = 0.7
#: Processes that tell what a case costs where no other side is measured by turns with it.
PROCESSES = 5
#: The input of a function that says nothing of its inputs.
EXAMPLE = {"data": TensorSpec((256, 1024))}


@dataclass(frozen=True)
class Order:
    """What is looked for, and what else to do."""

    search: Exploring = field(default_factory=Exploring)
    explain: bool = False
    journal: Path | None = None
    resume: Path | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    command: Sequence[str] = ()

    @property
    def aim(self) -> str:
        """The objective; beside another side it is where that is faster. Raises `InputError` for what is none."""
        aim = self.search.objective or ("cliff" if self.search.against is None else "slower-than")
        if aim not in OBJECTIVES:
            raise InputError(f"`--objective` is `{aim}`, expected {', '.join(OBJECTIVES)}")
        if (aim == "slower-than") != (self.search.against is not None):
            raise InputError("`--objective slower-than` and `--against SIDE` need each other")
        if not 1 < self.search.factor < 1000:
            raise InputError(f"`--factor` is {self.search.factor:g}, expected a number above 1, such as 1.2")
        if self.search.looks < 1:
            raise InputError(f"`--looks` is {self.search.looks}, expected a whole number >= 1")
        return aim


def explore(
    operators: Sequence[str], request: Request, order: Order, progress: Progress
) -> tuple[Exploration, BaseException | None]:
    """Return the anomalies of a search, and the exception that stopped it or None.

    Raises `InputError` for bad input.
    """
    aim = order.aim
    bounds = read_dimensions(order.search.dims or "")
    sides = [] if order.search.against is None else [order.search.against]
    plugins = requests.plugin_files(request.what.plugin, request.where.framework, sides, note=progress.note)
    selection = replace(requests.selection(operators, request, note=progress.note), sizes=("common",))
    if not selection.operators:
        raise InputError("nothing to explore", hint="name operators: `opperf explore matmul --framework torch`")
    if not selection.directions:
        selection = replace(selection, directions=("forward",))
    sides = [named_side(one, plugins) for one in sides]
    against = [replace(text, side=settled_side(text.side)) for text in parse_sides(sides)]
    settings = requests.settings(request)
    with planning(progress), Session(selection, settings, progress) as session:
        trials = session.plan().trials
    side = against[0] if against else None
    expedition = Expedition(selection, settings, order, side, progress, aim, bounds, trials)
    with Stoppable() as measuring:
        for trial in trials:
            expedition.explore(trial, share=1 / len(trials))
    cause = measuring.cause
    if cause is None and expedition.failures:
        cause = OpperfError("; ".join(expedition.failures), slug="no_looks")
    return expedition.document(), cause


class Expedition:
    """One exploration of several operators: `explore` each, then read the `document`."""

    def __init__(
        self,
        selection: Selection,
        settings: Settings,
        order: Order,
        against: SideText | None,
        progress: Progress,
        aim: str,
        bounds: Mapping[str, tuple[int, int]],
        trials: Sequence[Trial],
    ) -> None:
        self._selection, self._settings, self._order = selection, settings, order
        self._against, self._progress, self._aim, self._bounds = against, progress, aim, bounds
        self._ledger = Ledger(order.journal, order.resume, [self._question(trial).topic for trial in trials])
        self._territories: list[Territory] = []
        self.failures: list[str] = []
        self._facts: dict[str, object] = {}
        self._start = start()

    def document(self) -> Exploration:
        """Return the anomalies that were found, under the header of a run."""
        order = self._order
        run = header(self._settings, self._start, self._facts, labels=order.labels, command=order.command)
        against = None if self._against is None else self._against.side
        return Exploration(run, self._aim, order.search.factor, against, tuple(self._territories))

    def explore(self, trial: Trial, share: float) -> None:
        """Search the cases of one operator on a side, within a share of the budget."""
        start, budget = time.monotonic(), self._settings.budget
        limit = math.inf if budget is None else budget * share
        space, question = self._space(trial), self._question(trial)
        bench = Bench(
            space,
            question,
            self._settings,
            self._progress.note,
            self._ledger,
            plugins=self._selection.plugins,
            until=start + SEARCHING * limit,
        )
        with bench:
            bench.check_devices()
            if not self._prepare(space, bench):
                self.failures.append(f"`{trial.case.operator}` cannot be explored: {bench.failure or 'it has no cost'}")
                return
            kind = Search if self._aim in BESIDE_NEIGHBOURS else LevelSearch
            name, looks = trial.case.operator, self._order.search.looks
            search = kind(space, bench, self._order.search.factor, random.Random(self._settings.seed), looks)
            search.step = lambda count: self._progress.step(f"looking at {name}", count, looks)
            cliffs = []
            try:
                for cliff in search.run():
                    cliffs.append(cliff)
                    self._tell(space, cliff, len(search.costs))
            finally:
                self._progress.close()
                left = None if budget is None else max(1.0, limit - (time.monotonic() - start))
                anomalies = self._confirm(bench, space, question, cliffs, left)
                self._territories.append(
                    Territory(
                        trial.case.operator,
                        trial.side,
                        trial.direction,
                        tuple(map(str, space.dimensions)),
                        len(search.costs),
                        len(cliffs) - len(anomalies),
                        tuple(anomalies),
                        unexamined=search.unexamined,
                        out_of_time=search.out_of_time,
                        unmeasured=sum(
                            cost is None and search.work(at) is not None for at, cost in search.costs.items()
                        ),
                    )
                )

    def _space(self, trial: Trial) -> Space:
        case = trial.case
        if not list(case.tensors()):
            case = Case(case.operator, EXAMPLE, case.attributes)
            self._progress.note(f"`{case.operator}` declares no inputs: exploring data=256x1024")
        definition = catalog().get(case.operator)
        plain = definition is not None and restrict(definition.case("common").with_dtype(_dtype(case))) == case
        return Space(case, definition, by_default=plain)

    def _prepare(self, space: Space, bench: Bench) -> bool:
        """Find out which dimensions and layouts the operator has; return False where it cannot be measured."""
        space.split(bench.accepts)
        space.bound(self._bounds)
        middle = Point(tuple(round(math.sqrt(one.low * one.high)) for one in space.dimensions))
        if not any(case is not None and bench.accepts(case) for case in (space.case(middle), space.base)):
            return False
        cases = ((layout, space.case(replace(middle, layout=layout))) for layout in LAYOUTS)
        space.layouts = tuple(
            layout
            for layout, case in cases
            if layout == CONTIGUOUS or (case not in (None, space.case(middle)) and case and bench.accepts(case))
        )
        self._progress.note(f"exploring {', '.join(map(str, space.dimensions))}; {', '.join(space.layouts)}")
        return True

    def _question(self, trial: Trial) -> Question:
        definition: Operator | None = catalog().get(trial.case.operator)
        against = None if self._against is None else trial_on(trial, self._against)
        peaks = None
        if self._aim == "peak-share":
            peaks = Peaks.of(stored_rates(), trial.side.device, trial.side.threads)
            if definition is None or not peaks.moves:
                problem = (
                    "its amount of work is unknown" if definition is None else "the limits of this machine are unknown"
                )
                hint = "explore an operator of the catalog" if definition is None else "run `opperf doctor --peaks`"
                raise InputError(f"`--objective peak-share`: {problem}", hint=hint)
        return Question(trial, self._aim, against, peaks, definition)

    def _tell(self, space: Space, cliff: Cliff, looks: int) -> None:
        region = cliff.region.say(space.dimensions)
        self._progress.note(f"{plural(looks, 'look')}: a candidate at {region}")

    def _confirm(
        self, bench: Bench, space: Space, question: Question, cliffs: Sequence[Cliff], budget: float | None
    ) -> list[Anomaly]:
        """Return an anomaly for each cliff that fresh processes show again."""
        if self._aim == "memory" or self._aim == "peak-share":
            deadline = math.inf if budget is None else time.monotonic() + budget
            timely = (cliff for cliff in cliffs if time.monotonic() < deadline)
            return [one for cliff in timely if (one := self._measure(bench, space, question, cliff)) is not None]
        contests = [Contest(*self._sides(space, question, cliff)) for cliff in cliffs]
        rule = Rule(tolerance=self._order.search.factor - 1)
        settings = replace(self._settings, budget=budget).checking_own(one.base for one in contests)
        comparing = Comparing(settings, rule, self._progress.note, plugins=self._selection.plugins)
        comparing.follow(self._progress)
        try:
            comparing.run(contests)
            if self._order.explain:
                plugins = self._selection.plugins
                explain(contests, settings, self._progress.note, spent=comparing.spent, plugins=plugins)
        finally:
            self._facts.update(comparing.facts)
        anomalies = [
            self._anomaly(space, question, cliff, contest)
            for cliff, contest in zip(cliffs, contests)
            if contest.verdict is not None and contest.verdict.verdict == "slower"
        ]
        return [one for one in anomalies if one.ratio >= self._order.search.factor]

    def _sides(self, space: Space, question: Question, cliff: Cliff) -> tuple[Trial, Trial, Trial]:
        new = replace(question.trial, case=_case(space, cliff.point))
        if question.against is not None:
            return replace(question.against, case=new.case), new, new
        return replace(new, case=_case(space, cliff.other or cliff.point)), new, new

    def _anomaly(self, space: Space, question: Question, cliff: Cliff, contest: Contest) -> Anomaly:
        comparison, case, neighbour = outcome(contest), contest.new.case, contest.base.case
        verdict = comparison.verdict
        command = self._command(space, question.trial, cliff)
        if question.against is not None:
            command = compare_command(comparison, self._order.search.factor - 1) or self._comparison(case)
        # A neighbour that does less work is expected to be quicker by that much.
        growth = math.exp(more_work(space.work(case), space.work(neighbour)))
        interval = verdict.interval
        return Anomaly(
            case=case,
            other=None if question.against is not None else neighbour,
            ratio=(verdict.ratio or 1.0) / growth,
            interval=None if interval is None else (interval[0] / growth, interval[1] / growth),
            pairs=verdict.pairs,
            cost=comparison.new_time or 0.0,
            expected=(comparison.base_time or 0.0) * growth,
            region=cliff.region.say(space.dimensions),
            remedy=None if question.against is not None else cliff.remedy.say(space.dimensions, cliff.point),
            command=command,
            explanation=contest.explanation or Explanations(),
        )

    def _measure(self, bench: Bench, space: Space, question: Question, cliff: Cliff) -> Anomaly | None:
        """Return a finding of memory, or of a share of the limit, as fresh processes show it."""
        case, neighbour = _case(space, cliff.point), None if cliff.other is None else space.case(cliff.other)
        # Memory is counted, so one process says all.
        processes = PROCESSES if neighbour is None else 1
        costs = bench.fresh(case, processes)
        if len(costs) < processes:
            return None
        cost = math.exp(math.fsum(map(math.log, costs)) / len(costs))
        expected = 1.0
        if neighbour is not None:
            neighbours = bench.fresh(neighbour, 1)
            if not neighbours or costs[0] < self._order.search.factor**SUSPICION * neighbours[0]:
                return None
            expected = neighbours[0]
        ends = None if neighbour is not None else PairedTest.of([math.log(one) for one in costs]).interval()
        least = bench.least_time(case) or 1.0
        remedy = cliff.remedy.say(space.dimensions, cliff.point) if neighbour is not None else None
        return Anomaly(
            case=case,
            other=neighbour,
            ratio=cost / expected,
            interval=None if ends is None else (math.exp(ends[0]), math.exp(ends[1])),
            pairs=len(costs),
            cost=cost * (1.0 if neighbour is not None else least),
            expected=expected if neighbour is not None else least,
            region=cliff.region.say(space.dimensions),
            remedy=remedy,
            command=self._command(space, question.trial, cliff),
        )

    def _command(self, space: Space, trial: Trial, cliff: Cliff) -> str:
        """Return the command that shows a finding again: the same search, over its two points alone.

        It asks for a little less, so that a finding that is just beyond the factor shows every time.
        """
        words = case_words(_case(space, cliff.point))
        if cliff.other is None and words is not None:
            again = ["run", *words, *self._words(trial)[1:], "--processes", str(PROCESSES)]
            return shlex.join(["opperf", *again])
        bounds = [
            f"{one.name}={'..'.join(map(str, sorted({size, other})))}"
            for one, size, other in zip(space.dimensions, cliff.point.sizes, (cliff.other or cliff.point).sizes)
        ]
        aim = [] if self._aim == "cliff" else ["--objective", self._aim]
        factor = f"{self._order.search.factor**SUSPICION:.3g}"
        least = ["--factor", factor, "--dims", ",".join(bounds)]
        return shlex.join(["opperf", "explore", *self._words(trial), *aim, *least])

    def _comparison(self, case: Case) -> str:
        """Return the comparison of a case that is not the catalog's, as far as a command line can write its inputs."""
        words = [case.operator]
        for name, value in case.inputs.items():
            if isinstance(value, TensorSpec):
                words += ["--input", f"{name}={'x'.join(map(str, value.shape))}"]
        for name, attribute in self._selection.attributes.items():
            words += ["--attribute", f"{name}={attribute}"]
        words += [word for dtype in self._selection.dtypes for word in ("--dtype", dtype)]
        new = self._selection.frameworks[0] if self._selection.frameworks else case.operator.partition(":")[0]
        return shlex.join(["opperf", "compare", *words, "--base", self._order.search.against or "", "--new", new])

    def _words(self, trial: Trial) -> list[str]:
        """Return the words of a command line that mean the same operator on the same side."""
        selection, side = self._selection, trial.side
        words = [trial.case.operator, "--framework", side.framework]
        if side.environment not in ("current", side.framework):
            words += ["--environment", side.environment]
        for name, value, usual in (("device", side.device, "cpu"), ("threads", str(side.threads), "1")):
            words += [] if value == usual else [f"--{name}", value]
        words += [word for dtype in selection.dtypes for word in ("--dtype", dtype)]
        words += [] if trial.direction == "forward" else ["--direction", trial.direction]
        inputs = [(name, shape) for row in selection.inputs for name, shape in row.items()]
        for option, pairs in (("--input", inputs), ("--attribute", selection.attributes.items())):
            words += [word for name, value in pairs for word in (option, f"{name}={value}")]
        return words


def _dtype(case: Case) -> str:
    return next((tensor.dtype for tensor in case.tensors()), "float32")


def _case(space: Space, point: Point) -> Case:
    case = space.case(point)
    if case is None:
        raise ValueError("a point that was measured is a case")
    return case
