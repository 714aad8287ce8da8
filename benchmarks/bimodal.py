"""Comparisons of identical code that has two modes: how often one is called changed, and what the interval holds.

A build took 680 us in some processes and 1.9 ms in others, for minutes at a time. Here each side is in either of two
such modes, chosen anew for each process, each minute or each ten minutes, the sides independently of each other. In
the simulation pairs are drawn: their scatter is normal, a pair takes `PAIR_SECONDS`, comparisons start at random
moments, and everything else is what `opperf compare` does. The slow mode takes page faults, as the real one did; a
table of its own has modes that leave no trace. With `--real`, children of NumPy call the function of `two_modes.py`,
whose slow mode maps its memory anew.

    python benchmarks/bimodal.py [COMPARISONS] [--real]
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from report import publish
from two_modes import ELEMENTS, SIDE, WORK
from two_modes import LASTING as LASTING_VARIABLE

import opperf
from opperf.domain.case import Case
from opperf.domain.measurement import Measurement
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.stats.significance import wilson
from opperf.parent.analysis.verdict import Rule
from opperf.parent.documents.comparison import Comparison, PairValue
from opperf.parent.measuring.comparing import Comparing
from opperf.parent.measuring.contest import Contest, outcome

FAST, SLOW = 680e-6, 1.9e-3
FAULTS = {FAST: 120.0, SLOW: 715.0}
#: Scatter of a pair's log-ratio, as quiet operators have it, and the seconds of a pair.
SCATTER, PAIR_SECONDS = 0.01, 3.0
#: How long a mode lasts, in seconds; 0 is a process.
LASTING = {"each process": 0.0, "each minute": 60.0, "each ten minutes": 600.0}
#: A pair of the real function takes about a quarter of the seconds of a pair of a framework: so does its minute.
SCALE = 0.25


class Modes:
    """The modes of both sides over a virtual time."""

    def __init__(self, lasting: float, generator: random.Random, modes: Sequence[float]) -> None:
        self._lasting, self._random, self._modes = lasting, generator, modes
        self._now = 0.0
        self._chosen: dict[tuple[int, int], float] = {}

    def wait(self) -> None:
        """Let a comparison begin at some moment."""
        self._now += self._random.uniform(60, 3600)

    def of_pair(self) -> list[float]:
        """Return the mode of base and new in the next pair."""
        self._now += PAIR_SECONDS
        return [self._mode(side) for side in (0, 1)]

    def _mode(self, side: int) -> float:
        if not self._lasting:
            return self._random.choice(self._modes)
        span = side, int(self._now // self._lasting)
        return self._chosen.setdefault(span, self._random.choice(self._modes))


class Drawn:
    """Stands for a pair of children whose sides are in some mode."""

    alive, turn = True, 1

    def __init__(self, modes: Modes, effect: float, traced: bool, generator: random.Random) -> None:
        self._modes, self._effect, self._traced, self._random = modes, effect, traced, generator
        self.facts: list[dict[str, Any]] = [{}, {}]

    def check(self, *_: object) -> None:
        """Nothing is computed that could be wrong."""

    def compare(self, *_: object) -> PairValue:
        """Return a pair in the modes of the moment."""
        modes = self._modes.of_pair()
        times = [modes[0], modes[1] * self._effect * math.exp(self._random.gauss(0, SCATTER))]
        base, new = (
            {"min": one, "median": one, "p90": one, "turn": one, "faults": FAULTS[mode] if self._traced else 0.0}
            for one, mode in zip(times, modes)
        )
        return PairValue(math.log(times[1] / times[0]), base, new, 24)

    def memory(self, *_: object) -> list[Measurement]:
        """Nothing is known of it."""
        return []

    def close(self) -> None:
        """Nothing was started."""


def simulated(lasting: float, effect: float, count: int, *, traced: bool, one_mode: bool = False) -> list[Comparison]:
    """Return what is said in that many comparisons."""
    generator = random.Random(count)
    modes = Modes(lasting, generator, (FAST,) if one_mode else (FAST, SLOW))
    trial = Trial(Case("softmax"), Side("torch"), "forward")
    result = []
    for number in range(count):
        modes.wait()
        contest = Contest(trial, trial, trial)
        duel: Callable[..., Any] = partial(_draw, modes, effect, traced, generator)
        Comparing(Settings(seed=number, check="none"), Rule(), lambda _: None, duel=duel).run([contest])
        result.append(outcome(contest))
    return result


def _draw(modes: Modes, effect: float, traced: bool, generator: random.Random, *_: object) -> Drawn:
    """Return what stands for a pair, however a pair is asked for."""
    return Drawn(modes, effect, traced, generator)


def measured(lasting: float, effect: float, count: int) -> list[Comparison]:
    """Return what `opperf.compare` says of a function whose modes last so long, that many times."""
    base, new = (f"numpy;env.{SIDE}={side};env.{LASTING_VARIABLE}={lasting * SCALE}" for side in ("base", "new"))
    new = f"{new};env.{WORK}={effect}"
    subject = f"{Path(__file__).with_name('two_modes.py')}:add_one"
    options: Mapping[str, Any] = {"inputs": {"values": [ELEMENTS]}, "base": base, "new": new, "check": False}
    return [opperf.compare(subject, **options, seed=seed)[0] for seed in range(count)]


def row(name: str, modes: str, effect: float, said: Sequence[Comparison]) -> dict[str, Any]:
    """Return the line of one kind of sides."""
    words = [one.verdict.verdict for one in said]
    certain = sum(word in ("slower", "faster") for word in words)
    intervals = [one.verdict.interval for one in said if one.verdict.interval is not None]
    covered = sum(low <= effect <= high for low, high in intervals)
    return {
        "sides": name,
        "a mode lasts": modes,
        "called changed %": 100 * certain / len(said),
        "Wilson high %": 100 * wilson(certain, len(said))[1],
        "same %": 100 * words.count("same") / len(said),
        "covered %": 100 * covered / max(1, len(intervals)),
        "intervals": len(intervals),
        "comparisons": len(said),
    }


def main() -> None:
    """Compare, print and judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("comparisons", nargs="?", type=int, default=400)
    parser.add_argument("--real", action="store_true")
    given = parser.parse_args()
    count = given.comparisons
    if given.real:
        alike = [row("identical", name, 1.0, measured(lasting, 1.0, count)) for name, lasting in LASTING.items()]
        changed = [row("2 times the work, one mode", "always", 2.0, measured(-1.0, 2.0, max(1, count // 4)))]
        more = {}
    else:
        alike = [
            row("identical", name, 1.0, simulated(lasting, 1.0, count, traced=True))
            for name, lasting in LASTING.items()
        ]
        changed = [
            row(
                f"{effect:g} times as long, {kind}",
                name,
                effect,
                simulated(LASTING[name], effect, count, traced=True, one_mode=one),
            )
            for effect, name, one, kind in (
                (1.05, "each process", True, "one mode"),
                (2.0, "each process", True, "one mode"),
                (20.0, "each process", False, "two modes"),
                (20.0, "each ten minutes", False, "two modes"),
            )
        ]
        blind = [
            row("identical", name, 1.0, simulated(lasting, 1.0, count, traced=False))
            for name, lasting in LASTING.items()
        ]
        more = {"Where the slow mode leaves no trace": blind}
    publish(
        "bimodal_real" if given.real else "bimodal",
        f"{count} comparisons of sides with two modes",
        [*alike, *changed],
        {
            "identical code that is called changed": (max(one["called changed %"] for one in alike), 0.0, "%"),
            "intervals of identical code that miss it": (100 - min(one["covered %"] for one in alike), 7.0, "%"),
            "changes beyond the modes that are not called": (
                100 - min(one["called changed %"] for one in changed),
                15.0,
                "%",
            ),
        },
        more,
    )


if __name__ == "__main__":
    main()
