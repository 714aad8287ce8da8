"""Bisect simulated histories: how often the right build is named, and a wrong one, beside what others do.

A history has 50 builds and the noise of real operators, 1 to 8 % from pair to pair. One step of 5 or 10 %, two or
three of 10 %, or none are at random places. The search is the real one; its comparisons draw pairs instead of starting
processes. Beside it, on the same histories, stand bisection by a threshold of 5 % on one comparison of five pairs, and
the rule of `asv find`: each build is measured once, and the half that differs most goes on.

    python benchmarks/bisection.py [HISTORIES]
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from report import publish

from opperf.domain.case import Case
from opperf.domain.comparison import PairValue
from opperf.domain.plan import Settings, Side, Trial
from opperf.parent.analysis.verdict import Rule
from opperf.parent.bisect import bench
from opperf.parent.bisect.answers import Subject
from opperf.parent.bisect.bisect import Order, Search
from opperf.parent.contest import Contest
from opperf.parent.planning.selection import Selection
from opperf.parent.progress import Silent
from opperf.parent.stages import Comparing

BUILDS, PAIRS = 50, 5
#: The least and the most noise of one pair, as the standard deviation of its log-ratio.
NOISE = (0.01, 0.08)
#: By how much builds differ that compute the same, as the standard deviation: code lies elsewhere in memory.
APART = 0.005


@dataclass
class History:
    """Levels of builds on a scale of logs, and the noise of a comparison."""

    steps: Sequence[int]
    height: float
    noise: float
    draw: random.Random
    offsets: Sequence[float]
    built: set[str] = field(default_factory=set)

    @property
    def names(self) -> Sequence[str]:
        """The builds."""
        return [str(place) for place in range(BUILDS)]

    def side(self, name: str) -> str:
        """Return the side of a build."""
        self.built.add(name)
        return f"null;version={name}"

    def digest(self, name: str) -> str | None:
        """Return None: all differ."""
        return None

    def level(self, place: int) -> float:
        """Return the level of a build."""
        return self.height * sum(place >= step for step in self.steps) + self.offsets[place]

    def ratio(self, base: int, new: int) -> float:
        """Draw what one pair says."""
        return self.level(new) - self.level(base) + self.draw.gauss(0.0, self.noise)


def history(steps: int, height: float, seed: int, apart: float = 0.0) -> History:
    """Return a random history, whose builds lie `apart` though nothing has changed."""
    draw = random.Random(seed)
    low, high = map(math.log, NOISE)
    places = sorted(draw.sample(range(1, BUILDS), steps))
    noise = math.exp(draw.uniform(low, high))
    return History(places, height, noise, draw, [draw.gauss(0.0, apart) if apart else 0.0 for _ in range(BUILDS)])


class Drawn(Comparing):
    """A comparison that draws its pairs from a history."""

    history: History

    def _pair(self, contests: list[Contest], stage: Callable[[Contest], list[PairValue]]) -> None:
        for contest in contests:
            base, new = (int(side.settings["version"]) for side in (contest.base.side, contest.new.side))
            ratio = self.history.ratio(base, new)
            first, second = ({name: math.exp(at) for name in ("turn", "min", "median", "p90")} for at in (0.0, ratio))
            stage(contest).append(PairValue(ratio, first, second, rounds=24))


def name_builds(past: History) -> tuple[int, ...]:
    """Return the builds that are named for a history."""
    Drawn.history = past
    order = Order("0", str(BUILDS - 1), pairs=PAIRS)
    rule = Rule(pairs=PAIRS)
    search = Search(Selection(), past, "", order, rule, Settings(check="none"), Silent())
    side = Side("null", settings={"version": "0"})
    search._subjects = [Subject(Trial(Case("null:steady"), side, "forward"))]
    search._side, search._bench.environments["0"] = side, past.side("0")
    search.run()
    (answer,) = search.document().answers
    return tuple(int(step.after) for step in answer.steps)


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


def main() -> None:
    """Search, print and judge."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
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
        right = wrong = nobody = builds = 0
        others = {"threshold": [0, 0], "asv find": [0, 0]}
        for seed in range(count):
            past = history(steps, height, seed, apart)
            places = name_builds(past)
            right += places == tuple(past.steps)
            wrong += any(place not in past.steps for place in places)
            nobody += not places
            builds += len(past.built)
            for name, rule in (("threshold", threshold), ("asv find", asv_find)):
                places = rule(history(steps, height, seed, apart))
                others[name][0] += bool(places) and set(places) <= set(past.steps)
                others[name][1] += any(place not in past.steps for place in places)
        row: dict[str, Any] = {"history": kind, "right %": right, "wrong %": wrong, "nobody %": nobody}
        row |= {f"{name} {word} %": others[name][i] for name in others for i, word in enumerate(("right", "wrong"))}
        row = {name: value if isinstance(value, str) else 100 * value / count for name, value in row.items()}
        rows.append({**row, "builds": builds / count})
    ten, five, two, three, loose, none = rows
    publish(
        "bisection",
        f"{count} simulated histories of {BUILDS} builds each",
        rows,
        {
            "+10 % not named right": (100 - ten["right %"], 3.0, "%"),
            "+5 % not named right": (100 - five["right %"], 10.0, "%"),
            "two steps not both named right": (100 - two["right %"], 10.0, "%"),
            "two steps not both named right, where builds lie apart": (100 - loose["right %"], 10.0, "%"),
            "wrong builds named": (max(row["wrong %"] for row in (ten, five, two, three, loose)), 1.0, "%"),
            "somebody named where there is no change": (100 - none["nobody %"], 1.0, "%"),
            "builds for one step": (max(ten["builds"], five["builds"]), 1.5 * math.log2(BUILDS) + 3, ""),
        },
    )


if __name__ == "__main__":
    main()
