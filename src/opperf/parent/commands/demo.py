"""A database of a made-up month, so that a newcomer sees every page at once: nothing in it was measured.

Cases and operators are the catalog's own; times come from their bytes and operations on a machine that there is not,
and from a generator with a seed. Two frameworks have nights, a third stands beside them. Some operators change, some
come back, one fails; people have said what they think of it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from functools import partial

from opperf.catalog import operator
from opperf.domain.case import Case
from opperf.domain.dataclass import dataclass
from opperf.domain.files.json_text import JsonObject
from opperf.domain.measurement import Quantity
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.record import Record, Run, Statistics, Value
from opperf.domain.stats.significance import Estimate
from opperf.parent.commands.history import named_changes
from opperf.parent.commands.triage import decide
from opperf.parent.documents.comparison import Comparison, ComparisonRun, Verdict
from opperf.parent.documents.floor import Floor, NoiseRun
from opperf.parent.documents.tolerances import TOLERANCE
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.series import Filters

NOTICE = "Made up: nothing on these pages was measured. Your own results: opperf serve --database FILE"
#: The nights, and every how many of them something else happens.
NIGHTS, WEEK = 30, 7
OPERATORS = ("matmul", "conv2d", "softmax", "layer_norm", "add", "exp", "sum", "max", "sort", "take", "transpose")
SIZES = ("small", "common")
#: The standard error of the logarithm of a ratio.
ERROR = 0.004
#: Bytes and operations in a second, and seconds of a call that does nothing.
BYTE_RATE, FLOP_RATE, CALL = 12e9, 60e9, 4e-6
MACHINE = {
    "cpu": "made-up processor",
    "architecture": "x86_64",
    "cores_logical": 8,
    "cores_usable": 8,
    "memory_total": 2**35,
    "governor": "performance",
}
LABELS = {"made up": "opperf serve --demo"}
SUITE = {"name": "made-up model", "source": "opperf serve --demo", "program": None}


@dataclass(frozen=True)
class Product:
    """A framework: its anchor, the version that its nightly builds go before, how much longer it takes, how it runs."""

    name: str
    anchor: str
    upcoming: str
    factor: float
    mode: str = "eager"

    def build(self, day: datetime) -> str:
        """Return the version of a night's build."""
        return f"{self.upcoming}.dev{day:%Y%m%d}"

    def side(self, version: str) -> Side:
        """Return the side of a version."""
        return Side(self.name, f"{self.name}=={version}", mode=self.mode)


NUMPY, TORCH = Product("numpy", "2.4.6", "2.5.0", 1.5), Product("torch", "2.12.1", "2.14.0", 1.0)
JAX = Product("jax", "0.10.1", "0.11.0", 0.9, "compiled")


@dataclass(frozen=True)
class Episode:
    """A change that was put in: from a night on, until another, an operator of a framework takes so much longer."""

    framework: str
    operator: str
    begin: int
    factor: float
    end: int = NIGHTS


EPISODES = (
    Episode("torch", "layer_norm", 9, 1.09),
    Episode("torch", "softmax", 16, 0.86),
    Episode("torch", "sort", 12, 1.2, 19),
    Episode("torch", "conv2d", 29, 1.15),
    Episode("numpy", "sum", 14, 1.06),
    Episode("numpy", "exp", 21, 0.78),
    Episode("numpy", "take", 26, 1.31),
)
#: The framework, the operator and the nights of a failure.
FAILURE = ("torch", "transpose", range(27, NIGHTS))
#: What was said of changes: the framework, the operator, whether it is the slower way, and the decision.
WORDS = (
    ("torch", "layer_norm", True, "expected", "checks its input now", "ann"),
    ("torch", "sort", True, "fixed", "the old kernel is back", "bob"),
    ("numpy", "sum", True, "seen", "we look at it", "ann"),
)


def fill(archive: Archive, now: datetime | None = None) -> None:
    """Add a month that ends now."""
    chance = random.Random(20)
    last = (now or datetime.now(timezone.utc)).replace(second=0, microsecond=0) - timedelta(hours=4)
    days = [last - timedelta(days=NIGHTS - 1 - number) for number in range(NIGHTS)]
    archive.add(_floors(days[0]))
    for number, day in enumerate(days):
        for product in (NUMPY, TORCH):
            archive.add(_night(product, number, days, chance), kind="nightly")
        if number % WEEK == 1:
            archive.add(_run(number, day + timedelta(hours=1), chance), samples=True)
            archive.add(_frameworks(number, day + timedelta(hours=2), chance))
    search = named_changes(archive)
    for framework, name, is_slower, state, note, author in WORDS:
        names = [
            change.standing.name
            for change in search.changes
            if (change.series.framework, change.series.case.operator) == (framework, name)
            and (change.change.size.log_ratio > 0) == is_slower
        ]
        decide(archive, names, state, note=note, author=author, filters=Filters(operator=name))


def _cases() -> Iterator[Case]:
    for name in OPERATORS:
        yield from (operator(name).case(size) for size in SIZES)


def _seconds(case: Case, product: Product) -> float:
    """Return how long a call takes: as long as its bytes or its operations need, and as calling it does."""
    definition = operator(case.operator)
    moved, flops = definition.byte_count(case, "forward") or 0, definition.flop_count(case, "forward") or 0
    return CALL + product.factor * max(moved / BYTE_RATE, flops / FLOP_RATE)


def _level(product: Product, name: str, number: int) -> float:
    """Return how much longer than in the anchor an operator takes in a night's build."""
    own = (episode for episode in EPISODES if (episode.framework, episode.operator) == (product.name, name))
    return math.prod(episode.factor for episode in own if episode.begin <= number < episode.end)


def _header(key: str, kind: str, day: datetime, *products: Product, suite: JsonObject | None = None) -> Run:
    frameworks = [
        {"framework": product.name, "environment": product.name, "version": product.anchor} for product in products
    ]
    environment = {"machine": MACHINE, "frameworks": frameworks, **({"suite": suite} if suite else {})}
    return Run(f"demo-{key}", day.isoformat(), ("opperf", kind), Settings(), LABELS, environment)


def _compare(
    case: Case, sides: tuple[Side, Side], versions: tuple[str, str], times: tuple[float, float], chance: random.Random
) -> Comparison:
    size = Estimate(math.log(times[1] / times[0]) + chance.gauss(0, ERROR), ERROR)
    low, high = size.interval()
    most = 1 + TOLERANCE
    word = "slower" if low > most else "faster" if high < 1 / most else "same"
    verdict = Verdict(word, math.exp(size.log_ratio), (low, high), "both stages agree", 7)
    pairs = tuple(size.log_ratio + chance.gauss(0, ERROR * 2) for _ in range(7))
    night = math.exp(chance.gauss(0, 0.05))  # nights differ by far more than builds
    base, new = times[0] * night, times[0] * night * math.exp(size.log_ratio)
    return Comparison(
        case, "forward", *sides, verdict, base, new, log_ratios=(pairs,), base_version=versions[0],
        new_version=versions[1], pair_levels=(tuple((base, base * math.exp(pair)) for pair in pairs),),
    )  # fmt: skip


def _night(product: Product, number: int, days: list[datetime], chance: random.Random) -> ComparisonRun:
    build, level = product.build(days[number]), partial(_level, product)
    bases = [(product.anchor, None), *([(product.build(days[number - 1]), number - 1)] if number else [])]
    comparisons = []
    for case in _cases():
        name, seconds = case.operator, _seconds(case, product)
        for version, night in bases:
            times = seconds * (1.0 if night is None else level(name, night)), seconds * level(name, number)
            sides = product.side(version), product.side(build)
            comparison = _compare(case, sides, (version, build), times, chance)
            if (product.name, name) == FAILURE[:2] and number in FAILURE[2]:
                why = Verdict("failed", None, None, "RuntimeError: no kernel image for this shape", 0)
                comparison = replace(
                    comparison,
                    verdict=why,
                    status="failed",
                    base_time=None,
                    new_time=None,
                    log_ratios=(),
                    pair_levels=(),
                )
            comparisons.append(comparison)
    return ComparisonRun(_header(f"night-{product.name}-{number + 1}", "nightly", days[number]), tuple(comparisons))


def _frameworks(number: int, day: datetime, chance: random.Random) -> ComparisonRun:
    """Return comparisons of three frameworks, as of `opperf compare --base numpy --new torch --new jax`."""
    comparisons = []
    for place, case in enumerate(_cases()):
        for product in (TORCH, JAX):
            sides = NUMPY.side(NUMPY.anchor), product.side(product.anchor)
            times = _seconds(case, NUMPY), _seconds(case, product)
            comparison = _compare(case, sides, (NUMPY.anchor, product.anchor), times, chance)
            comparisons.append(replace(comparison, count=1 + place % 4))
    return ComparisonRun(_header(f"frameworks-{number + 1}", "compare", day, suite=SUITE), tuple(comparisons))


def _run(number: int, day: datetime, chance: random.Random) -> Run:
    """Return a run of every framework, as one of a suite."""
    products = (NUMPY, TORCH, JAX)
    run = _header(f"run-{number + 1}", "run", day, *products, suite=SUITE)
    records = tuple(
        _record(case, product, place, chance) for place, case in enumerate(_cases()) for product in products
    )
    return replace(run, records=records)


def _record(case: Case, product: Product, place: int, chance: random.Random) -> Record:
    definition, seconds = operator(case.operator), _seconds(case, product) * math.exp(chance.gauss(0, 0.04))
    processes = [seconds * chance.lognormvariate(0, 0.02) for _ in range(3)]
    walls = [[int(1e9 * middle * chance.lognormvariate(0.01, 0.02)) + 1 for _ in range(30)] for middle in processes]
    columns = [{"overhead_ns": 0.0, "calls": [1] * 30, "wall_ns": wall, "cpu_ns": wall} for wall in walls]
    moved, flops = definition.byte_count(case, "forward") or 0, definition.flop_count(case, "forward") or 0
    metrics: dict[str, Value] = {
        "time": Statistics(
            mean=seconds * 1.01,
            median=seconds,
            p90=seconds * 1.04,
            p99=seconds * 1.09,
            min=seconds * 0.98,
            max=seconds * 1.2,
            stdev=seconds * 0.02,
            interval=(seconds * 0.98, seconds * 1.02),
            interval_reason=None,
            precision=0.01,
            samples=90,
            calls_per_sample=1,
            discarded=2,
            processes=3,
            sync="block",
            cache="hot",
        ),
        "memory_peak": Quantity(float(moved // 2), "formula"),
        "bytes": Quantity(moved, "formula"),
        "flops": Quantity(flops, "formula"),
    }
    facts = {"implementation": f"{product.name}:{case.operator}", "version": product.anchor}
    side = Side(product.name, product.name, mode=product.mode)
    trial = Trial(case, side, "forward", "suite:made-up model", 1 + place % 4)
    return Record(trial, "ok", metrics=metrics, facts=facts, samples={"time": columns})


def _floors(day: datetime) -> NoiseRun:
    floors = tuple(
        Floor(
            Trial(case, Side("numpy", "numpy"), "forward"), _seconds(case, NUMPY), 7, 0.006,
            0.006 + 0.001 * (place % 5), 0.03 + 0.002 * place, 0, 3, day.isoformat(),
        )
        for place, case in enumerate(_cases())
    )  # fmt: skip
    return NoiseRun(_header("floors", "noise", day, NUMPY), floors, (), 0.02)
