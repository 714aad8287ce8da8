"""How a build stands to another, all series at once: what the comparisons of the two say, or else their times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Literal, NamedTuple, TypeAlias

from sqlalchemy import Connection, select

from opperf.domain.dataclass import dataclass
from opperf.parent.documents.comparison import CHANGES
from opperf.parent.store.database import schema
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.builds import BuildRows, Pair, read_builds, read_pairs, select_build
from opperf.parent.store.database.connection import reading
from opperf.parent.store.database.series import (
    EVERYTHING,
    Filters,
    Series,
    begin,
    category,
    filter_series,
    find_series,
    pieces,
    run_keys,
)
from opperf.parent.store.database.trails import Trails, read_trails

#: What an overview stands on: ratios of pairs of processes, or times of different runs, which is much weaker.
Evidence = Literal["ratios", "times"]
#: How a ratio is known: two sides in turns, both with a third one, or their times in different runs.
Way: TypeAlias = Literal["compared", "by way", "times"]
#: The most runs to search, latest first, for the times of a build.
MOST_RUNS = 20
#: The verdicts on what was looked at and could not be measured, and what stands for one where there are only times.
UNMEASURED = ("failed", "skipped")
UNJUDGED = "unjudged"


class Difference(NamedTuple):
    """What is known of a series in two builds: the ratio of the new one to the base, above 1 being slower, and times.

    `verdict` is None if there are only two times; they are in seconds. There are many, and a tuple is made in no time.
    """

    verdict: str | None
    ratio: float | None
    low: float | None
    high: float | None
    base_time: float | None
    new_time: float | None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the ratio lies, if that is known."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def weight(self) -> tuple[bool, float]:
        """Where it stands among others: what is called slower or faster first, then by the size of its ratio."""
        is_change = self.verdict in (None, *CHANGES)
        return not is_change, -max(self.ratio, 1 / self.ratio) if self.ratio else 0.0


@dataclass(frozen=True)
class Mover:
    """A series of an overview: how the build differs from the anchor.

    `way` says how that is known, and `by` what both were compared with where that is a third build.
    """

    series: Series
    difference: Difference
    run: str
    way: Way = "compared"
    by: str = ""


class MoverRow(NamedTuple):
    """A mover before its series and its run are looked up."""

    series: int
    run: int
    difference: Difference


@dataclass(frozen=True)
class Overview:
    """How a build stands to its anchor: the movers, the largest changes first, and how many came out how.

    `categories` counts verdicts of each category, None being no operator of the catalog's; `operators` are all that
    were looked at, each with the series of it that moved most. `trails` say how each series went over the builds up to
    this one.
    """

    framework: str
    build: str
    anchor: str
    evidence: Evidence
    verdicts: Mapping[str, int]
    movers: tuple[Mover, ...]
    categories: Mapping[str | None, Mapping[str, int]] = field(default_factory=dict)
    operators: Mapping[str, MoverRow] = field(default_factory=dict)
    trails: Trails = field(default_factory=lambda: Trails((), {}))

    @property
    def unmeasured(self) -> int:
        """How many series could not be measured."""
        return sum(self.verdicts.get(word, 0) for word in UNMEASURED)


def overview(
    archive: Archive,
    *,
    framework: str | None = None,
    build: str | None = None,
    anchor: str | None = None,
    filters: Filters = EVERYTHING,
    evidence: Evidence | None = None,
    verdict: str | None = None,
    start: int = 0,
    most: int | None = 100,
    builds: Sequence[BuildRows] | None = None,
) -> Overview | None:
    """Return how a build stands to its anchor, None for a database without two builds of a framework.

    Left out, the build is the latest of the framework that was measured last, the anchor the build that most others
    were compared with, and the evidence ratios, where there are any. The movers are the `most` after `start` of those
    with the verdict; all else is of everything. `builds` are those of the database, where they were read already.
    Raises `InputError` for a build that is not there.
    """
    framework = framework or filters.framework
    with reading(archive.engine, archive.address) as connection:
        every = read_builds(connection, framework) if builds is None else builds
        every = [row for row in every if framework in (None, row.build.framework)]
        evidence, latest, base = _choose(connection, every, framework, build, anchor, evidence)
        if latest is None or base is None:
            return None
        query = _ratio_rows if evidence == "ratios" else _time_rows
        rows = sorted(query(connection, latest, base, filters), key=lambda row: row.difference.weight)
        names = _operators(connection, [row.series for row in rows])
        earlier = [one for one in every[every.index(latest) :] if one.build.framework == latest.build.framework]
        trails = read_trails(connection, earlier, base, filters)
        part = [row for row in rows if verdict in (None, row.difference.verdict or UNJUDGED)]
        part = part[start : None if most is None else start + most]
        series = find_series(connection, {row.series for row in part})
        keys = run_keys(connection, {row.run for row in part})
    categories: dict[str | None, Counter[str]] = {}
    words = [row.difference.verdict or UNJUDGED for row in rows]
    for (name, word), count in Counter(zip((names[row.series] for row in rows), words)).items():
        categories.setdefault(category(name), Counter())[word] += count
    movers = tuple(Mover(series[row.series], row.difference, keys[row.run]) for row in part)
    return Overview(
        *(latest.build.framework, latest.build.version, base.build.version, evidence),
        *(Counter(words), movers, categories),
        *({names[row.series]: row for row in reversed(rows)}, trails),
    )


def _operators(connection: Connection, ids: Sequence[int]) -> dict[int, str]:
    """Return the operator of each of these series."""
    series, cases = schema.series.c, schema.cases.c
    query = select(series.id, cases.operator).join(schema.cases, cases.id == series.case_id)
    return {row[0]: row[1] for some in pieces(ids) for row in connection.execute(query.where(series.id.in_(some)))}


def _choose(
    connection: Connection,
    every: Sequence[BuildRows],
    framework: str | None,
    build: str | None,
    anchor: str | None,
    evidence: Evidence | None,
) -> tuple[Evidence, BuildRows | None, BuildRows | None]:
    """Return the build and the anchor of an overview, or None."""
    pairs = [pair for pair in read_pairs(connection) if framework in (None, pair.framework)]
    evidence = evidence or ("ratios" if pairs else "times")
    news = {pair.new for pair in pairs}
    there = [one for one in every if (one.environments & news if evidence == "ratios" else "records" in one.parts)]
    latest = select_build(there, build) or next(iter(there), None)
    if latest is None:
        return evidence, None, None
    others = [one for one in every if one != latest and one.build.framework == latest.build.framework]
    base = select_build(others, anchor)
    if base is None and evidence == "ratios":
        base = _anchor(others, [pair for pair in pairs if pair.new in latest.environments], pairs)
    elif base is None:
        base = next((one for one in reversed(others) if "records" in one.parts), None)
    return evidence, latest, base


def _anchor(builds: Sequence[BuildRows], own: Sequence[Pair], every: Sequence[Pair]) -> BuildRows | None:
    """Return the build that this one was compared with; of several, the most common one."""
    bases = {pair.base for pair in own}
    news = {one.build.version: {pair.new for pair in every if pair.base in one.environments} for one in builds}
    return max(
        (one for one in builds if bases & one.environments),
        key=lambda one: len(news[one.build.version]),
        default=None,
    )


def _ratio_rows(connection: Connection, build: BuildRows, anchor: BuildRows, filters: Filters) -> list[MoverRow]:
    """Return the latest comparison of each series."""
    table = schema.comparisons.c
    query = (
        select(
            table.new_series_id, table.run_id, table.verdict, table.ratio, table.low, table.high,
            table.base_time, table.new_time,
        )
        .where(table.new_environment_id.in_(build.environments), table.base_environment_id.in_(anchor.environments))
        .order_by(table.started)
    )  # fmt: skip
    rows = connection.execute(
        begin(filter_series(query, table.new_series_id, filters), table.started, filters.since)
    ).all()
    return [MoverRow(row[0], row[1], Difference(*row[2:])) for row in {row[0]: row for row in rows}.values()]


def _time_rows(connection: Connection, build: BuildRows, anchor: BuildRows, filters: Filters) -> list[MoverRow]:
    """Return the latest time of each series in both builds; no interval: how runs differ is not known."""
    new = latest_times(connection, build, filters)
    base = latest_times(connection, anchor, filters, set(new))
    return [
        MoverRow(series, run, Difference(None, time / base[series][1], None, None, base[series][1], time))
        for series, (run, time) in new.items()
        if series in base
    ]


def latest_times(
    connection: Connection, build: BuildRows, filters: Filters, build_ids: set[int] | None = None
) -> dict[int, tuple[int, float]]:
    """Return the run and the time of each series in its latest run with this build, one run after the other."""
    tallies, runs, table = schema.tallies.c, schema.runs.c, schema.records.c
    latest = (
        select(runs.id)
        .join(schema.tallies, tallies.run_id == runs.id)
        .where(tallies.environment_id.in_(build.environments), tallies.base_environment_id.is_(None))
        .group_by(runs.id)
        .order_by(runs.started.desc())
        .limit(MOST_RUNS)
    )
    times: dict[int, tuple[int, float]] = {}
    for run in connection.scalars(begin(latest, runs.started, filters.since)).all():
        query = select(table.series_id, table.time).where(
            table.run_id == run, table.environment_id.in_(build.environments), table.time > 0
        )
        for series, time in connection.execute(filter_series(query, table.series_id, filters)).all():
            times.setdefault(series, (run, time))
        if build_ids is not None and build_ids <= set(times):
            break
    return times
