"""The builds of a bisection as a staircase for each operator: levels by all that was measured, and what was not."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise

from opperf.domain.stats.significance import Estimate
from opperf.domain.units import plural
from opperf.parent.analysis.ratio_graph import Edge, RatioGraph
from opperf.parent.documents.bisection import Answer, Bisection, Step
from opperf.parent.pages.charts.staircase import Place, Riser, Staircase, Tread
from opperf.parent.reports.bisect import commit_text
from opperf.parent.reports.text import short_text, subject

#: The least error of a comparison: that of builds that are the same to the byte is counted, not measured.
LEAST_ERROR = 1e-4
#: How many standard errors an interval goes to either side.
SIDES = 2


def staircases(bisection: Bisection) -> Iterator[Staircase]:
    """Yield the staircase of each operator of which anything was measured."""
    for answer in bisection.answers:
        if not answer.probes:
            continue
        good = bisection.builds[0]
        levels = _levels(answer, good)
        places = [*_places(bisection, answer, levels)]
        numbers = {place.name: number for number, place in enumerate(places)}
        measured = sum(place.value is not None for place in places)
        yield Staircase(
            f"{subject(answer.case, bisection.side)} {answer.direction} {short_text(answer.case)}".rstrip(),
            f"{answer.reason}. A dot is the time of a build over that of {good}, by all comparisons; its line is two "
            f"standard errors to either side. {measured} of {len(bisection.builds)} builds were measured; a number "
            "counts those in a row that were not, a cross is one that could not be.",
            places,
            lambda ratio: f"{ratio:g}",
            [*_treads(answer, places, numbers)],
            [Riser(numbers[step.after], f"{step.ratio - 1:+.1%}", _level(step)) for step in answer.steps],
            None if answer.between is None or answer.kind == "slope" else _doubt(answer.between, numbers),
        )


def _levels(answer: Answer, good: str) -> Mapping[str, Estimate]:
    """Return how much longer each build takes than the good one, by all comparisons that lead to it."""
    graph = RatioGraph(
        Edge(probe.base, probe.new, Estimate(probe.log_ratio, max(probe.error, LEAST_ERROR))) for probe in answer.probes
    )
    estimates = {build: graph.estimate(good, build) for build in graph.builds}
    return {build: estimate for build, estimate in estimates.items() if estimate is not None}


def _places(bisection: Bisection, answer: Answer, levels: Mapping[str, Estimate]) -> Iterator[Place]:
    """Yield the builds in their order; those that nobody measured or named are one place."""
    reasons = {build.build: build.reason for build in bisection.left_out if build.build not in levels}
    answered = {build for step in answer.steps for build in (step.before, step.after)} | {*(answer.between or ())}

    def kind(build: str) -> str | None:
        return build if build in levels or build in reasons or build in answered else None

    pairs: dict[str, int] = {}
    for probe in answer.probes:
        for build in (probe.base, probe.new):
            pairs[build] = pairs.get(build, 0) + probe.pairs
    for place_of, group in groupby(bisection.builds, key=kind):
        builds = [*group]
        if place_of is None:
            ends = builds[0] if len(builds) == 1 else f"{builds[0]} to {builds[-1]}"
            yield Place(ends, f"{ends}: {plural(len(builds), 'build')} not measured", count=len(builds))
            continue
        build = builds[0]
        commit = bisection.commit(build)
        words = [build if commit is None else commit_text(commit)]
        if build in reasons:
            yield Place(build, "\n".join([*words, reasons[build]]), failed=True)
        elif build not in levels:
            yield Place(build, "\n".join([*words, "not measured"]))
        else:
            level = levels[build]
            low, high = (math.exp(level.log_ratio + sign * SIDES * level.error) for sign in (-1, 1))
            text = f"{math.exp(level.log_ratio):.3f} [{low:.3f}, {high:.3f}], {plural(pairs.get(build, 0), 'pair')}"
            yield Place(build, "\n".join([*words, text]), math.exp(level.log_ratio), (low, high))


def _treads(answer: Answer, places: Sequence[Place], numbers: Mapping[str, int]) -> Iterator[Tread]:
    """Yield the stretches between steps, each at the mean level of its builds; none where the answer is no story."""
    if answer.kind not in ("steps", "same"):
        return
    ends = [0, *(numbers[step.after] for step in answer.steps), len(places)]
    for first, end in pairwise(ends):
        logs = [math.log(place.value) for place in places[first:end] if place.value is not None]
        if logs:
            yield Tread(first, end - 1, math.exp(math.fsum(logs) / len(logs)))


def _level(step: Step) -> str:
    return "slower" if step.ratio > 1 else "faster"


def _doubt(ends: tuple[str, str], numbers: Mapping[str, int]) -> tuple[int, int] | None:
    return (numbers[ends[0]], numbers[ends[1]]) if all(end in numbers for end in ends) else None
