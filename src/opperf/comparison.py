"""What is said of two sides: one comparison for each case and direction, and the verdict on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from opperf.plan import Side
from opperf.reason import Warning
from opperf.record import SCHEMA_VERSION, Run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opperf.case import Case

VERDICTS = ("slower", "faster", "same", "inconclusive")


@dataclass(frozen=True)
class PairValue:
    """What one pair of processes said.

    `log_ratio` is the evidence: the median over rounds of the log-ratio of new to base, by the clean minimum of each
    turn. `base` and `new` hold clean minimum, median and 90th percentile in seconds, both from the same number of clean
    samples of the same rounds. With fewer than five rounds a pair says nothing: all are None, and `reason` tells why.
    `clock` is `cpu` where CPU time stands in for wall time.
    """

    log_ratio: float | None
    base: Mapping[str, float] | None
    new: Mapping[str, float] | None
    rounds: int = 0
    reason: str | None = None
    clock: str = "wall"


@dataclass(frozen=True)
class Verdict:
    """The answer on a pair of sides.

    `ratio` is new over base (above 1 is slower) and `interval` its 95 % interval; both are of the second stage where
    there was one. `settle` says what would settle an inconclusive one.
    """

    verdict: str
    ratio: float | None
    interval: tuple[float, float] | None
    reason: str
    pairs: int
    settle: str | None = None


@dataclass(frozen=True)
class Comparison:
    """A case in a direction on two sides, and what is said of it.

    `status` is that of a record: `failed` where a side could not be measured, `skipped` where there is nothing to
    compare with; the verdict then gives the reason. `stages` holds the log-ratios of each stage. `clock` is what
    decided: `wall`, or `cpu` where wall time could not. `explanation` is what ran on both sides, where that was asked
    for.
    """

    case: Case
    direction: str
    base: Side
    new: Side
    verdict: Verdict
    base_time: float | None = None
    new_time: float | None = None
    tails: Mapping[str, float] = field(default_factory=dict)
    memory: Mapping[str, Any] = field(default_factory=dict)
    stages: tuple[tuple[float, ...], ...] = ()
    clock: str = "wall"
    warnings: tuple[Warning, ...] = ()
    status: str = "ok"
    explanation: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        verdict = self.verdict
        return {
            "case": self.case.to_json(),
            "direction": self.direction,
            "base": self.base.to_json(),
            "new": self.new.to_json(),
            "status": self.status,
            "verdict": verdict.verdict,
            "ratio": verdict.ratio,
            "interval": None if verdict.interval is None else list(verdict.interval),
            "reason": verdict.reason,
            "settle": verdict.settle,
            "pairs": verdict.pairs,
            "base_time": self.base_time,
            "new_time": self.new_time,
            "clock": self.clock,
            "tails": dict(self.tails),
            "memory": dict(self.memory),
            "log_ratios": [list(stage) for stage in self.stages],
            "warnings": [warning.to_json() for warning in self.warnings],
            "explanation": dict(self.explanation),
        }


@dataclass(frozen=True)
class ComparisonRun:
    """The comparisons of one command, under the header of a run."""

    run: Run
    comparisons: tuple[Comparison, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the document."""
        return {
            "schema_version": SCHEMA_VERSION,
            "run": self.run.header(),
            "comparisons": [comparison.to_json() for comparison in self.comparisons],
        }
