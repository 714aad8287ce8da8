"""What three pairs say that are all far beyond the tolerance: how often of identical code, and how often it holds.

All three are beyond three times, or, of calls that take long, beyond 1.5 times with little spread. Pairs are drawn, and
`manifold` decides as in `opperf compare`: from those that were recorded of identical code, quiet and busy, with a
random sign; from distributions with heavier tails than any of them; and from code with two modes that lie further apart
than that, which is what the rule cannot tell from a change. Of code that did change, the recorded scatter lies around
the change.

    python benchmarks/three_pairs.py [DRAWS]
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from drawn_pairs import RAW, record
from report import publish

from opperf.domain.stats.significance import wilson
from opperf.parent.analysis.verdict import LEAST_PAIRS, Rule, manifold

BUSY = RAW.with_name("false_alarms_busy.jsonl.gz")
CHANGES = (1.6, 1.95, 2.5, 3.2, 3.9, 10.0, 1 / 1.95, 1 / 3.9)
RULE = Rule()


def recorded(generator: random.Random, ratios: list[float]) -> float:
    """Return a recorded log-ratio of identical code with a random sign."""
    return generator.choice(ratios) * generator.choice((-1, 1))


def student(generator: random.Random, freedom: int, scale: float) -> float:
    """Return a log-ratio after Student's t: with one degree of freedom it has no variance."""
    square = sum(generator.gauss(0, 1) ** 2 for _ in range(freedom)) / freedom
    return scale * generator.gauss(0, 1) / math.sqrt(square)


def strays(generator: random.Random, share: float) -> float:
    """Return a log-ratio of a quiet pair, of which this share is off by up to ten times, either way."""
    if generator.random() < share:
        return generator.uniform(-math.log(10), math.log(10))
    return generator.gauss(0, 0.02)


def modes(generator: random.Random, apart: float) -> float:
    """Return the log-ratio of two processes that are each in either of two modes."""
    return math.log(apart) * (generator.randrange(2) - generator.randrange(2)) + generator.gauss(0, 0.01)


def alarms(draw: Callable[[random.Random], float], count: int) -> int:
    """Return how often identical code is called changed."""
    generator = random.Random(count)
    return sum(
        manifold([draw(generator) for _ in range(LEAST_PAIRS)], RULE, is_long=True) is not None for _ in range(count)
    )  # fmt: skip


def changed(ratios: list[float], change: float, count: int) -> dict[str, Any]:
    """Return how often a change is decided, and how often its interval holds it."""
    generator = random.Random(count)
    verdicts = [
        manifold([recorded(generator, ratios) + math.log(change) for _ in range(LEAST_PAIRS)], RULE, is_long=True)
        for _ in range(count)
    ]
    intervals = [one.interval for one in verdicts if one is not None and one.interval is not None]
    covered = sum(low <= change <= high for low, high in intervals)
    widths = sorted(math.sqrt(high / low) - 1 for low, high in intervals)
    return {
        "change": change,
        "decided %": 100 * len(intervals) / count,
        "covered %": 100 * covered / max(1, len(intervals)),
        "half width % (median)": 100 * widths[len(widths) // 2] if widths else math.nan,
    }


def _row(name: str, draw: Callable[[random.Random], float], count: int) -> dict[str, Any]:
    called = alarms(draw, count)
    return {
        "pairs": name,
        "called changed %": 100 * called / count,
        "Wilson high %": 100 * wilson(called, count)[1],
        "draws": count,
    }


def main() -> None:
    """Draw, print and judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("draws", nargs="?", type=int, default=200_000)
    count = parser.parse_args().draws
    quiet, busy = (every(record(raw)) for raw in (RAW, BUSY))
    own = [
        _row(f"recorded, {name} ({len(ratios)})", partial(recorded, ratios=ratios), count)
        for name, ratios in (("quiet", quiet), ("busy", busy))
    ]
    heavy = [
        _row("Student's t, 2 degrees, 5 %", partial(student, freedom=2, scale=0.05), count),
        _row("Cauchy, 2 %", partial(student, freedom=1, scale=0.02), count),
        _row("one in 20 off by up to ten times", partial(strays, share=0.05), count),
        _row("normal, 10 %", lambda generator: generator.gauss(0, 0.1), count),
    ]
    limits = [
        _row(f"two modes, {apart:g} times apart", partial(modes, apart=apart), count // 10) for apart in (1.4, 2.8, 4.0)
    ]
    rows = [changed(quiet, change, count // 10) for change in CHANGES]
    publish(
        "three_pairs",
        "identical code",
        [*own, *heavy],
        {
            "identical code that recorded pairs call changed": (max(row["called changed %"] for row in own), 0.0, "%"),
            "of heavier tails": (max(row["called changed %"] for row in heavy), 0.01, "%"),
            "intervals of changes that miss it": (100 - min(row["covered %"] for row in rows), 7.0, "%"),
        },
        {"code that changed": rows, "identical code with two modes for each process": limits},
    )


def every(pairs: Mapping[str, list[float]]) -> list[float]:
    """Return the pairs of all operators."""
    return [ratio for ratios in pairs.values() for ratio in ratios]


if __name__ == "__main__":
    main()
