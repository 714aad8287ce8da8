"""From comparisons to what a gate says: which are regressions, and why.

A regression is a `slower` verdict, or a peak of memory that grew by more than the tolerance. Memory is counted exactly
and only compared within one framework and mode, so no interval is needed.
"""

from __future__ import annotations

from collections.abc import Sequence

from opperf.domain.comparison import Comparison, Verdict
from opperf.domain.judgement import Finding, Judgement
from opperf.domain.units import format_bound, format_bytes, format_ratios


def judged(
    comparisons: Sequence[Comparison], tolerance: float, *, against: str = "base", inconclusive: str = "fail"
) -> Judgement:
    """Return what the gate says of comparisons; the tolerance holds for time and memory."""
    whose = "the base's" if against == "base" else "the expected"
    findings = tuple(_finding(comparison, tolerance, whose) for comparison in comparisons)
    return Judgement(findings, tolerance, against, inconclusive)


def _finding(comparison: Comparison, tolerance: float, whose: str) -> Finding:
    """Return the finding on one comparison. Memory that grew is told on top of whatever the time did."""
    verdict = comparison.verdict
    grown = memory_growth(comparison, tolerance)
    if comparison.status != "ok":
        return Finding(comparison.status, comparison, verdict.reason)
    if verdict.verdict == "slower":
        return Finding("slower", comparison, "; ".join(filter(None, (_time(comparison, whose), grown))))
    if grown is not None:
        return Finding("memory", comparison, grown)
    if verdict.verdict == "inconclusive":
        settle = None if verdict.settle is None else f"to settle it: {verdict.settle}"
        return Finding("inconclusive", comparison, "; ".join(filter(None, (_limit(verdict), verdict.reason, settle))))
    return Finding(verdict.verdict, comparison, _time(comparison, whose))


def memory_growth(comparison: Comparison, tolerance: float) -> str | None:
    """Say by how much the peak of memory grew; None when it did not, or is not known on both sides."""
    if not comparison.memory:
        return None
    base, new = comparison.memory["peak"]
    if new <= base * (1 + tolerance):
        return None
    share = f" (+{new / base - 1:.1%})" if base else ""
    return f"peak memory grew from {format_bytes(base)} to {format_bytes(new)}{share}"


def _time(comparison: Comparison, whose: str) -> str:
    """Write the ratio and its interval, as `1.100 times the base's time, 95 % interval [1.090, 1.110]`."""
    verdict = comparison.verdict
    if verdict.ratio is None:
        return verdict.reason
    text = f"{verdict.ratio:.3f} times {whose} time"
    if verdict.interval is None:
        return text
    text = f"{text}, {100 * verdict.confidence:g} % interval {format_ratios(verdict.interval)}"
    return "; ".join(filter(None, (text, _limit(verdict))))


def _limit(verdict: Verdict) -> str | None:
    """Say what is known where no change was called, as `no change beyond ±2.3%`."""
    return None if verdict.bound is None else f"no change beyond {format_bound(verdict.bound)}"
