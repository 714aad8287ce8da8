"""Bisect simulated histories: how often the right builds are named, and wrong ones, and what that costs.

The first histories have 50 builds and the noise of real operators, 1 to 8 % from pair to pair. One step of 5 or 10 %,
two or three of 10 %, or none are at random places. Beside the search, on the same histories, stand bisection by a
threshold of 5 % on one comparison of five pairs, and the rule of `asv find`: each build is measured once, and the half
that differs most goes on.

The others have the noise of a quiet machine, 2 % from pair to pair, and one process in eight is in a mode 3 % slower.
They are staircases of one to three steps of 3, 5 or 50 %, a threefold step in twelve commits, dips whose ends are the
same, regressions that were half repaired, slopes, and none. What is told rightly names exactly the builds that
changed, or a slope, or nobody.

The search is the real one; its comparisons draw pairs instead of starting processes.

    python benchmarks/bisection.py [HISTORIES [FIRST]]

FIRST is the number of the first history of each kind: rules that were chosen on some are judged on others.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any

from report import publish

from opperf.domain.case import Case
from opperf.domain.plan import Settings, Side, Trial
from opperf.parent.analysis.verdict import Rule
from opperf.parent.commands.bisect import bench
from opperf.parent.commands.bisect.answers import Subject
from opperf.parent.commands.bisect.bisect import Order, Search
from opperf.parent.documents.bisection import Answer
from opperf.parent.documents.comparison import PairValue
from opperf.parent.measuring.comparing import Comparing
from opperf.parent.measuring.contest import Contest
from opperf.parent.measuring.progress import Silent
from opperf.parent.planning.selection import Selection
from opperf.parent.sources.options import Bisecting, Judging

BUILDS, PAIRS = 50, 5
#: The least and the most noise of one pair, as the standard deviation of its log-ratio.
NOISE = (0.01, 0.08)
#: By how much builds differ that compute the same, as the standard deviation: code lies elsewhere in memory.
APART = 0.005
#: The noise of a pair on a quiet machine, and how often and by how much a process is in a slow mode there.
QUIET, MODE, SLOW = 0.02, 1 / 8, 0.03


@dataclass
class History:
    """Levels of builds on a scale of logs, the builds that changed, and the noise of a comparison."""

    levels: Sequence[float]
    steps: Sequence[int]
    noise: float
    draw: random.Random
    mode: float = 0.0
    parts: int = 8
    built: set[str] = field(default_factory=set)
    pairs: int = 0
    comparisons: int = 0

    @property
    def names(self) -> Sequence[str]:
        """The builds."""
        return [str(place) for place in range(len(self.levels))]

    def side(self, name: str, plain: Side) -> Side:
        """Return the side of a build."""
        self.built.add(name)
        return replace(plain, settings={"version": name})

    def digest(self, name: str) -> str | None:
        """Return None: all differ."""
        return None

    def ratio(self, base: int, new: int) -> float:
        """Draw what one pair says."""
        modes = [SLOW * (self.draw.random() < self.mode) for _ in range(2)] if self.mode else [0.0, 0.0]
        return self.levels[new] - self.levels[base] + modes[1] - modes[0] + self.draw.gauss(0.0, self.noise)


def history(steps: int, height: float, seed: int, apart: float = 0.0) -> History:
    """Return a random history, whose builds lie `apart` though nothing has changed."""
    draw = random.Random(seed)
    low, high = map(math.log, NOISE)
    places = sorted(draw.sample(range(1, BUILDS), steps))
    noise = math.exp(draw.uniform(low, high))
    offsets = [draw.gauss(0.0, apart) if apart else 0.0 for _ in range(BUILDS)]
    levels = [height * sum(place >= step for step in places) + offsets[place] for place in range(BUILDS)]
    return History(levels, places, noise, draw)


def quiet_history(builds: int, heights: Sequence[float], seed: int, least: int = 1, slope: float = 0.0) -> History:
    """Return a history with steps of these heights at random places, `least` apart, on a quiet machine."""
    draw = random.Random(seed)
    places: list[int] = []
    while len(places) < len(heights) or any(after - before < least for before, after in pairwise(places)):
        places = sorted(draw.sample(range(1, builds), len(heights)))
    levels = [
        math.fsum(height for step, height in zip(places, heights) if place >= step)
        + slope * place / (builds - 1)
        + draw.gauss(0.0, APART)
        for place in range(builds)
    ]
    return History(levels, places, QUIET, draw, MODE)


#: Histories on a quiet machine, by what is in them; the heights of their steps are log-ratios.
QUIET_KINDS: dict[str, Callable[[int], History]] = {
    f"{count} of +{percent} %": partial(quiet_history, 24, [math.log1p(percent / 100)] * count)
    for percent in (3, 5, 50)
    for count in (1, 2, 3)
}
QUIET_KINDS |= {
    "threefold, 12 commits": partial(quiet_history, 12, [math.log(3.1)]),
    "a dip of 27 %, 11 releases": partial(quiet_history, 11, [math.log(0.73), -math.log(0.73)]),
    "a dip of 10 % over 4 of 24": partial(quiet_history, 24, [math.log(0.9), -math.log(0.9)], least=4),
    "half repaired, 10 commits": partial(quiet_history, 10, [math.log(1.5), math.log(1.08 / 1.5)], least=2),
    "a slope of 30 %": partial(quiet_history, 24, (), slope=math.log(1.3)),
    "no change": partial(quiet_history, 24, ()),
}


class Drawn(Comparing):
    """A comparison that draws its pairs from a history."""

    history: History

    def run(self, contests: list[Contest], pairs: int | None = None) -> None:
        """Count the comparison."""
        self.history.comparisons += 1
        super().run(contests, pairs)

    def _pair(
        self,
        contests: list[Contest],
        stage: Callable[[Contest], list[PairValue]],
        *,
        counted: bool = False,
        goes_on: bool = False,
    ) -> None:
        self.history.pairs += 1
        for contest in contests:
            base, new = (int(side.settings["version"]) for side in (contest.base.side, contest.new.side))
            ratio = self.history.ratio(base, new)
            first, second = ({name: math.exp(at) for name in ("turn", "min", "median", "p90")} for at in (0.0, ratio))
            stage(contest).append(PairValue(ratio, first, second, rounds=24))


def search(past: History) -> Answer:
    """Return what is said of a history."""
    Drawn.history = past
    order = Order(Bisecting("0", past.names[-1]), Judging(PAIRS))
    rule = Rule(pairs=PAIRS)
    searching = Search(Selection(), past, Side("null"), order, rule, Settings(check="none"), Silent())
    side = Side("null", settings={"version": "0"})
    searching._subjects = [Subject(Trial(Case("null:steady"), side, "forward"))]
    searching._bench.build("0")
    searching.run()
    (answer,) = searching.document().answers
    return answer


def name_builds(past: History) -> tuple[int, ...]:
    """Return the builds that are named for a history."""
    return tuple(int(step.after) for step in search(past).steps)


def threshold(past: History) -> tuple[int, ...]:
    """Bisect as if each comparison were right: slower by half of the difference of the ends is bad."""

    def mean(new: int) -> float:
        return sum(past.ratio(0, new) for _ in range(PAIRS)) / PAIRS

    if abs(mean(BUILDS - 1)) < math.log(1.05):
        return ()
    low, high = 0, BUILDS - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if mean(middle) > math.log(1.05) else (middle, high)
    return (high,)


def asv_find(past: History) -> tuple[int, ...]:
    """Measure each end and the middle once, and go on in the half that differs most; somebody is always named."""
    seen: dict[int, float] = {}

    def time(place: int) -> float:
        return seen.setdefault(place, past.ratio(0, place))

    low, high = 0, BUILDS - 1
    while high - low > 1:
        middle = (low + high) // 2
        left, right = time(middle) - time(low), time(high) - time(middle)
        low, high = (low, middle) if left > right else (middle, high)
    return (high,)


def quiet_row(kind: str, seeds: range) -> dict[str, Any]:
    """Search the histories of one kind on a quiet machine."""
    right = wrong = builds = comparisons = pairs = 0
    count = len(seeds)
    for seed in seeds:
        past = QUIET_KINDS[kind](seed)
        answer = search(past)
        places = [int(step.after) for step in answer.steps]
        right += places == list(past.steps) and answer.kind == expected_kind(kind)
        wrong += any(place not in past.steps for place in places)
        builds, comparisons, pairs = builds + len(past.built), comparisons + past.comparisons, pairs + past.pairs
    shares = {"right %": 100 * right / count, "wrong %": 100 * wrong / count}
    costs = {"builds": builds / count, "comparisons": comparisons / count, "pairs": pairs / count}
    return {"history": kind, **shares, **costs}


def expected_kind(kind: str) -> str:
    """Return the kind of answer that is right for a kind of history."""
    return {"a slope of 30 %": "slope", "no change": "same"}.get(kind, "steps")


def main() -> None:
    """Search, print and judge."""
    count, first = (int(sys.argv[i]) if len(sys.argv) > i else other for i, other in ((1, 200), (2, 0)))
    seeds = range(first, first + count)
    vars(bench)["Comparing"] = Drawn
    kinds = {
        "+10 %": (1, math.log(1.1), 0.0),
        "+5 %": (1, math.log(1.05), 0.0),
        "two of +10 %": (2, math.log(1.1), 0.0),
        "three of +10 %": (3, math.log(1.1), 0.0),
        "two of +10 %, builds apart": (2, math.log(1.1), APART),
        "none": (0, 0.0, 0.0),
    }
    rows: list[dict[str, Any]] = []
    for kind, (steps, height, apart) in kinds.items():
        right = wrong = nobody = builds = pairs = 0
        others = {"threshold": [0, 0], "asv find": [0, 0]}
        for seed in seeds:
            past = history(steps, height, seed, apart)
            places = name_builds(past)
            right += places == tuple(past.steps)
            wrong += any(place not in past.steps for place in places)
            nobody += not places
            builds, pairs = builds + len(past.built), pairs + past.pairs
            for name, rule in (("threshold", threshold), ("asv find", asv_find)):
                places = rule(history(steps, height, seed, apart))
                others[name][0] += bool(places) and set(places) <= set(past.steps)
                others[name][1] += any(place not in past.steps for place in places)
        row: dict[str, Any] = {"history": kind, "right %": right, "wrong %": wrong, "nobody %": nobody}
        row |= {f"{name} {word} %": others[name][i] for name in others for i, word in enumerate(("right", "wrong"))}
        row = {name: value if isinstance(value, str) else 100 * value / count for name, value in row.items()}
        rows.append({**row, "builds": builds / count, "pairs": pairs / count})
    ten, five, two, three, loose, none = rows
    quiet = {kind: quiet_row(kind, seeds) for kind in QUIET_KINDS}
    threefold, release = quiet["threefold, 12 commits"], quiet["a dip of 27 %, 11 releases"]
    publish(
        "bisection",
        f"{count} simulated histories of {BUILDS} builds each, from number {first}",
        rows,
        {
            "+10 % not named right": (100 - ten["right %"], 3.0, "%"),
            "+5 % not named right": (100 - five["right %"], 10.0, "%"),
            "two steps not both named right": (100 - two["right %"], 10.0, "%"),
            "two steps not both named right, where builds lie apart": (100 - loose["right %"], 10.0, "%"),
            "wrong builds named": (max(row["wrong %"] for row in (ten, five, two, three, loose)), 1.0, "%"),
            "somebody named where there is no change": (100 - none["nobody %"], 1.0, "%"),
            "builds for one step": (max(ten["builds"], five["builds"]), 1.5 * math.log2(BUILDS) + 3, ""),
            "pairs for a threefold step in 12 commits": (threefold["pairs"], 16.0, ""),
            "a dip in 11 releases not told": (100 - release["right %"], 5.0, "%"),
            "pairs for a dip in 11 releases": (release["pairs"], 40.0, ""),
            "a step of 3 % not named right": (100 - quiet["1 of +3 %"]["right %"], 24.0, "%"),
            "one of two steps of 5 % not named right": (100 - quiet["2 of +5 %"]["right %"], 18.0, "%"),
            "somebody named where there is no change, quiet": (quiet["no change"]["wrong %"], 1.0, "%"),
            "a half repaired regression not told": (100 - quiet["half repaired, 10 commits"]["right %"], 5.0, "%"),
        },
        {f"{count} histories of each kind on a quiet machine": list(quiet.values())},
    )


if __name__ == "__main__":
    main()
