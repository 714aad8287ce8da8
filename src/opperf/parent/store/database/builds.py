"""The builds in a database: which versions of a framework there are, in which order, and which were compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

from sqlalchemy import ColumnElement, Connection, func, select

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.moment import shown_moment
from opperf.parent.store.database import schema
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.build_order import BEFORE, ORDER, DatedBuild, arrange, follow
from opperf.parent.store.database.connection import reading

#: Where a build occurs in the database: in records, or on a side of comparisons.
Part = Literal["records", "new", "base"]


@dataclass(frozen=True)
class Build:
    """A version of a framework, with when it was first and last measured, and in how many rows."""

    framework: str
    version: str
    first: datetime
    last: datetime
    rows: int


def builds(archive: Archive, *, framework: str | None = None) -> list[Build]:
    """Return the builds that were measured or compared: framework by framework, the latest build first."""
    return [row.build for row in build_rows(archive, framework=framework)]


def build_rows(archive: Archive, *, framework: str | None = None) -> list[BuildRows]:
    """Return the builds with the rows that they have, in the same order."""
    with reading(archive.engine, archive.address) as connection:
        return read_builds(connection, framework)


def build_orders(archive: Archive) -> Mapping[str, Sequence[str]]:
    """Return the versions of each framework, the oldest first."""
    orders: dict[str, list[str]] = {}
    for build in reversed(builds(archive)):
        orders.setdefault(build.framework, []).append(build.version)
    return orders


@dataclass(frozen=True)
class BuildRows:
    """A build with the rows that it has in the database: as one measured, as one compared, as what others were."""

    build: Build
    environments: frozenset[int]
    parts: frozenset[Part]


@dataclass(frozen=True)
class Pair:
    """Two environments that runs compared, and in how many rows."""

    framework: str
    base: int
    new: int
    rows: int


def read_builds(connection: Connection, framework: str | None) -> list[BuildRows]:
    """Return the builds, the latest first: a base counts, too. The framework with the build seen last comes first."""
    table, tallies, runs = schema.environments, schema.tallies, schema.runs
    rows_by_build: dict[tuple[str, str], BuildRows] = {}
    alone = tallies.c.base_environment_id.is_(None)
    parts: tuple[tuple[Part, ColumnElement[int], ColumnElement[bool]], ...] = (
        ("records", tallies.c.environment_id, alone),
        ("new", tallies.c.environment_id, ~alone),
        ("base", tallies.c.base_environment_id, ~alone),
    )
    for part, column, condition in parts:
        query = (
            select(
                table.c.id, table.c.framework, table.c.version, func.sum(tallies.c.count).label("rows"),
                func.min(runs.c.started).label("first"), func.max(runs.c.started).label("last"),
            )
            .join(tallies, column == table.c.id)
            .join(runs, runs.c.id == tallies.c.run_id)
            .where(condition)
            .group_by(table.c.id)
        )  # fmt: skip
        if framework is not None:
            query = query.where(table.c.framework == framework)
        for row in connection.execute(query):
            key = row.framework, row.version
            first, last, rows = shown_moment(row.first), shown_moment(row.last), int(row.rows)
            ids, places = frozenset([row.id]), frozenset([part])
            if key in rows_by_build:
                other = rows_by_build[key].build
                first, last, rows = min(first, other.first), max(last, other.last), rows + other.rows
                ids, places = ids | rows_by_build[key].environments, places | rows_by_build[key].parts
            rows_by_build[key] = BuildRows(Build(*key, first, last, rows), ids, places)

    def age(of_build: BuildRows) -> tuple[datetime, bool, datetime, str, str]:
        # A build that others were compared with was there before them. One run measures several frameworks; databases
        # answer in an order of their own.
        build = of_build.build
        return build.first, of_build.parts != {"base"}, build.last, build.framework, build.version

    frameworks: dict[str, list[BuildRows]] = {}
    for one in sorted(rows_by_build.values(), key=age):
        # The framework whose build was seen last is the last one.
        frameworks[one.build.framework] = [*frameworks.pop(one.build.framework, ()), one]
    lists = _lists(connection)
    ordered: list[BuildRows] = []
    for name, several in frameworks.items():
        dated = [DatedBuild(one.build.version, one.build.version, one.build.first) for one in several]
        ordered += [rows_by_build[name, version] for version in arrange(dated, lists.get(name, ()))]
    return ordered[::-1]


def _lists(connection: Connection) -> dict[str, list[str]]:
    """Return the versions of each framework that nights had from a list, in its order; the latest night counts."""
    labels = schema.labels.c
    query = select(labels.value).join(schema.runs).where(labels.name == ORDER).order_by(schema.runs.c.started)
    before: dict[str, dict[str, str]] = {}
    for value in connection.scalars(query):
        framework, _, versions = value.partition(" ")
        first, is_pair, second = versions.partition(f" {BEFORE} ")
        if is_pair:
            before.setdefault(framework, {})[second] = first
    return {framework: follow(pairs) for framework, pairs in before.items()}


def read_pairs(connection: Connection) -> list[Pair]:
    """Return which two builds of one framework were compared."""
    tallies, base, new = schema.tallies.c, schema.environments.alias("base"), schema.environments.alias("new")
    query = (
        select(new.c.framework, base.c.id.label("base"), new.c.id.label("new"), func.sum(tallies.count).label("rows"))
        .select_from(schema.tallies)
        .join(base, base.c.id == tallies.base_environment_id)
        .join(new, new.c.id == tallies.environment_id)
        .where(base.c.framework == new.c.framework, base.c.version != new.c.version)
        .group_by(new.c.framework, base.c.id, new.c.id)
    )
    return [Pair(row.framework, row.base, row.new, int(row.rows)) for row in connection.execute(query)]


def select_build(builds: Sequence[BuildRows], version: str | None) -> BuildRows | None:
    """Return the build of a version, None without one; raises `InputError` for an unknown version."""
    if version is None:
        return None
    for one in builds:
        if one.build.version == version:
            return one
    hint = f"there are: {', '.join(one.build.version for one in builds[:5])}" if builds else None
    raise InputError(f"the database has no build `{version}`", hint=hint, slug="database")
