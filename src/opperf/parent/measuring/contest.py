"""A contest: one case in a direction on two sides, its pairs so far, and the comparison that it ends with."""

from __future__ import annotations

import math
import signal
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime, timezone
from statistics import geometric_mean

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import OperatorFailure, OpperfError
from opperf.domain.files.json_text import JsonDict
from opperf.domain.kernels import KERNELS
from opperf.domain.measurement import Measurement
from opperf.domain.plan import INSTRUCTIONS, Settings, Trial
from opperf.domain.reason import Warning
from opperf.domain.record import Run
from opperf.domain.stats.order import median
from opperf.domain.tensor import TensorSpec
from opperf.domain.units import plural
from opperf.parent.analysis.counts import vector_warnings
from opperf.parent.analysis.modes import Doubt, doubt, fault_warnings
from opperf.parent.analysis.verdict import LEAST_PAIRS, interrupted
from opperf.parent.documents.comparison import Comparison, Explanations, PairValue, PeakMemory, Verdict
from opperf.parent.documents.floor import Floor
from opperf.parent.workers import machine
from opperf.parent.workers.rounds import LONG_TURN


@dataclass
class Contest:
    """One case in a direction on two sides, and its pairs so far.

    `absent`: a side has no such operator. `seconds` is what they took, with their share of starting the children;
    `planned` is how many there are at most. `at_fault` is the place of the side that failed, where one did.
    `first_only`: the verdict comes from the first stage although a second was started. Where the `metric` is exact,
    `counts` decide, and of instructions `time` is the verdict on the first stage.
    """

    base: Trial
    new: Trial
    key: Trial
    stage1: list[PairValue] = field(default_factory=list)
    stage2: list[PairValue] = field(default_factory=list)
    counts: list[PairValue] = field(default_factory=list)
    time: Verdict | None = None
    memory: list[Measurement] = field(default_factory=list)
    seconds: float = 0.0
    planned: int = 0
    floor: Floor | None = None
    failure: str | None = None
    skipped: bool = False
    absent: bool = False
    at_fault: int | None = None
    verdict: Verdict | None = None
    first_only: bool = False
    metric: str = Settings.metric
    explanation: Explanations = field(default_factory=Explanations)
    versions: tuple[str | None, str | None] = (None, None)
    facts: JsonDict = field(default_factory=dict)

    @property
    def pairs(self) -> int:
        """The pairs that were measured, in both stages."""
        return len(self.stage1) + len(self.stage2) + len(self.counts)

    @property
    def missing(self) -> int:
        """How many more are planned at most."""
        return max(0, self.planned - self.pairs)

    @property
    def is_long(self) -> bool:
        """Whether a call of the slower side took long in each pair, so that a pair costs much."""
        levels = [pair.levels for pair in (*self.stage1, *self.stage2) if pair.levels and pair.metric == "time"]
        return bool(levels) and all(max(both) >= LONG_TURN for both in levels)

    @property
    def decided(self) -> bool:
        """Whether measuring is over."""
        return self.verdict is not None or self.failure is not None

    @property
    def decisive(self) -> list[PairValue]:
        """The pairs behind the verdict."""
        if self.counts and not self.stage1:
            return self.counts
        return self.stage1 if self.first_only or len(self.ratios2) < LEAST_PAIRS else self.stage2

    @property
    def warnings(self) -> tuple[Warning, ...]:
        """What was seen of either side, each once."""
        pairs = (*self.stage1, *self.stage2)
        warnings = (one for pair in (*self.counts, *pairs) for one in pair.warnings)
        return tuple(dict.fromkeys([*warnings, *fault_warnings(pairs)]))

    def doubt(self, change: float) -> Doubt | None:
        """Return why its pairs make no change beyond a log-ratio certain, None where nothing speaks against it."""
        peaks = [quantity.value for one in self.memory if (quantity := one.quantity("memory_peak"))]
        return doubt((*self.stage1, *self.stage2), self.base, self.new, change, max(peaks, default=None))

    def fail(self, error: OpperfError, turn: int) -> None:
        """Keep why it cannot be measured; `turn` is the side that said so."""
        self.failure, self.at_fault = str(error).partition("\n")[0], turn
        # What the base cannot do has nothing to be compared with; what only the new side cannot do has failed.
        self.absent = isinstance(error, OperatorFailure) and error.skipped
        self.skipped = self.absent and turn == 0

    @property
    def count_ratios(self) -> list[float]:
        """The log-ratios of counted instructions."""
        return log_ratios(self.counts)

    @property
    def resolution(self) -> float:
        """The share of a value that its readings do not tell."""
        return max((pair.resolution for pair in self.decisive), default=0.0)

    @property
    def ratios1(self) -> list[float]:
        """The log-ratios of stage 1."""
        return log_ratios(self.stage1)

    @property
    def ratios2(self) -> list[float]:
        """The log-ratios of stage 2."""
        return log_ratios(self.stage2)


def stop_name(cause: BaseException | None) -> str:
    """Name what stopped a comparison.

    >>> stop_name(KeyboardInterrupt()), stop_name(SystemExit(143)), stop_name(ValueError())
    ('Ctrl-C', 'SIGTERM', 'an error')
    """
    if isinstance(cause, KeyboardInterrupt):
        return "Ctrl-C"
    if isinstance(cause, SystemExit):
        return "SIGTERM" if cause.code == 128 + signal.SIGTERM else "a stop"
    return "an error"


def unfinished(contest: Contest, budget: float | None, stop: str | None) -> Verdict:
    """Return the verdict on a contest without one: what kept it from being measured, or ended it, and what it has.

    `stop` names what ended it, None where its budget did; `budget` would have been enough, where that is known.
    """
    if contest.failure is not None:
        word = "skipped" if contest.skipped else "failed"
        reason = contest.failure.removeprefix("not measured: ")
        return Verdict(word, None, None, f"not measured: {reason}", contest.pairs)
    ratios = log_ratios(contest.decisive)
    when = f"after {plural(contest.pairs, 'pair')}" if contest.pairs else "before a pair"
    if stop is not None:
        return interrupted(ratios, f"{stop} ended the comparison {when}", None)
    settle = "give more `--budget`" if budget is None else f"about {budget:g} s: `--budget {budget:g}`"
    return interrupted(ratios, f"the budget ran out {when}", settle)


def sharing(contests: Sequence[Contest]) -> list[list[Contest]]:
    """Return the contests that share a pair of children: what one frees must not decide how the next gets its memory.

    Where the allocator's thresholds are fixed, it does not.
    """
    alone = any("default" in (one.base.side.allocator, one.new.side.allocator) for one in contests)
    return [[one] for one in contests] if alone else [[*contests]]


def outcome(contest: Contest) -> Comparison:
    """Return the comparison that a contest ends with."""
    if contest.verdict is None:
        raise ValueError("the contest has no verdict yet")
    verdict, decisive = contest.verdict, contest.decisive
    values = [(pair.base, pair.new) for pair in decisive if pair.base and pair.new and pair.metric == "time"]
    is_time = contest.metric == "time"
    base_value, new_value = (None, None) if is_time else _levels(contest.counts or decisive)
    is_counted = contest.metric == INSTRUCTIONS and base_value is not None
    doubts = vector_warnings(contest.base, base_value) if is_counted and base_value is not None else ()
    tails: dict[str, float] = {}
    base_time = new_time = None
    if len(values) >= LEAST_PAIRS:
        base_time, new_time = _times(values, (contest.time or verdict).ratio)
        tails = {name: median([new[name] / base[name] for base, new in values]) for name in ("median", "p90")}
    elif unusable := [pair.reason for pair in decisive if pair.reason is not None]:
        verdict = replace(verdict, reason=f"{verdict.reason}; the last unusable pair had {unusable[-1]}")
    return Comparison(
        case=contest.key.case,
        direction=contest.key.direction,
        base=contest.base.side,
        new=contest.new.side,
        verdict=verdict,
        base_time=base_time,
        new_time=new_time,
        tails=tails,
        memory=_memory(contest.memory),
        warnings=(*contest.warnings, *doubts),
        log_ratios=(tuple(contest.ratios1), tuple(contest.ratios2)),
        clock=INSTRUCTIONS if contest.counts and contest.metric == INSTRUCTIONS else _clock(decisive),
        status="skipped" if contest.skipped else "ok" if contest.failure is None else "failed",
        explanation=contest.explanation,
        count=contest.key.count,
        base_version=contest.versions[0],
        new_version=contest.versions[1],
        facts={
            **contest.facts,
            **_facts((*contest.stage1, *contest.stage2)),
            **_dtypes(contest),
            **({"seconds": round(contest.seconds, 3)} if contest.seconds else {}),
        },
        time=contest.time,
        metric=contest.metric,
        base_value=base_value,
        new_value=new_value,
        base_faults=_faults([pair.base for pair in (*contest.stage1, *contest.stage2)]),
        new_faults=_faults([pair.new for pair in (*contest.stage1, *contest.stage2)]),
        pair_levels=(_pair_levels(contest.stage1), _pair_levels(contest.stage2)),
    )


def _facts(pairs: Sequence[PairValue]) -> JsonDict:
    """Return the facts of both sides in the last pair: the reference of their results, places of tensors, the unit."""
    checks = [pair.checked for pair in pairs if pair.checked]
    places = {pair.placement: None for pair in pairs if pair.placement is not None}
    units = [pair.unit for pair in pairs if pair.unit is not None]
    return {
        **({"unit": units[-1]} if units else {}),
        **({"checked": dict(checks[-1])} if checks else {}),
        **({"placement": " and ".join(places)} if places else {}),
    }


def _dtypes(contest: Contest) -> JsonDict:
    """Return the fact of which element types the sides have instead of the case's; none where both have its own."""
    names = {"base": _dtype(contest.base, contest.key), "new": _dtype(contest.new, contest.key)}
    return {"dtypes": names} if any(names.values()) else {}


def _dtype(trial: Trial, key: Trial) -> str | None:
    """Return the element type that a side's `dtype` sets, None for the case's own."""
    for name, value in trial.case.inputs.items():
        usual = key.case.inputs.get(name)
        if isinstance(value, TensorSpec) and isinstance(usual, TensorSpec) and value.dtype != usual.dtype:
            return value.dtype
    return None


def _faults(sides: Sequence[Mapping[str, float] | None]) -> tuple[float, ...]:
    """Return the page faults of a call in each process of a side."""
    return tuple(one["faults"] for one in sides if one is not None and "faults" in one)


def _pair_levels(pairs: Sequence[PairValue]) -> tuple[tuple[float, float], ...]:
    """Return the values of both sides in each pair that has a ratio."""
    return tuple(pair.levels for pair in pairs if pair.log_ratio is not None and pair.levels is not None)


def _clock(pairs: Sequence[PairValue]) -> str:
    """Return the clock that decided: that of the pairs, and of those that are at odds the one that stood in."""
    clocks = {pair.clock for pair in pairs} or {"wall"}
    return next(clock for clock in ("cpu", "wall", KERNELS) if clock in clocks)


def _levels(pairs: Sequence[PairValue]) -> tuple[float | None, float | None]:
    """Return the median of each side over the pairs."""
    levels = [pair.levels for pair in pairs if pair.levels is not None]
    return (median([base for base, _ in levels]), median([new for _, new in levels])) if levels else (None, None)


def _times(
    values: Sequence[tuple[Mapping[str, float], Mapping[str, float]]], ratio: float | None
) -> tuple[float, float]:
    """Return the times of both sides, from the pairs behind the ratio: they differ by exactly that ratio."""
    base, new = (geometric_mean([value[place]["turn"] for value in values]) for place in (0, 1))
    apart = math.sqrt(new / base if ratio is None else ratio)
    level = math.sqrt(base * new)
    return level / apart, level * apart


def log_ratios(pairs: Sequence[PairValue]) -> list[float]:
    """Return the log-ratios of the pairs that have one."""
    return [pair.log_ratio for pair in pairs if pair.log_ratio is not None]


def _memory(measurements: Sequence[Measurement]) -> PeakMemory:
    peaks = [peak for one in measurements if (peak := one.quantity("memory_peak"))]
    if len(peaks) != 2:
        return {}
    base, new = peaks
    first, second = (
        None if (quantity := one.quantity("memory_allocated")) is None else quantity.value for one in measurements
    )
    same = (base.value, first) == (new.value, second)
    return {"peak": (base.value, new.value), "allocated": (first, second), "same": same, "source": base.source}


def version(facts: object) -> str | None:
    """Return the version of a framework from its child's facts."""
    text = facts.get("version") if isinstance(facts, dict) else None
    return None if text is None else str(text)


@dataclass(frozen=True)
class Start:
    """The moment at which a command begins, and the load that the machine has by then."""

    moment: str
    load: Sequence[float] | None


def start() -> Start:
    """Begin a command."""
    return Start(datetime.now(timezone.utc).isoformat(timespec="seconds"), machine.loads())


def header(
    settings: Settings, start: Start, sides: Mapping[str, object], *, labels: Mapping[str, str], command: Sequence[str]
) -> Run:
    """Return the run that comparisons stand under; `sides` holds what the children of each side said of themselves."""
    return Run(
        id=uuid.uuid4().hex[:12],
        started=start.moment,
        command=tuple(command),
        settings=settings,
        labels=labels,
        environment={
            "machine": {**machine.facts(), "load": start.load, "load_after": machine.loads()},
            "sides": dict(sides),
        },
    )
