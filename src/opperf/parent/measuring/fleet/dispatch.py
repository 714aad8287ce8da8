"""A fleet as commands use it: trials, contests and candidates go out as orders, and what became of them comes in."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from types import TracebackType

from opperf.domain.code import Code, ProblemCode, read_problem
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import NotJSON, value_of
from opperf.domain.measurement import Outcome
from opperf.domain.node import Node, Where
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Reason
from opperf.parent.analysis.verdict import Rule
from opperf.parent.documents.candidates import Judged
from opperf.parent.documents.comparison import Comparison, Verdict
from opperf.parent.measuring.contest import Contest, outcome
from opperf.parent.measuring.fleet.engine import (
    Answer,
    Bout,
    Engine,
    Joined,
    JudgedSource,
    Judging,
    Order,
    SuiteFiles,
)
from opperf.parent.measuring.fleet.judging import source_of
from opperf.parent.measuring.fleet.scheduler import LEAST_SECONDS, Result, Scheduler, Task
from opperf.parent.measuring.fleet.suites import files_of
from opperf.parent.measuring.judge.judge import Terms
from opperf.parent.measuring.judge.submissions import Submission
from opperf.parent.measuring.processes import in_processes, seconds
from opperf.parent.measuring.progress import LINE_EVERY, Progress
from opperf.parent.planning.selection import Selection
from opperf.parent.planning.wishes import Wishes

#: What the processes of a piece of trials take to start, each, in seconds, and that a piece is longer than by so much.
#: A single process is started by the first piece of its side only.
PROCESS_START, WORTH = 2.0, 4.0
#: What a pair of a contest takes, and what starting the two children of a pair does, in seconds. A piece of contests
#: is so long that children are started for several of them.
PAIR_SECONDS, PAIR_START = 1.2, 8.0
#: What judging a candidate takes that is not wrong at once, and setting up the bench of a piece, in seconds.
CANDIDATE_SECONDS, BENCH_START = 10.0, 5.0
#: How many nodes a line names that says how they are getting on.
MOST_NAMES = 6


class Fleet:
    """Nodes that measure. Use it as a context: everything that runs on them for it ends with it."""

    def __init__(
        self,
        engine: Engine,
        wish: Wishes,
        progress: Progress,
        *,
        suites: SuiteFiles | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._engine, self._wish, self._progress, self._clock = engine, wish, progress, clock
        self._suites = suites
        self._last_line = clock()
        #: What the nodes that measured say of themselves, by their names, and what ran on them.
        self.nodes: dict[str, object] = {}
        self.frameworks: dict[str, Mapping[str, object]] = {}
        self.sides: dict[str, object] = {}

    def __enter__(self) -> Fleet:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._engine.close()

    def outcomes(
        self,
        trials: Sequence[Trial],
        settings: Settings,
        done_on: Callable[[Trial], Collection[Node]] = lambda trial: (),
    ) -> Iterator[Sequence[Outcome]]:
        """Yield the outcomes of pieces, as they come: those of all processes of a trial are in one, of one node."""
        tasks = [Task(seconds(settings), trial.side.process, done_on(trial)) for trial in trials]
        began = self._clock()

        def order(places: Sequence[int]) -> Order:
            own = tuple(trials[place] for place in places)
            return Order(self._remaining_settings(settings, began), own, suites=self._suites)

        starts = WORTH * PROCESS_START * settings.processes if settings.processes > 1 else LEAST_SECONDS
        for result in self._results(tasks, order, least_seconds=starts):
            if result.answer is None:
                yield [one for place in result.tasks for one in _lose(trials[place], settings, result.reason)]
            else:
                yield [replace(one, node=result.node) for one in result.answer.outcomes]

    def comparisons(
        self, contests: Sequence[Contest], settings: Settings, rule: Rule, *, explain: bool = False
    ) -> Iterator[Comparison]:
        """Yield the comparisons of contests, each brought to its verdict on one node."""
        tasks = [Task(rule.pairs * PAIR_SECONDS, (one.base.side.process, one.new.side.process)) for one in contests]
        began = self._clock()

        def order(places: Sequence[int]) -> Order:
            bouts = tuple(Bout(one.base, one.new, one.key) for one in (contests[place] for place in places))
            left = self._remaining_settings(settings, began)
            return Order(left, bouts=bouts, rule=rule, explain=explain, suites=self._suites)

        for result in self._results(tasks, order, least_seconds=rule.pairs * PAIR_START):
            if result.answer is None:
                for place in result.tasks:
                    contests[place].failure = result.reason
                    yield _failed_comparison(contests[place], result.reason)
                continue
            for comparison in result.answer.comparisons:
                yield replace(comparison, node=result.node)

    def judgements(
        self, against: str, batches: Sequence[tuple[Trial, Sequence[Submission]]], terms: Terms, *, jobs: int = 1
    ) -> Generator[tuple[Submission, Judged], None, None]:
        """Yield each candidate of the batch of each trial with its verdict, those of a piece of one node together.

        Raises `InputError` where the reference cannot be had.
        """
        every = [(trial, one) for trial, several in batches for one in several]
        left = [(trial, one) for trial, one in every if one.code is not None]
        sources = {id(one): source_of(one.code, one.name, one.source) for _, one in left if one.code is not None}
        references = {trial.case.id: _reference(trial, against) for trial, _ in left}
        yield from ((one, one.unloadable(against, trial.case)) for trial, one in every if one.code is None)
        tasks = [Task(CANDIDATE_SECONDS / jobs, trial.case.id) for trial, _ in left]
        began = self._clock()

        def order(places: Sequence[int]) -> Order:
            trial, reference = references[left[places[0]][0].case.id]  # a piece is of one group
            sources_of_candidates = tuple(sources[id(left[place][1])] for place in places)
            return Order(
                self._remaining_settings(terms.settings, began),
                rule=terms.rule,
                explain=terms.explain,
                judging=Judging(against, trial, sources_of_candidates, reference, terms.constant, jobs),
            )

        for result in self._results(tasks, order, least_seconds=WORTH * BENCH_START) if left else ():
            candidates = [left[place] for place in result.tasks]
            if result.answer is None:
                reason = f"the judge itself failed: {result.reason}"
                for trial, candidate in candidates:
                    yield candidate, Judged(candidate.name, against, trial.case, "inconclusive", reason)
                continue
            fault = result.answer.fault
            if fault is not None:
                where = "" if result.node is None else f"{result.node.name}: "
                raise InputError(f"{where}{fault.message}", hint=fault.hint, slug=fault.slug)
            for facts in result.answer.frameworks:
                terms.meet(facts)
            for (trial, candidate), judged in zip(candidates, result.answer.judgements):
                yield candidate, replace(judged, against=against, case=trial.case, node=result.node)

    def _remaining_settings(self, settings: Settings, began: float) -> Settings:
        """Return the settings with what is left of the budget of the command."""
        if settings.budget is None:
            return settings
        return replace(settings, budget=max(1e-3, settings.budget - (self._clock() - began)))

    def _results(
        self, tasks: Sequence[Task], order: Callable[[Sequence[int]], Order], **bounds: float
    ) -> Iterator[Result[Answer]]:
        where = Where.parse(self._wish.where)

        def usable(arrival: Joined) -> bool:
            return where.holds(arrival.node.name, arrival.machine)

        def text(places: Sequence[int]) -> str:
            return json.dumps(order(places).to_json(), separators=(",", ":"))

        scheduler = Scheduler(
            self._engine,
            self._clock,
            lambda places, text: _read(text, order(places)),
            replicate=self._wish.replicate,
            wants=usable,
            note=self._progress.note,
            **bounds,
        )
        for result in scheduler.run(tasks, text):
            if result.node is not None:
                arrival = scheduler.joined[result.node.name]
                facts = {"kind": result.node.kind, "machine": arrival.machine, "noise": list(arrival.noise)}
                self.nodes[result.node.name] = facts
            if result.answer is not None:
                for framework in result.answer.frameworks:
                    self.frameworks[json.dumps(framework, sort_keys=True)] = framework
                self.sides.update(result.answer.sides)
            yield result
            self._tell(scheduler)

    def _tell(self, scheduler: Scheduler[Answer]) -> None:
        now = self._clock()
        if now - self._last_line < LINE_EVERY:
            return
        self._last_line = now
        counts = [f"{name} {count}" for name, count in scheduler.done.items()]
        more = f" and {len(counts) - MOST_NAMES} more" if len(counts) > MOST_NAMES else ""
        about = f"about {scheduler.left:.0f} s left"
        nodes = f"{scheduler.nodes} node{'' if scheduler.nodes == 1 else 's'}"
        self._progress.note(f"{nodes}, {about}; done: {', '.join(counts[:MOST_NAMES])}{more}")


def _read(text: str, order: Order) -> Answer:
    """Return a node's answer; raises `InputError` unless it is for all of an order, each once, and for nothing else.

    What it is of is the order's own, whatever the node has sent along.
    """
    try:
        answer = Answer.from_json(value_of(text.encode(errors="replace")), "its answer")
    except NotJSON as error:
        raise InputError(f"its answer is not JSON: {error}") from error
    trials = {trial.key: trial for trial in order.trials}
    bouts = {_bout_key(bout.key, bout.base.side, bout.new.side): bout for bout in order.bouts}
    expected = Counter(
        [(*trial.key, process) for trial, process in in_processes(order.trials, order.settings)]
        + [_bout_key(bout.key, bout.base.side, bout.new.side) for bout in order.bouts]
        + _candidates(order)
    )
    received = Counter(
        [(*one.trial.key, one.process) for one in answer.outcomes]
        + [_bout_key(one, one.base, one.new) for one in answer.comparisons]
        + [(place, one.candidate, one.case.id) for place, one in enumerate(answer.judgements)]
    )
    if answer.fault is not None and order.judging is not None:
        return answer
    if received != expected:
        missing, more = (expected - received).total(), (received - expected).total()
        raise InputError(
            f"of {expected.total()} results its answer lacks {missing}, and it has {more} that nobody asked for",
        )
    return replace(
        answer,
        outcomes=tuple(replace(one, trial=trials[one.trial.key]) for one in answer.outcomes),
        comparisons=tuple(_as_ordered(bouts[_bout_key(one, one.base, one.new)], one) for one in answer.comparisons),
    )


def _reference(trial: Trial, against: str) -> tuple[Trial, JudgedSource | None]:
    """Return a trial as a node is told of it, and the source of its reference where that is code."""
    code = trial.side.implementation
    if not isinstance(code, Code):
        return trial, None
    return replace(trial, side=replace(trial.side, implementation=None)), source_of(code, against)


def _candidates(order: Order) -> list[tuple[object, ...]]:
    """Return the candidates that an order judges: each stands in its place, as two candidates may have one name."""
    if order.judging is None:
        return []
    case = order.judging.trial.case.id
    return [(place, one.name, case) for place, one in enumerate(order.judging.candidates)]


def _as_ordered(bout: Bout, one: Comparison) -> Comparison:
    return replace(one, count=bout.key.count, base=bout.base.side, new=bout.new.side)


def _bout_key(of: Trial | Comparison, base: Side, new: Side) -> tuple[object, ...]:
    return (of.case.id, of.direction, base.key, new.key)


def _lose(trial: Trial, settings: Settings, reason: str | None) -> Sequence[Outcome]:
    why = Reason("node_lost", reason or "its node was lost", "check the nodes' logs: the trial may have crashed them")
    return [Outcome(trial, process, "failed", reason=why) for trial, process in in_processes([trial], settings)]


def _failed_comparison(contest: Contest, reason: str | None) -> Comparison:
    """Return the comparison of a contest that no node brought to an end."""
    contest.verdict = Verdict("failed", None, None, f"not measured: {reason}", 0)
    return outcome(contest)


def parse_engine(text: str) -> Engine:
    """Return the engine that `--fleet` names; raises `InputError`, also where its library is not installed."""
    name, _, place = text.partition(":")
    if name == "ray":
        from opperf.parent.measuring.fleet.ray_engine import RayEngine

        return RayEngine(text if place.startswith("//") else place or None)
    if name == "slurm":
        from opperf.parent.measuring.fleet.slurm_engine import SlurmEngine, parse_job_count

        return SlurmEngine(parse_job_count(place))
    expected = "`ray`, `ray://HOST:PORT` or `slurm:JOBS`"
    raise InputError(f"`--fleet` is `{text[:100]}`, expected {expected}", slug="unknown_fleet")


def measuring_fleet(wish: Wishes, selection: Selection, progress: Progress) -> Fleet:
    """Return the requested fleet.

    Raises `InputError` for what is no fleet, and for the user's own code: it is here, and nodes are told names only.
    Files of benchmarks go out to them.
    """
    if selection.plugins or selection.declared or not all(isinstance(name, str) for name in selection.operators):
        raise InputError(
            "`--fleet` sends only names to its nodes, and your code is on this machine",
            hint="leave out `--fleet`, or `--plugin` and files of code",
            slug="fleet_code",
        )
    return Fleet(parse_engine(wish.engine), wish, progress, suites=files_of(selection.benchmarks))


def judging_fleet(wish: Wishes, against: str, *, room: str, plugins: bool, progress: Progress) -> Fleet:
    """Return the requested fleet to judge on; raises `InputError` for what a fleet cannot judge."""
    if room == "none":
        raise InputError(
            "`--fleet` sends candidates to other machines, and they run there in a room alone",
            hint="leave out `--room none`",
            slug="fleet_code",
        )
    if plugins or isinstance(read_problem(against), ProblemCode):
        what = "a plugin is" if plugins else f"the files of `{against}` are"
        raise InputError(
            f"`--fleet` sends candidates and a reference of one file to its nodes, and {what} on this machine",
            hint="leave out `--fleet`: judge a part of the candidates on each machine, with an `--output` of its own",
            slug="fleet_code",
        )
    return Fleet(parse_engine(wish.engine), wish, progress)
