"""What decisions come to: the state that a change is in, and which findings of a gate are expected.

A change keeps its decision where it moves: builds that are measured later may place it between others. It is the same
one as long as the builds that it lies between overlap with those of then, and it goes in the same direction.

A finding is expected where somebody said so of all that it shows: changes between its two builds, and its time is not
certainly beyond what they explain and the tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from opperf.domain.case import Case
from opperf.domain.dataclass import dataclass
from opperf.domain.files.json_text import JsonObject
from opperf.domain.stats.significance import Estimate
from opperf.domain.units import format_percent
from opperf.parent.analysis.gate import memory_growth
from opperf.parent.documents.comparison import CHANGES, Comparison
from opperf.parent.documents.floor import series_side
from opperf.parent.documents.judgement import Finding, Judgement
from opperf.parent.documents.triage import FIXED, NEW, QUIET, Decision, Step, series_hash


@dataclass(frozen=True)
class Standing:
    """How a change stands: its name, its state, the decision that holds, and what else is to be known."""

    name: str = ""
    state: str = NEW
    decision: Decision | None = None
    remark: str = ""


class Triage:
    """The decisions of a database, the earliest first, and the builds of each framework in their order."""

    def __init__(self, decisions: Iterable[Decision] = (), orders: Mapping[str, Sequence[str]] | None = None) -> None:
        self.latest: dict[str, Decision] = {}
        for decision in decisions:
            self.latest.pop(decision.change, None)  # so that the latest stands last
            self.latest[decision.change] = decision
        self.orders = orders or {}
        self._places = {
            framework: {build: place for place, build in enumerate(order)} for framework, order in self.orders.items()
        }

    def standings(self, steps: Sequence[Step], measured: datetime) -> list[Standing]:
        """Return how the changes of one series stand, in the order of builds; `measured` is when its last build was."""
        names = {step.name for step in steps}
        standings: list[Standing] = []
        for place, step in enumerate(steps):
            decision = self.latest.get(step.name) or self._moved(step, names)
            if decision is None:
                standing = Standing(step.name)
            elif decision.state == FIXED and measured > decision.moment and _lasts(steps[place:]):
                standing = Standing(decision.change, NEW, decision, "was called fixed, but later builds show it")
            else:
                standing = Standing(decision.change, decision.state, decision)
            before = [former for former, earlier in zip(standings, steps) if earlier.is_slower == step.is_slower]
            fixed = [former.name for former in before if former.state == FIXED]
            if decision is None and fixed:
                standing = replace(standing, remark=f"back: `{fixed[-1]}` was fixed")
            standings.append(standing)
        return standings

    def judge(self, judgement: Judgement) -> Judgement:
        """Return a judgement in which findings have the names of their changes, and expected ones fail nothing."""
        tolerances = judgement.tolerances
        findings = (self._finding(one, tolerances.of(one.comparison.case.operator)) for one in judgement.findings)
        return replace(judgement, findings=tuple(findings))

    def _finding(self, finding: Finding, tolerance: float) -> Finding:
        comparison, step = finding.comparison, step_of(finding.comparison)
        if step is None or comparison.verdict.verdict not in CHANGES:
            return finding
        finding = replace(finding, change=step.name)
        if finding.kind != "slower":
            return finding
        decisions = self._within(step)
        if not decisions:
            former = self._fixed(step)
            return finding if former is None else _add(finding, f"back: `{former.change}` {former.words}")
        most = math.exp(math.fsum(math.log(decision.step.size.interval()[1]) for decision in decisions))
        least = comparison.interval[0] if comparison.interval else math.exp(step.size.log_ratio)
        if least > most * (1 + tolerance):
            names = ", ".join(f"`{decision.change}`" for decision in decisions)
            return _add(finding, f"beyond the {format_percent(most - 1)} that {names} may explain")
        words = "; ".join(f"`{decision.change}` {decision.words}" for decision in decisions)
        growth = memory_growth(comparison, tolerance)
        if growth is not None:
            return replace(finding, kind="memory", message=f"{growth}; the time: {words}")
        return replace(_add(finding, words), kind="expected")

    def _within(self, step: Step) -> list[Decision]:
        """Return the decisions that excuse a step, or parts of it; of those on one change, the latest."""
        parts: list[Decision] = []
        for decision in reversed(self.latest.values()):
            is_part = decision.change == step.name or self._overlap(decision.step, step)
            if (
                decision.state in QUIET
                and is_part
                and not any(self._overlap(decision.step, part.step) for part in parts)
            ):
                parts.append(decision)
        return parts

    def _fixed(self, step: Step) -> Decision | None:
        alike = (step.series, step.is_slower)
        decisions = (one for one in reversed(self.latest.values()) if one.state == FIXED)
        return next((one for one in decisions if (one.step.series, one.step.is_slower) == alike), None)

    def _moved(self, step: Step, names: set[str]) -> Decision | None:
        """Return the latest decision on a change that lay about here, and is no longer where it was."""
        decisions = (one for one in reversed(self.latest.values()) if one.change not in names)
        return next((one for one in decisions if self._overlap(one.step, step)), None)

    def _overlap(self, first: Step, second: Step) -> bool:
        """Whether two steps of one series, in one direction, have a pair of neighbouring builds in common."""
        if (first.series, first.is_slower, first.framework) != (second.series, second.is_slower, second.framework):
            return False
        places = self._places.get(first.framework, {})
        ends = [places.get(build) for step in (first, second) for build in (step.before, step.after)]
        if None in ends:
            return (first.before, first.after) == (second.before, second.after)
        before, after, other_before, other_after = (place or 0 for place in ends)
        return before < other_after and other_before < after


def _lasts(steps: Sequence[Step]) -> bool:
    """Whether no later step of a series goes back on the first."""
    return all(step.is_slower == steps[0].is_slower for step in steps)


def _add(finding: Finding, words: str) -> Finding:
    return replace(finding, message=f"{finding.message}; {words}")


class Series(Protocol):
    """A series of builds: a case in a direction on a side, whose environment is each build's own."""

    @property
    def case(self) -> Case:
        """What is computed."""

    @property
    def direction(self) -> str:
        """Forward, backward or both."""

    @property
    def framework(self) -> str:
        """Whose builds they are."""

    @property
    def side(self) -> JsonObject:
        """The side without its environment."""


def step_in(series: Series, before: str, after: str, size: Estimate) -> Step:
    """Return the step between two builds of a series; where that knows no metric, it is of times."""
    metric = getattr(series, "metric", "time")
    hash_ = series_hash(series.case.id, series.direction, series.side, metric)
    return Step(hash_, series.case.operator, series.framework, before, after, size)


def step_of(comparison: Comparison) -> Step | None:
    """Return the step that a comparison shows; None without a ratio, and where no two versions were compared."""
    base, new, interval = comparison.base, comparison.new, comparison.interval
    versions = comparison.base_version, comparison.new_version
    if comparison.ratio is None or None in versions or versions[0] == versions[1] or base.framework != new.framework:
        return None
    size = (
        Estimate(math.log(comparison.ratio), 0.0)
        if interval is None
        else Estimate.of(comparison.ratio, interval, comparison.verdict.confidence)
    )
    series = series_hash(comparison.case.id, comparison.direction, series_side(new), comparison.metric)
    return Step(series, comparison.case.operator, new.framework, versions[0] or "", versions[1] or "", size)
