"""Find cliffs that were planted, and those that real frameworks have.

On the null framework cliffs of 1.3 times are planted, of five kinds and at random places: a residue, powers of two, all
sizes from one on, a proportion of two dimensions, and tensors that are not contiguous. Its times have noise of 2 %. A
cliff counts as found where pairs of processes confirmed a case that has it, beside a neighbour that has not; and as
smallest where no smaller case of its kind lies within the bounds. With nothing planted, whatever is found is false.

Real frameworks are explored with the usual options, operator by operator, until each has shown a cliff.

    python benchmarks/explore.py [REPEATS]
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from report import publish

import opperf
from opperf.child.backends.null.scripts import is_cliff
from opperf.domain.case import Case
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.tensor import TensorSpec
from opperf.parent.commands.explore.explore import Expedition, Order
from opperf.parent.documents.exploration import Territory
from opperf.parent.measuring.progress import Silent
from opperf.parent.planning.selection import Selection
from opperf.parent.sources.options import Exploring

NOISE = "0.02"
LOOKS = 500
#: The least sizes that are explored of data.0 and data.1.
LEAST = (16, 64)
#: What is tried of each framework, in this order.
OPERATORS = ("matmul", "softmax", "sort", "sum", "conv2d")
FRAMEWORKS = ("torch", "mxnet", "jax", "numpy")


@dataclass(frozen=True)
class Planted:
    """A cliff as the null framework's setting has it, and the smallest case that shows it."""

    setting: str
    smallest: Callable[[tuple[int, ...]], bool]


def residue(draw: random.Random) -> Planted:
    """Plant it at sizes of a residue, from some size on."""
    place, modulus = draw.randrange(2), draw.choice((4, 8, 16, 32))
    rest, least = draw.randrange(modulus), draw.choice((128, 256, 512))
    first = least + (rest - least) % modulus
    return Planted(f"residue:{place}:{modulus}:{rest}:{least}", lambda sizes: sizes == _sizes(place, first))


def power(draw: random.Random) -> Planted:
    """Plant it at powers of two."""
    place, least = draw.randrange(2), draw.choice((128, 256, 512))
    return Planted(f"power:{place}:{least}", lambda sizes: sizes == _sizes(place, least))


def threshold(draw: random.Random) -> Planted:
    """Plant it at all sizes from one on."""
    place, least = draw.randrange(2), draw.randint(130, 900)
    return Planted(f"threshold:{place}:{least}", lambda sizes: sizes == _sizes(place, least))


def ratio(draw: random.Random) -> Planted:
    """Plant it where one dimension is more than some times the other; the step is then the smallest there is."""
    place, share = draw.randrange(2), draw.choice((1, 2, 3, 4))
    other = next(size for size in range(LEAST[1 - place], 10**6) if share * size + 1 >= LEAST[place])
    step = {place: share * other + 1, 1 - place: other}
    # Seen from the other side: the last size of the other dimension that shows it.
    return Planted(f"ratio:{place}:{share}", lambda sizes: sizes[0] <= step[0] and sizes[1] <= step[1])


def strided(draw: random.Random) -> Planted:
    """Plant it at tensors that are not contiguous."""
    least = draw.choice((128, 256, 512))
    return Planted(f"strided:{least}", lambda sizes: sizes == _sizes(1, least))


def _sizes(place: int, size: int) -> tuple[int, ...]:
    return tuple(max(size, LEAST[i]) if i == place else LEAST[i] for i in range(2))


KINDS = {"residue": residue, "power of two": power, "threshold": threshold, "ratio": ratio, "strided": strided}


def explore(cliff: str, seed: int) -> Territory:
    """Explore the null framework with one cliff."""
    side = Side("null", implementation="cliff", settings={"cliff": cliff, "noise": NOISE, "seed": str(seed)})
    trial = Trial(Case("null:cliff", {"data": TensorSpec((256, 1024))}), side, "forward")
    order = Order(Exploring(looks=LOOKS))
    expedition = Expedition(Selection(), Settings(seed=seed), order, None, Silent(), order.aim, {}, [trial])
    expedition.explore(trial, share=1.0)
    (territory,) = expedition.document().territories
    return territory


def simulate(repeats: int) -> tuple[list[dict[str, Any]], Mapping[str, tuple[float, float, str]]]:
    """Return a row for each kind, and the figures."""
    rows: list[dict[str, Any]] = []
    false = findings = 0
    for kind, plant in KINDS.items():
        result = smallest = looks = 0
        for seed in range(repeats):
            planted = plant(random.Random(seed))
            territory = explore(planted.setting, seed)
            hits = [one.case for one in territory.anomalies if _holds(planted.setting, one.case, one.other)]
            result += bool(hits)
            smallest += any(planted.smallest(case.tensor("data").shape) for case in hits)
            false += len(territory.anomalies) - len(hits)
            findings += len(territory.anomalies)
            looks += territory.looks
        rows.append(
            {"planted": kind, "found %": 100 * result / repeats, "smallest %": 100 * smallest / max(1, result),
             "looks": looks / repeats}
        )  # fmt: skip
    nothing = sum(len(explore("none", seed).anomalies) for seed in range(repeats))
    figures = {
        "planted cliffs not found": (100 - min(row["found %"] for row in rows), 5.0, "%"),
        "not the smallest case": (100 - sum(row["smallest %"] for row in rows) / len(rows), 10.0, "%"),
        "false findings, of all": (100 * (false + nothing) / max(1, findings + nothing), 1.0, "%"),
        "looks": (max(row["looks"] for row in rows), float(LOOKS), ""),
    }
    return rows, figures


def _holds(cliff: str, case: Case, other: Case | None) -> bool:
    return is_cliff(cliff, case.tensor("data")) and other is not None and not is_cliff(cliff, other.tensor("data"))


def real() -> Iterator[dict[str, Any]]:
    """Yield the clearest cliff of each framework, and how many operators it took."""
    for framework in FRAMEWORKS:
        for tried, operator in enumerate(OPERATORS, 1):
            findings = opperf.explore(operator, framework=framework)
            if findings:
                clearest = max(findings, key=lambda one: one.ratio)
                low, high = clearest.interval or (clearest.ratio, clearest.ratio)
                yield {
                    "framework": framework, "operator": operator, "operators tried": tried, "findings": len(findings),
                    "ratio": clearest.ratio, "interval": f"[{low:.2f}, {high:.2f}]", "where": clearest.region,
                    "instead": clearest.remedy or "", "command": clearest.command,
                }  # fmt: skip
                break


def main() -> None:
    """Explore, print and judge."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    rows, figures = simulate(repeats)
    cliffs = list(real())
    lacking = len(FRAMEWORKS) - len(cliffs)
    publish(
        "explore",
        f"{repeats} cliffs of each kind on the null framework",
        rows,
        {**figures, "frameworks without a confirmed cliff": (lacking, 0.0, "")},
        {"cliffs of real frameworks": cliffs},
    )


if __name__ == "__main__":
    main()
