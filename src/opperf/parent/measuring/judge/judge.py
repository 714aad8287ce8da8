"""Judge candidates against a reference: whether they are right, and really faster.

A candidate is checked in a process of its own, on cases small and large. One that is right is timed beside the
reference in pairs of fresh processes, by the rules of `compare`; what is timed is inspected as well.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import field, replace
from pathlib import Path
from statistics import median

from opperf.catalog import catalog
from opperf.domain.code import Code
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, OperatorFailure, OpperfError
from opperf.domain.explanation import Explanation
from opperf.domain.judging import bytes_of
from opperf.domain.peaks import Peaks
from opperf.domain.plan import UNCHECKED, Settings, Trial
from opperf.domain.problem import OpenedProblem
from opperf.domain.units import format_factor, format_seconds
from opperf.parent.analysis.verdict import LEAST_PAIRS, Rule, paired_test
from opperf.parent.documents.candidates import Evidence, Judged, Speed
from opperf.parent.documents.comparison import PairValue, Verdict
from opperf.parent.measuring.calibration import stored_rates
from opperf.parent.measuring.comparing import Comparing
from opperf.parent.measuring.contest import Contest, log_ratios
from opperf.parent.measuring.judge.bench import FEW_SLOTS, Bench
from opperf.parent.measuring.judge.checks import Checks
from opperf.parent.measuring.judge.failing import Failing, failure_of, missing_file, verdict_of
from opperf.parent.measuring.judge.match import Log, starter
from opperf.parent.measuring.judge.quiet import Quiet
from opperf.parent.measuring.judge.turns import saves_little, surely_above, tells_little
from opperf.parent.measuring.judge.what_ran import what_ran
from opperf.parent.measuring.progress import Progress, Silent
from opperf.parent.workers.pair_cpus import shared_cpus

#: A time below this share of what the machine's measured peaks allow is not believed.
IMPOSSIBLE = 0.5
#: By how many times calls of the reference may take more CPU time beside a candidate: their caches are shared.
MOST_SLOWED = 1.5
#: And from where on it has to be faster than the reference was alone, too.
SOME_SLOWED = 1.2
#: A candidate is not believed that saves less than this share of what it does in many calls where they come one by one,
#: or, as logarithms go, where all are alike, in the typical round, or before either has met the other.
MOST_LONE = 0.5
#: Calls that take so long, in seconds, gain little by being computed together.
SHORT_CALL = 100e-6


@dataclass(frozen=True)
class Terms:
    """How candidates are judged: by which rule, in which room.

    Inputs that are `constant` have the same values in all calls of a process. What ran is looked at where it is to
    `explain`. `problem` is that of the reference, where it has one. `meet` gets what examiners say of their framework,
    and `progress` the pairs that are timed.
    """

    settings: Settings
    rule: Rule
    confined: bool = True
    plugins: Sequence[Path] = ()
    meet: Callable[[Mapping[str, object]], None] = lambda _: None
    constant: tuple[str, ...] = ()
    explain: bool = False
    problem: OpenedProblem | None = None
    progress: Progress = field(default_factory=Silent)


def judge(
    against: str, trial: Trial, candidates: Sequence[Code], terms: Terms, note: Callable[[str], None]
) -> Iterator[Judged]:
    """Yield the verdict on each candidate; raises `InputError` where the reference cannot be had."""
    with closing(Judge(against, trial, terms, note)) as one:
        for place, candidate in enumerate(candidates):
            yield one.judge(candidate, upcoming=next(iter(candidates[place + 1 :]), None))


class Judge:
    """Judges one candidate after the other, on a bench of its own."""

    def __init__(
        self, against: str, trial: Trial, terms: Terms, note: Callable[[str], None], quiet: Quiet | None = None
    ) -> None:
        """Set up the bench; `quiet` is shared with other judges. Raises `InputError` where the reference fails."""
        self._against, self._terms, self._note, self._quiet = against, terms, note, quiet or Quiet()
        cpus = terms.settings.cpus or shared_cpus(trial.side, trial.side)
        try:
            with self._quiet.shared():
                self._bench = Bench(
                    trial,
                    terms.settings,
                    note,
                    plugins=terms.plugins,
                    confined=terms.confined,
                    constant=terms.constant,
                    cpus=cpus,
                    problem=terms.problem,
                )
                try:
                    terms.meet(self._bench.facts)
                    self._checks = Checks(self._bench)
                    self._fault = self._find_fault()
                except BaseException:
                    self._bench.close()
                    raise
                # Before another may time: a stand of this one imports still.
                self._quiet.join(self._bench.stands)
        except OperatorFailure as failure:
            raise InputError(f"the reference `{against}` fails: {failure.message}", hint=failure.hint) from failure
        self._reference_ran: Explanation | None = None

    def _find_fault(self) -> str:
        """Return why the problem tells nothing of a candidate; empty where it does."""
        self._bench.lay(self._bench.trial.case, FEW_SLOTS)
        return self._bench.fault()

    @property
    def alive(self) -> bool:
        """Whether it can judge another candidate."""
        return self._bench.alive

    def interrupt(self) -> None:
        """End its children from another thread."""
        self._bench.interrupt()

    def close(self) -> None:
        """End its children."""
        self._quiet.leave(self._bench.stands)
        self._bench.close()

    def judge(self, candidate: Code, name: str | None = None, *, upcoming: Code | None = None) -> Judged:
        """Return the verdict on what is called by this name; a stand begins to wait for the `upcoming` candidate.

        Raises `HarnessError` where the judge itself fails.
        """
        began = time.monotonic()
        base, name = self._bench.trial, name or candidate.name
        trial, after = (
            replace(base, side=replace(base.side, implementation=code)) for code in (candidate, upcoming or candidate)
        )
        self._note(f"{name}: is it right?")
        stages: dict[str, float] = {}
        judged = self._explained(self._judge(name, trial, after, stages), trial)
        since = {stage: moment - began for stage, moment in stages.items()}
        return replace(judged, seconds=time.monotonic() - began, stages=since)

    def _judge(self, candidate: str, trial: Trial, after: Trial, stages: dict[str, float]) -> Judged:
        base = self._bench.trial
        if self._fault:
            evidence = Evidence("void", self._fault, "size", base.case)
            return self._judged(candidate, "void", f"the problem is at fault: {self._fault}", (evidence,))
        try:
            with self._quiet.shared():
                self._bench.stands.keep([base.side, trial.side, after.side])
                self._bench.stands.prepare([trial.side, after.side])
                remarks, self._bench.writable = self._check(
                    trial, lambda stage: stages.setdefault(stage, time.monotonic())
                )
        except Failing as failing:
            return self._judged(candidate, verdict_of(failing.evidence), failing.message, (failing.evidence,))
        stages["right"] = time.monotonic()
        log = Log()
        self._note(f"{candidate}: is it faster?")
        with self._quiet.alone():
            contest = self._time(base, trial, log)
        if log.looked is not None:
            stages["look"] = log.looked
        if len(log.slowed) >= LEAST_PAIRS:
            # Other work makes a device wait for the host, but hardly in each pair: what stays on a device does.
            on_cpu = base.side.device == "cpu"
            slowed = median(log.slowed) if on_cpu else min(log.slowed)
            what = "as much CPU time" if on_cpu else "as long"
            text = f"calls of the reference took {slowed:.1f} times {what} once it was loaded"
            if slowed > MOST_SLOWED:
                log.evidence.append(Evidence("disturbs", text, "timed", base.case, {"pairs": log.slowed}))
        if log.evidence:
            evidence = log.evidence[0]
            return self._judged(candidate, verdict_of(evidence), evidence.message, (*log.evidence, *remarks))
        if log.hopeless is not None:
            judged = self._judged(candidate, "slower", f"a quick look was enough: {contest.failure}", remarks)
            return replace(judged, ring=log.hopeless, judged_by="ring", pairs=1)
        return self._timed(candidate, contest, log, remarks)

    def _explained(self, judged: Judged, trial: Trial) -> Judged:
        """Return a judgement with what ran, where that is asked for and something can."""
        if not self._terms.explain or judged.cause in ("void", "load"):
            return judged
        self._note(f"{judged.candidate}: what ran?")
        with self._quiet.shared():
            if self._reference_ran is None:
                self._reference_ran = what_ran(self._bench.stands, self._bench.trial, self._terms.settings.seed)
            ran = what_ran(self._bench.stands, trial, self._terms.settings.seed)
        return replace(judged, ran=ran, reference_ran=self._reference_ran)

    def _check(self, trial: Trial, reach: Callable[[str], object]) -> tuple[list[Evidence], bool]:
        """Check a candidate, and say whether it wants inputs that may be written; one that fails is tried with them.

        What it writes there stays in its process, in the place of all later values: who is right with them has written
        nothing, and only asked for leave, as some interfaces do. What is constant has no later values.
        """
        try:
            return self._check_in(trial, reach), False
        except Failing as failing:
            if failing.slug not in ("fails", "changes_inputs"):
                raise
            is_told = failing.slug == "changes_inputs"
            try:
                remarks = self._check_in(trial, reach, writable=True)
                if not self._bench.constant:
                    return remarks, True
            except Failing as again:
                if is_told or again.slug == "fails":
                    raise failing from None
            if is_told:
                raise
            text = f"it writes to its inputs, which are read-only: {failing.message}"
            raise Failing(replace(failing.evidence, slug="changes_inputs", message=text)) from failing

    def _check_in(self, trial: Trial, reach: Callable[[str], object], *, writable: bool = False) -> list[Evidence]:
        remarks: list[Evidence] = []
        for stages in self._checks.sittings:
            seat = self._bench.stands.take(trial.side)
            seat.writable = writable
            try:
                self._checks.check(seat, trial, stages, reach, remarks)
            except OpperfError as error:
                failing = failure_of(error, "load", None)
                code = trial.side.implementation
                if self._bench.room and isinstance(code, Code):
                    failing = missing_file(failing, Path(code.name.rpartition(":")[0]))
                raise failing from error
            finally:
                self._bench.stands.end(seat)
        return remarks

    def _time(self, base: Trial, new: Trial, log: Log) -> Contest:
        settings = replace(self._terms.settings, check=UNCHECKED)
        band = self._terms.rule.for_operator(base.case.operator).band
        comparing = Comparing(settings, self._terms.rule, self._note, duel=starter(self._bench, log, band))
        comparing.follow(self._terms.progress)
        contest = comparing.contest(base, new, base)
        comparing.run([contest])
        return contest

    def _timed(self, candidate: str, contest: Contest, log: Log, remarks: Sequence[Evidence]) -> Judged:
        verdict = contest.verdict or Verdict("inconclusive", None, None, "nothing was timed", 0)
        ring, hot = _speed(contest.decisive, verdict), _speed(log.hot)
        if doubt := contest.failure or doubt_of(verdict, (ring, hot), log) or doubt_of_layout(verdict, remarks):
            verdict = replace(verdict, verdict="inconclusive", reason=doubt)
        elif verdict.settle:
            verdict = replace(verdict, reason=with_advice(verdict.reason, verdict.settle))
        judged = self._judged(candidate, verdict.verdict, verdict.reason, remarks)
        judged = replace(judged, ring=ring, hot=hot, judged_by="ring", pairs=contest.pairs)
        floor = self._floor()
        if ring is not None and floor is not None and ring.candidate < IMPOSSIBLE * floor:
            text = f"{format_seconds(ring.candidate)} a call; at its peaks this machine needs {format_seconds(floor)}"
            evidence = Evidence("too_fast", text, "timed", self._bench.trial.case)
            return replace(judged, verdict="impossible", reason=text, evidence=(evidence, *judged.evidence))
        return judged

    def _floor(self) -> float | None:
        """Return the least time that the work of a call takes on this machine; None where that is not known."""
        trial = self._bench.trial
        definition = catalog().get(trial.case.operator)
        flops = 0 if definition is None else definition.flop_count(trial.case, "forward") or 0
        moved = self._bench.input_bytes + sum(map(bytes_of, self._bench.outlines))
        dtype = next((spec.dtype for spec in trial.case.tensors()), "float32")
        limit = Peaks.of(stored_rates(), trial.side.device, trial.side.threads).limit(
            flops=flops, nbytes=moved, dtype=dtype
        )
        return None if limit is None or limit.doubt is not None else limit.seconds

    def _judged(self, candidate: str, verdict: str, reason: str, evidence: Sequence[Evidence]) -> Judged:
        return Judged(
            candidate=candidate,
            against=self._against,
            case=self._bench.trial.case,
            verdict=verdict,
            reason=reason,
            evidence=tuple(evidence),
            room=self._bench.room,
            constant=self._bench.constant,
            problem=self._bench.problem.notes if self._bench.problem else (),
            workload=self._bench.problem.workload if self._bench.problem else {},
        )


def with_advice(reason: str, advice: str) -> str:
    """Add to the reason of an open verdict what would decide it; a judge has no `--settle`, and begins with more pairs.

    >>> with_advice("the interval is wider than ±2%", "about 14 pairs instead of 12: `--settle --max-pairs 14`")
    'the interval is wider than ±2%; about 14 pairs instead of 12: `--pairs 14`'
    """
    return f"{reason}; {advice.replace('--settle --max-pairs', '--pairs')}"


def doubt_of(verdict: Verdict, speeds: tuple[Speed | None, Speed | None], log: Log) -> str:
    """Return why a candidate is not faster though the rounds that count say so; empty where it is.

    `speeds` are those of ring and hot turns.
    """
    ring, hot = speeds
    if verdict.verdict != "faster" or verdict.ratio is None or ring is None:
        return ""
    if log.in_cache and hot is not None and hot.interval[1] < ring.speedup**MOST_LONE:
        many, same = map(format_factor, (ring.speedup, hot.speedup))
        return (
            f"{many} times as fast where many calls are asked for at once, and {same} times in calls that are all alike"
        )
    together = ring.reference - ring.candidate
    if saves_little(log.savings, MOST_LONE * together * 1e9):
        alone = max(0.0, median(one.centre for one in log.savings) / 1e9)
        each = [format_seconds(together), format_seconds(alone)]
        return "it saves {} a call where many are asked for at once, and {} one by one".format(*each)
    if ring.reference < SHORT_CALL and tells_little(log.savings, MOST_LONE * together * 1e9):
        return (
            f"it saves {format_seconds(together)} a call where many are asked for at once; what it saves of one, the "
            "machine was too busy to tell"
        )
    slowed = median(log.slowed) if len(log.slowed) >= LEAST_PAIRS else 1.0
    if slowed > max(SOME_SLOWED, 1 / verdict.ratio):
        return f"no faster than the reference before it was loaded: since then, that took {slowed:.2g} times as long"
    if surely_above(log.alone, MOST_LONE * math.log(verdict.ratio)):
        apart = format_factor(math.exp(-sum(log.alone) / len(log.alone)))
        return f"{apart} times as fast in turns of either without the other: beside it, the reference is slower"
    if log.typical and median(log.typical) > MOST_LONE * math.log(verdict.ratio):
        return "faster in rounds that nothing disturbed, and not in all: which ones are disturbed may be its own doing"
    return ""


def doubt_of_layout(verdict: Verdict, remarks: Sequence[Evidence]) -> str:
    """Return why a candidate is not faster whose results lie in another order: a transposition may be no more."""
    if verdict.verdict != "faster" or not any(remark.slug == "other_layout" for remark in remarks):
        return ""
    return "faster with results in another order; bring them into the reference's, or have the reference use that"


def _speed(pairs: Sequence[PairValue], verdict: Verdict | None = None) -> Speed | None:
    """Return how fast the candidate is by these pairs; the interval is that of the verdict, where there is one."""
    ratios = log_ratios(pairs)
    if len(ratios) < LEAST_PAIRS:
        return None
    test = paired_test(ratios)
    low, high = test.interval()
    ratio, bounds = math.exp(test.mean), (math.exp(low), math.exp(high))
    if verdict is not None and verdict.ratio is not None and verdict.interval is not None:
        ratio, bounds = verdict.ratio, verdict.interval
    levels = [(pair.base["turn"] * pair.new["turn"]) ** 0.5 for pair in pairs if pair.base and pair.new]
    level = math.exp(sum(map(math.log, levels)) / len(levels))
    return Speed(level * ratio**0.5, level / ratio**0.5, 1 / ratio, (1 / bounds[1], 1 / bounds[0]))
