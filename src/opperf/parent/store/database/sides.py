"""Any two sides that a database holds, series by series: what comparisons of the two say, or others by way of a third.

Where nobody compared the two, each may have been compared with the same build: r(new) / r(base) is then as good as
both. What nothing of that holds for has the times of different runs, which also depend on the machine's day.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from sqlalchemy import Connection, Row, Text, cast, select

from opperf.domain.dataclass import dataclass
from opperf.domain.files.json_text import JsonObject
from opperf.domain.stats.significance import Estimate
from opperf.parent.documents.tolerances import TOLERANCE
from opperf.parent.store.database import schema
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.builds import BuildRows, read_builds
from opperf.parent.store.database.connection import reading
from opperf.parent.store.database.overview import Difference, Mover, latest_times
from opperf.parent.store.database.series import EVERYTHING, Filters, Series, filter_series, find_series, run_keys

DOUBT = "inconclusive"
#: What the verdict of one side is of the other.
TURNED = {"slower": "faster", "faster": "slower"}


def how(side: JsonObject) -> str:
    """Write how a side runs, without what is usual: a mode, a device, a number of threads.

    >>> how({"framework": "jax", "mode": "compiled", "device": "cpu", "threads": 4})
    'compiled 4 threads'
    """
    words = (side.get("mode"), side.get("device"), f"{side.get('threads', 1)} threads")
    return " ".join(word for word in map(str, words) if word not in ("eager", "cpu", "1 threads", "None"))


@dataclass(frozen=True)
class StoredSide:
    """A build, and how it ran; None stands for every way."""

    build: BuildRows
    how: str | None = None

    @property
    def name(self) -> str:
        """What pages and addresses call it: `numpy 2.2.6`, `jax 0.10 compiled`."""
        build = self.build.build
        return " ".join(filter(None, (build.framework, build.version, self.how)))

    def has(self, series: Series) -> bool:
        """Whether a series of this build is one of this side."""
        return series.framework == self.build.build.framework and self.how in (None, how(series.side))


def stored_sides(archive: Archive) -> list[StoredSide]:
    """Return every side that was measured or compared: each build, and where it ran in several ways each of them."""
    with reading(archive.engine, archive.address) as connection:
        builds, ways = read_builds(connection, None), _ways(connection)
    sides = []
    for build in builds:
        names = sorted(ways.get(build.build.framework, ()))
        sides += [StoredSide(build), *(StoredSide(build, name) for name in names if name and len(names) > 1)]
    return sides


def _ways(connection: Connection) -> dict[str, set[str]]:
    """Return in which ways each framework ran."""
    table = schema.series.c
    ways: dict[str, set[str]] = {}
    # PostgreSQL compares no JSON.
    for framework, side in connection.execute(select(table.framework, cast(table.side, Text)).distinct()):
        ways.setdefault(framework, set()).add(how(json.loads(side)))
    return ways


def compare_sides(archive: Archive, base: StoredSide, new: StoredSide, filters: Filters = EVERYTHING) -> list[Mover]:
    """Return the ratio of each series on two sides, the surest of each series; what moved most comes first."""
    with reading(archive.engine, archive.address) as connection:
        rows = _rows(connection, base.build.environments | new.build.environments, filters)
        series = find_series(connection, {key for row in rows for key in (row.base_series_id, row.new_series_id)})
        reader = _Reader(base, new, series, _builds(connection))
        movers = {**reader.by_way(rows), **reader.direct(rows)}
        if not movers:
            movers = _of_times(connection, (base, new), rows, series, filters)
        keys = run_keys(connection, {int(mover.run) for mover in movers.values()})
    return sorted((replace(mover, run=keys[int(mover.run)]) for mover in movers.values()), key=_weight)


def _weight(mover: Mover) -> tuple[bool, float]:
    return mover.difference.weight


_Key: TypeAlias = "tuple[object, ...]"


def _key(series: Series) -> _Key:
    """Identify what two sides have in common."""
    return str(series.case.get("id")), series.direction, series.machine, series.metric


def _rows(connection: Connection, environments: Collection[int], filters: Filters) -> Sequence[Row[Any]]:
    """Return the comparisons in which one of these builds is the new one, the earliest first."""
    table = schema.comparisons.c
    query = (
        select(
            table.base_series_id, table.new_series_id, table.base_environment_id, table.new_environment_id,
            table.run_id, table.verdict, table.ratio, table.low, table.high, table.error, table.base_time,
            table.new_time,
        )
        .where(table.new_environment_id.in_(environments))
        .order_by(table.started)
    )  # fmt: skip
    return connection.execute(filter_series(query, table.new_series_id, filters)).all()


def _builds(connection: Connection) -> Mapping[int, str]:
    table = schema.environments.c
    rows = connection.execute(select(table.id, table.framework, table.version))
    return {key: f"{framework} {version}" for key, framework, version in rows}


class _Reader:
    """Makes movers of rows, for two sides; of several rows of a series the latest counts."""

    def __init__(
        self, base: StoredSide, new: StoredSide, series: Mapping[int, Series], builds: Mapping[int, str]
    ) -> None:
        self._base, self._new, self._series, self._builds = base, new, series, builds

    def _has(self, side: StoredSide, environment: int | None, series: int) -> bool:
        return environment in side.build.environments and side.has(self._series[series])

    def direct(self, rows: Sequence[Row[Any]]) -> dict[_Key, Mover]:
        """Return the comparisons of the two, whichever was the base."""
        movers: dict[_Key, Mover] = {}
        for row in rows:
            ends = (row.base_environment_id, row.base_series_id), (row.new_environment_id, row.new_series_id)
            series = self._series[row.new_series_id]
            if self._has(self._base, *ends[0]) and self._has(self._new, *ends[1]):
                difference = Difference(row.verdict, row.ratio, row.low, row.high, row.base_time, row.new_time)
            elif self._has(self._new, *ends[0]) and self._has(self._base, *ends[1]):
                low, high = (None if end is None else 1 / end for end in (row.high, row.low))
                ratio = None if row.ratio is None else 1 / row.ratio
                verdict = TURNED.get(row.verdict, row.verdict)
                difference = Difference(verdict, ratio, low, high, row.new_time, row.base_time)
            else:
                continue
            movers[_key(series)] = Mover(series, difference, str(row.run_id))
        return movers

    def by_way(self, rows: Sequence[Row[Any]]) -> dict[_Key, Mover]:
        """Return the ratios of both to what both were compared with."""
        news: dict[_Key, Row[Any]] = {}
        bases: dict[_Key, Row[Any]] = {}
        for row in rows:
            if row.error is None or row.base_environment_id is None:
                continue
            key = (*_key(self._series[row.new_series_id]), row.base_series_id, row.base_environment_id)
            for side, place in ((self._base, bases), (self._new, news)):
                if self._has(side, row.new_environment_id, row.new_series_id):
                    place[key] = row
        movers: dict[_Key, Mover] = {}
        for key in news.keys() & bases.keys():
            new, base = news[key], bases[key]
            if new is not base:
                size = Estimate(math.log(new.ratio / base.ratio), math.hypot(new.error, base.error))
                low, high = size.interval()
                ratio, times = math.exp(size.log_ratio), (base.new_time, new.new_time)
                difference = Difference(verdict_of(low, high), ratio, low, high, *times)
                by = self._builds.get(new.base_environment_id, "")
                former = movers.get(key[:4])
                if former is None or (former.difference.high or 1) / (former.difference.low or 1) > high / low:
                    series = self._series[new.new_series_id]
                    movers[key[:4]] = Mover(series, difference, str(new.run_id), "by way", by)
        return movers


def verdict_of(low: float, high: float) -> str:
    """Return the verdict of an interval alone.

    >>> verdict_of(1.05, 1.08), verdict_of(0.995, 1.004), verdict_of(0.9, 1.1)
    ('slower', 'same', 'inconclusive')
    """
    least, most = 1 / (1 + TOLERANCE), 1 + TOLERANCE
    return "slower" if low > most else "faster" if high < least else "same" if least <= low <= high <= most else DOUBT


def _of_times(
    connection: Connection,
    sides: tuple[StoredSide, StoredSide],
    rows: Sequence[Row[Any]],
    series: Mapping[int, Series],
    filters: Filters,
) -> dict[_Key, Mover]:
    """Return the latest times of both, those of nights too; where a side ran in several ways, the most usual."""
    times: list[dict[_Key, tuple[Series, int, float]]] = []
    for side in sides:
        environments = side.build.environments
        by_series = {
            row.new_series_id: (row.run_id, row.new_time)
            for row in rows
            if row.new_environment_id in environments and row.new_time
        }
        by_series |= latest_times(connection, side.build, filters)
        by_id = {**series, **find_series(connection, by_series.keys() - series.keys())}
        ordered = sorted((by_id[key] for key in by_series if side.has(by_id[key])), key=lambda one: -len(how(one.side)))
        times.append({_key(one): (one, *by_series[one.id]) for one in ordered})
    base_times = {key: time for key, (_, _, time) in times[0].items()}
    return {
        key: Mover(new, Difference(None, time / base_times[key], None, None, base_times[key], time), str(run), "times")
        for key, (new, run, time) in times[1].items()
        if key in base_times
    }
