"""Simulated nights: how soon changes are named in a history of ratios, and how often some are named that are none.

Each night a build is compared with the anchor and with the build before it, as `opperf nightly` does: stages, looks and
verdicts are those of `Comparing`, and pairs of processes are drawn from the recorded ones of identical code
(`drawn_pairs.py`). Builds become 5 or 10 % slower at random places. Every night the series as it is by then is looked
at, and whatever is named on any night counts.

Beside it stand absolute times of the same builds, with the scatter of the same pairs, a drift of 10 % over all nights,
and a machine exchanged half-way for one 1.3 times slower, judged by the rules of dashboards: the median of three nights
above 1.35 times the last, twice (PyTorch HUD); a t of 7 with twelve nights on each side (Perfherder); and a split by
energy distance with a t-test at 0.001 (E-divisive, as Apache Otava has it). opperf's own change points stand there
too, as `opperf history changes` names them in the times of other tools.

    python benchmarks/nights.py [REPEATS]
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean, median, variance
from typing import Any

import numpy as np
from drawn_pairs import Drawn, record
from report import publish
from scipy import stats

from opperf.domain.case import Case
from opperf.domain.measurement import Measurement
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.stats.significance import Estimate
from opperf.parent.analysis.change_points import Change, Point, changes, time_changes
from opperf.parent.analysis.verdict import Rule
from opperf.parent.measuring.comparing import Comparing
from opperf.parent.measuring.contest import Contest, outcome

BUILDS = 200
EFFECTS = {"+5 %": math.log(1.05), "+10 %": math.log(1.10)}
#: A change is named right within so many builds of where it is, and in time with so many builds behind it.
NEAR, IN_TIME = 2, 2
EXCHANGE, DRIFT = math.log(1.3), math.log(1.1)
#: Processes whose median is an absolute time.
PROCESSES = 5
#: Nights that a rule of absolute times looks back on, as Otava does.
WINDOW = 50

#: Of the times so far, the nights (from 0) that a rule names as changes.
Judge = Callable[[Sequence[float]], list[int]]


@dataclass(frozen=True)
class Series:
    """An operator's builds: their true log times, the nights of planted changes, and what was measured."""

    operator: str
    planted: dict[int, str]
    points: list[Point]
    times: list[float]


class Shifted:
    """Pairs of each operator, whose effect is its own."""

    def __init__(self, pairs: dict[str, list[float]], effects: dict[str, float], generator: random.Random) -> None:
        self._drawn = {name: Drawn(pairs, math.exp(effect), generator) for name, effect in effects.items()}
        self.facts: list[dict[str, Any]] = [{}, {}]

    asked, alive = 1, True

    def check(self, *_: object) -> None:
        """Drawn pairs compute nothing that could be wrong."""

    def compare(self, base: Trial, *rest: object) -> Any:
        """Return a pair of the operator."""
        return self._drawn[base.case.operator].compare(base, *rest)

    def memory(self, *_: object) -> list[Measurement]:
        """Nothing is allocated."""
        return []

    def close(self) -> None:
        """Nothing was started."""


def measure(pairs: dict[str, list[float]], effects: dict[str, float], generator: random.Random) -> dict[str, Estimate]:
    """Compare all operators once, each with its own effect."""
    trials = {name: Trial(Case(name), Side("null"), "forward") for name in pairs}
    contests = [Contest(trial, trial, trial) for trial in trials.values()]
    settings = Settings(seed=generator.randrange(1 << 30), check="none")
    duel: Callable[..., Any] = lambda *_: Shifted(pairs, effects, generator)  # noqa: E731
    Comparing(settings, Rule(), lambda _: None, duel=duel).run(contests)
    estimates = {}
    for contest in contests:
        verdict = outcome(contest).verdict
        if verdict.ratio is not None and verdict.interval is not None:
            estimates[contest.base.case.operator] = Estimate.of(verdict.ratio, verdict.interval, verdict.confidence)
    return estimates


def simulate(pairs: dict[str, list[float]], generator: random.Random) -> list[Series]:
    """Return a history of all operators: half of them change, once by 5 and once by 10 %."""
    planted: dict[str, dict[int, str]] = {}
    for i, name in enumerate(pairs):
        places = generator.sample(range(5, BUILDS - 5), 2) if i % 2 == 0 else []
        planted[name] = dict(zip(sorted(places), generator.sample(list(EFFECTS), 2)))
    levels = dict.fromkeys(pairs, 0.0)
    series = {name: Series(name, planted[name], [], []) for name in pairs}
    for night in range(BUILDS):
        steps = {name: EFFECTS[planted[name][night]] if night in planted[name] else 0.0 for name in pairs}
        for name in pairs:
            levels[name] += steps[name]
        to_anchor = measure(pairs, levels, generator)
        to_last = measure(pairs, steps, generator) if night else {}
        machine = DRIFT * night / BUILDS + (EXCHANGE if night >= BUILDS // 2 else 0.0)
        for name, own in series.items():
            if name in to_anchor:
                own.points.append(Point(str(night), to_anchor[name], to_last.get(name)))
            # A ratio has the scatter of two processes.
            scatter = median(generator.choice(pairs[name]) / math.sqrt(2) for _ in range(PROCESSES))
            own.times.append(math.exp(levels[name] + machine + scatter))
    return list(series.values())


def star(series: Series) -> dict[int, int]:
    """Return the changes that opperf names: the build, and how many builds there were when it was first named."""
    return _named([point.build for point in series.points], lambda count: changes(series.points[:count]))


def import_time(series: Series) -> dict[int, int]:
    """Return the same where another tool measured the times: all that is known of their errors is their scatter."""
    names = [str(night) for night in range(len(series.times))]
    return _named(names, lambda count: time_changes(names[:count], series.times[:count]))


def _named(builds: Sequence[str], so_far: Callable[[int], Sequence[Change]]) -> dict[int, int]:
    first: dict[int, int] = {}
    for count in range(2, len(builds) + 1):
        for change in so_far(count):
            if change.confirmed:
                first.setdefault(int(change.after), int(builds[count - 1]) + 1)
    return first


def by_time(series: Series, judge: Judge) -> dict[int, int]:
    """Return the same of a rule of absolute times."""
    first: dict[int, int] = {}
    for count in range(2, len(series.times) + 1):
        since = max(0, count - WINDOW)
        for place in judge(series.times[since:count]):
            first.setdefault(since + place, count)
    return first


def hud(times: Sequence[float]) -> list[int]:
    """The last two nights are above 1.35 times the median of the three before them."""
    if len(times) < 5:
        return []
    usual = median(times[-5:-2])
    return [len(times) - 2] if min(times[-2:]) > 1.35 * usual else []


def perfherder(times: Sequence[float]) -> list[int]:
    """A weighted t above 7 between twelve nights before and twelve from a night on."""
    place = len(times) - 12
    if place < 12:
        return []
    before, after = times[place - 12 : place][::-1], times[place:]
    weights = [(12 - i) / 12 for i in range(12)]
    means = [sum(w * t for w, t in zip(weights, side)) / sum(weights) for side in (before, after)]
    squares = [
        sum(w * (t - mean) ** 2 for w, t in zip(weights, side)) / sum(weights)
        for mean, side in zip(means, (before, after))
    ]
    t = (means[1] - means[0]) / max(math.sqrt(sum(squares) / 2 * 2 / 12), 1e-12)
    return [place] if abs(t) > 7 else []


def e_divisive(times: Sequence[float]) -> list[int]:
    """Split where the energy distance is largest, while a t-test of both parts is below 0.001."""
    values = np.asarray(times)
    distances = np.abs(values[:, None] - values[None, :])
    result: list[int] = []
    waiting = [(0, len(values))]
    while waiting:
        start, end = waiting.pop()
        best, place = 0.0, None
        for split in range(start + 2, end - 1):
            left, right = split - start, end - split
            between = distances[start:split, split:end].mean()
            within = sum(
                distances[a:b, a:b].sum() / (n * (n - 1)) for a, b, n in ((start, split, left), (split, end, right))
            )
            energy = left * right / (left + right) * (2 * between - within)
            if energy > best:
                best, place = energy, split
        if place is None:
            continue
        left_values, right_values = values[start:place], values[place:end]
        if variance(left_values) + variance(right_values) == 0:
            continue
        if stats.ttest_ind(left_values, right_values, equal_var=False).pvalue < 0.001:
            result.append(place)
            waiting += [(start, place), (place, end)]
    return result


def judge(name: str, histories: Sequence[Series], rule: Callable[[Series], dict[int, int]]) -> dict[str, Any]:
    """Return the line of a rule: false changes, and what share of the real ones was named, in time or at all."""
    false, builds = 0, 0
    named: dict[str, list[int | None]] = {effect: [] for effect in EFFECTS}
    for series in histories:
        builds += len(series.times)
        first = rule(series)
        right = {place: [at for at in first if abs(at - place) <= NEAR] for place in series.planted}
        false += len(set(first) - {at for several in right.values() for at in several})
        for place, effect in series.planted.items():
            named[effect].append(min((first[at] - place for at in right[place]), default=None))
    row: dict[str, Any] = {"rule": name, "false changes per 1,000 builds": 1000 * false / builds}
    for effect, several in named.items():
        row[f"{effect} within two builds %"] = 100 * fmean(d is not None and d <= IN_TIME for d in several)
        row[f"{effect} ever %"] = 100 * fmean(d is not None for d in several)
    return row


def main() -> None:
    """Simulate, judge and print."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    pairs = record()
    generator = random.Random(18)
    histories = [series for _ in range(repeats) for series in simulate(pairs, generator)]
    rules: dict[str, Callable[[Series], dict[int, int]]] = {
        "opperf: ratios to anchor and predecessor": star,
        "opperf: absolute times of another tool": import_time,
        "times: median of 3, x1.35, twice": partial(by_time, judge=hud),
        "times: t > 7, 12 later nights": partial(by_time, judge=perfherder),
        "times: E-divisive, p < 0.001": partial(by_time, judge=e_divisive),
    }
    rows = [judge(name, histories, rule) for name, rule in rules.items()]
    own = rows[0]
    publish(
        "nights",
        f"{len(histories)} series of {BUILDS} builds, {sum(len(s.planted) for s in histories)} changes in them",
        rows,
        {
            "false changes": (own["false changes per 1,000 builds"], 1.0, "per 1,000 builds of an operator"),
            "+5 % not named within two builds": (100 - own["+5 % within two builds %"], 10.0, "%"),
        },
    )


if __name__ == "__main__":
    main()
