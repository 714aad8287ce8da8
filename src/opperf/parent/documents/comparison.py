"""The comparison of two sides: one for each case and direction, with its verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TypedDict

from opperf.domain.case import Case
from opperf.domain.codec import Fields, read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import JsonObject
from opperf.domain.node import Node
from opperf.domain.plan import Side
from opperf.domain.reason import Warning
from opperf.domain.record import Run
from opperf.domain.stats.order import CONFIDENCE
from opperf.domain.type_hint import Amount, Confidence, LogRatio, Positive, Ratio
from opperf.parent.documents.machines import across
from opperf.parent.documents.wholes import wholes

#: An interval that reaches beyond this factor, either way, bounds no change.
WIDEST = 2.0
#: A peak of memory is worth a word where it moved by this share, and by this many bytes, a page: what is less is what
#: frameworks note for themselves.
MOVED_SHARE, MOVED_BYTES = 0.01, 4096
#: What would settle a verdict that modes leave open: more pairs would not.
LATER = "compare again later: modes may last for minutes"
CHANGES = ("slower", "faster")
VERDICTS = (*CHANGES, "same", "inconclusive", "failed", "skipped")


@dataclass(frozen=True)
class PairValue(Fields):
    """What one pair of processes said.

    `log_ratio` is the evidence: the centre over rounds of the log-ratio of new to base, by the clean minimum of each
    turn. `base` and `new` hold, in seconds, `turn`, the centre over rounds of those minima, new over base being the
    ratio; and clean minimum, median and 90th percentile, both from the same number of clean samples of the same rounds.
    With fewer than five rounds a pair has no values: all are None, and `reason` says why.
    `clock` is `cpu` where CPU time stands in for wall time, and `kernels` where it is the time that a device was busy.
    Of another `metric` than the time, `base` and `new` hold its values alone, in its unit, by its name; `resolution` is
    the share of them that the readings do not tell, `unit` that of values which have another than their metric.
    `warnings` are those of either side, and `checked` says what the results of each were checked against. `placement`
    is `planned` where both sides had their tensors at the same places in each round, `drawn` where each had its own.
    """

    log_ratio: LogRatio | None
    base: Mapping[str, float] | None
    new: Mapping[str, float] | None
    rounds: int = 0
    reason: str | None = None
    clock: str = "wall"
    warnings: tuple[Warning, ...] = ()
    checked: Mapping[str, str] = field(default_factory=dict)
    placement: str | None = None
    metric: str = "time"
    resolution: float = 0.0
    unit: str | None = None

    @property
    def levels(self) -> tuple[float, float] | None:
        """What the pair says of base and new in the unit of its metric; None where it has no values."""
        name = "turn" if self.metric == "time" else self.metric
        return None if self.base is None or self.new is None else (self.base[name], self.new[name])


@dataclass(frozen=True)
class Verdict(Fields):
    """The answer on a pair of sides.

    `ratio` is new over base (above 1 is slower) and `interval` its interval at `confidence`; both are of the second
    stage where there was one. `settle` says what would settle an inconclusive one. `failed` and `skipped` are the
    answers where a side could not be measured, and where there is nothing to compare with. It prints as its word, and
    equals it.

    >>> Verdict("slower", 1.5, (1.4, 1.6), "", 5) == "slower"
    True
    """

    verdict: str
    ratio: Ratio | None
    interval: tuple[Positive, Positive] | None
    reason: str
    pairs: int
    settle: str | None = None
    confidence: Confidence = CONFIDENCE

    beside = ("bound",)

    def __str__(self) -> str:
        return self.verdict

    def __eq__(self, answer: object) -> bool:
        if isinstance(answer, Verdict):
            return self.to_json() == answer.to_json()
        return self.verdict == answer if isinstance(answer, str) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.verdict)

    @property
    def bound(self) -> float | None:
        """The largest change, either way, that the interval leaves possible where no change was called.

        None where that is more than a factor of two: such an interval says nothing.

        >>> round(Verdict("inconclusive", 1.0, (0.98, 1.023), "", 12).bound, 3)
        0.023
        >>> Verdict("inconclusive", 2.0, (0.98, 4.224), "", 4).bound is None
        True
        """
        if self.interval is None or self.verdict not in ("same", "inconclusive"):
            return None
        low, high = self.interval
        return max(abs(1 - low), abs(1 - high)) if low > 1 / WIDEST and high < WIDEST else None

    @property
    def lacks_pairs(self) -> bool:
        """Whether it is inconclusive with so few pairs, or such wide ones, that no change is excluded."""
        return self.verdict == "inconclusive" and self.pairs > 0 and self.bound is None and self.settle != LATER


class PeakMemory(TypedDict, total=False):
    """The peaks of base and new in bytes and what each asked for, whether they are the `same`, and how it is known."""

    peak: tuple[float, float]
    allocated: tuple[float | None, float | None]
    same: bool
    source: str | None


def moved(memory: PeakMemory) -> bool:
    """Return whether a peak moved by as much as is worth a word; False where it is not known on both sides.

    >>> moved({"peak": (4194304, 4202496)}), moved({"peak": (5404, 9600)}), moved({"peak": (1000, 5000)}), moved({})
    (False, True, False, False)
    """
    if not memory:
        return False
    base, new = memory["peak"]
    return abs(new - base) >= max(MOVED_BYTES, MOVED_SHARE * base)


class Explanations(TypedDict, total=False):
    """What ran on both sides, in JSON form, and the differences; `failures` say why a side has no explanation."""

    base: list[dict[str, object]]
    new: list[dict[str, object]]
    difference: list[str]
    alike: int
    notes: dict[str, list[str]]
    failures: dict[str, str]


@dataclass(frozen=True)
class Comparison(Fields):
    """A case in a direction on two sides, and its verdict.

    `status` is that of a record: `failed` where a side could not be measured, `skipped` where there is nothing to
    compare with; the verdict is the same word then, and gives the reason. `log_ratios` are those of each stage.
    `metric` is what decided. If it is not the time, both sides have a value of it, in its unit. `clock` is what times
    are by: `wall`, `cpu` where wall time could not, `kernels` for the time of a device, or `instructions`, where counts
    decide and `time` is the verdict of the clock. `explanation` is what ran on both sides, where that was asked for.
    `count` is how often the case occurs in its suite. `base_time` and `new_time` are of the pairs that the ratio is of:
    the one over the other is the ratio. The versions are those of the frameworks on both sides. `node` is the machine
    that measured both, where that was one of a fleet. `facts` has `jobs` where several measured: the CPUs of the pairs,
    their class of work and what ran beside them; `checked`, what results of base and new were checked against; and the
    `placement` of their tensors, `planned` or `drawn`, as in a `PairValue`. The faults are the page faults of a timed
    call on either side, one number for each of its processes in both stages. `pair_levels` are what base and new took
    in each pair that `log_ratios` has, in the unit of the metric.
    """

    case: Case
    direction: str
    base: Side
    new: Side
    verdict: Verdict
    base_time: float | None = None
    new_time: float | None = None
    tails: Mapping[str, float] = field(default_factory=dict)
    memory: PeakMemory = field(default_factory=PeakMemory)
    log_ratios: tuple[tuple[LogRatio, ...], ...] = ()
    clock: str = "wall"
    warnings: tuple[Warning, ...] = ()
    status: str = "ok"
    explanation: Explanations = field(default_factory=Explanations)
    count: int = 1
    base_version: str | None = None
    new_version: str | None = None
    node: Node | None = None
    facts: Mapping[str, object] = field(default_factory=dict)
    time: Verdict | None = None
    metric: str = "time"
    base_value: float | None = None
    new_value: float | None = None
    base_faults: tuple[float, ...] = ()
    new_faults: tuple[float, ...] = ()
    pair_levels: tuple[tuple[tuple[Amount, Amount], ...], ...] = ()

    flat = ("verdict",)
    sparse = ("node", "facts", "time", "metric", "base_value", "new_value", "base_faults", "new_faults", "pair_levels")

    @property
    def levels(self) -> tuple[float | None, float | None]:
        """What base and new take by the metric that decided, in its unit."""
        return (self.base_time, self.new_time) if self.metric == "time" else (self.base_value, self.new_value)

    @property
    def ratio_name(self) -> str:
        """What formats without a place for the metric call the ratio."""
        return "ratio" if self.metric == "time" else f"{self.metric}_ratio"

    @property
    def ratio(self) -> float | None:
        """The value of new over that of base, of times those of their pairs; None without three usable pairs."""
        return self.verdict.ratio

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the ratio lies, at the verdict's confidence."""
        return self.verdict.interval

    @property
    def reason(self) -> str:
        """Why the verdict is what it is."""
        return self.verdict.reason

    def __str__(self) -> str:
        """Return a sentence: the operator and direction, the verdict, and the ratio with its interval."""
        numbers = "" if self.ratio is None else f", {self.ratio:.3f}"
        if self.interval is not None:
            numbers += " [{:.3f}, {:.3f}]".format(*self.interval)
        return f"{self.case.operator} {self.direction}: {self.verdict}{numbers} ({self.reason})"

    def __post_init__(self) -> None:
        """Raise `InputError` for what a file leaves out of a part."""
        for name, part, needed in (
            ("memory", self.memory, ("peak", "same")),
            ("explanation", self.explanation, ("difference", "alike", "failures")),
        ):
            missing = [key for key in needed if part and key not in part]
            if missing:
                raise InputError(f"`{name}` has no `{missing[0]}`", slug="bad_value")


@dataclass(frozen=True)
class ComparisonRun:
    """The comparisons of one command, under the header of a run."""

    run: Run
    comparisons: tuple[Comparison, ...]

    @classmethod
    def from_json(cls, data: JsonObject, where: str) -> ComparisonRun:
        """Read the document; raises `InputError` that names the place."""
        run = Run.above(data, where)
        return cls(run, read_as(tuple[Comparison, ...], data.get("comparisons"), f"{where}: comparisons"))

    def to_json(self) -> dict[str, object]:
        """Return the document."""
        parts = {"wholes": wholes(self.comparisons), "machines": across(self.comparisons)}
        return self.run.document(comparisons=self.comparisons, **{name: part for name, part in parts.items() if part})
