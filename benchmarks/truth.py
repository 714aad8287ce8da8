"""Does opperf tell the truth? Operators whose duration is known, and work whose growth is.

The first kind reads its own clock, in C, and notes what each call really took; opperf's clean median must agree with
the median of those notes. The second reads no clock: with n, 2n and 4n turns of the same loop, the step from 2n to 4n
must be twice the step from n to 2n.
"""

from __future__ import annotations

from typing import Any

from known import extension, measure
from report import publish

from opperf.domain.plan import Settings
from opperf.domain.stats.order import median

DURATIONS_NS = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 10_000_000)
TURNS = (1_000, 10_000, 100_000, 1_000_000)
ROUNDS = 9
SETTINGS = Settings(warmup=10, runs=100, latency=False)


def against_own_clock(spin: Any, nanoseconds: int) -> dict[str, Any]:
    """Return opperf's median beside the operator's own."""
    spin.spent()
    measured = measure(spin.spin, nanoseconds, 0, settings=SETTINGS)
    truth, seen = median(spin.spent()), median(measured.time.seconds()) * 1e9
    return {"operator": f"spin {nanoseconds} ns", "truth": truth, "opperf": seen, "error %": 100 * (seen / truth - 1)}


def growth(spin: Any, turns: int) -> dict[str, Any]:
    """Return the ratio of the two steps of n, 2n and 4n turns beside 2: the median of several, since clocks wander."""
    ratios = []
    for _ in range(ROUNDS):
        once, twice, four = (
            median(measure(spin.work, turns * factor, 0, settings=SETTINGS).time.seconds()) for factor in (1, 2, 4)
        )
        ratios.append((four - twice) / (twice - once))
    ratio = median(ratios)
    name = f"loop of n, 2n, 4n turns, n = {turns} ({once * 1e6:.3g} us)"
    return {"operator": name, "truth": 2.0, "opperf": ratio, "error %": 100 * (ratio / 2 - 1)}


def worst(rows: list[dict[str, Any]]) -> float:
    """Return the largest error, whatever its sign."""
    return max(abs(float(row["error %"])) for row in rows)


def main() -> None:
    """Measure, print and judge."""
    spin = extension()
    clocks = [against_own_clock(spin, duration) for duration in DURATIONS_NS]
    growths = [growth(spin, turns) for turns in TURNS]
    publish(
        "truth",
        "opperf's clean median beside the operator's own clock, in ns; the ratio of two steps of work, beside 2",
        [*clocks, *growths],
        {
            "1 us against its own clock": (worst(clocks[:1]), 5.0, "%"),
            "10 us to 10 ms against their own clocks": (worst(clocks[3:]), 2.0, "%"),
            "growth of work": (worst(growths), 2.0, "%"),
        },
    )


if __name__ == "__main__":
    main()
