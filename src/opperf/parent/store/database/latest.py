"""What pages ask of the database: how the latest builds stand, what it has, a comparison as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select

from opperf.domain.case import Case
from opperf.domain.comparison import Comparison, ComparisonRun
from opperf.domain.record import Run
from opperf.parent.store.database import schema
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import reading
from opperf.parent.store.database.documents import unpack
from opperf.parent.store.database.history import moment

#: So many of the latest comparing runs tell how builds stand.
RECENT = 20


@dataclass(frozen=True)
class Standing:
    """What was last said of a case on two builds."""

    run: str
    started: datetime
    case: Case
    direction: str
    framework: str
    base: str
    new: str
    machine: str
    verdict: str
    ratio: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class Holding:
    """What a database has of a framework."""

    framework: str
    operators: frozenset[str]
    versions: tuple[str, ...]


@dataclass(frozen=True)
class Machine:
    """A machine, and how much was measured on it."""

    id: int
    name: str
    facts: Mapping[str, Any]
    runs: int
    latest: datetime


def standings(archive: Archive) -> list[Standing]:
    """Return what the latest comparing runs say, the last of each case on the same builds."""
    table, base, new = schema.comparisons, schema.series.alias("base"), schema.series.alias("new")
    old_build, new_build = schema.environments.alias("old_build"), schema.environments.alias("new_build")
    recent = (
        select(schema.runs.c.id)
        .where(schema.runs.c.kind != "run")
        .order_by(schema.runs.c.started.desc(), schema.runs.c.id.desc())
        .limit(RECENT)
    )
    query = (
        select(
            table.c.started, table.c.verdict, table.c.ratio, table.c.low, table.c.high, schema.runs.c.key,
            old_build.c.version.label("base_version"), new_build.c.version.label("new_version"),
            base.c.framework.label("base_framework"), new.c.framework, new.c.direction,
            new.c.id.label("series"), base.c.id.label("base_series"),
            schema.cases.c.document, schema.machines.c.name,
        )
        .select_from(table)
        .join(schema.runs, schema.runs.c.id == table.c.run_id)
        .join(base, base.c.id == table.c.base_series_id)
        .join(new, new.c.id == table.c.new_series_id)
        .join(schema.cases, schema.cases.c.id == new.c.case_id)
        .join(schema.machines, schema.machines.c.id == new.c.machine_id)
        .outerjoin(old_build, old_build.c.id == table.c.base_environment_id)
        .outerjoin(new_build, new_build.c.id == table.c.new_environment_id)
        .where(table.c.run_id.in_(recent.scalar_subquery()))
        .order_by(table.c.started, table.c.id)
    )  # fmt: skip
    with reading(archive.engine, archive.address) as connection:
        rows = connection.execute(query).all()
    last = {(row.base_series, row.series, row.base_version, row.new_version): row for row in rows}
    return [_standing(row) for row in last.values()]


def _standing(row: Any) -> Standing:
    return Standing(
        run=row.key,
        started=moment(row.started),
        case=Case.from_json(row.document, "case"),
        direction=row.direction,
        framework=row.framework,
        base=" ".join(filter(None, (row.base_framework, row.base_version))),
        new=" ".join(filter(None, (row.framework, row.new_version))),
        machine=row.name,
        verdict=row.verdict,
        ratio=row.ratio,
        interval=None if row.low is None else (row.low, row.high),
    )


def holdings(archive: Archive) -> list[Holding]:
    """Return which operators and versions of each framework there are."""
    series, cases = schema.series, schema.cases
    operators: dict[str, set[str]] = {}
    versions: dict[str, list[str]] = {}
    with reading(archive.engine, archive.address) as connection:
        for row in connection.execute(
            select(series.c.framework, cases.c.operator).select_from(series.join(cases)).distinct()
        ):
            operators.setdefault(row.framework, set()).add(row.operator)
        for row in connection.execute(select(schema.environments).order_by(schema.environments.c.id.desc())):
            versions.setdefault(row.framework, []).append(row.version)
    return [
        Holding(name, frozenset(own), tuple(dict.fromkeys(versions.get(name, ()))))
        for name, own in sorted(operators.items())
    ]


def machines(archive: Archive) -> list[Machine]:
    """Return the machines, the one that measured last first."""
    machine, runs = schema.machines, schema.runs
    query: Select[Any] = (
        select(machine, func.count(runs.c.id).label("runs"), func.max(runs.c.started).label("latest"))
        .join(runs, runs.c.machine_id == machine.c.id)
        .group_by(machine.c.id)
        .order_by(func.max(runs.c.started).desc())
    )
    with reading(archive.engine, archive.address) as connection:
        return [
            Machine(row.id, row.name, row.facts or {}, row.runs, moment(row.latest))
            for row in connection.execute(query)
        ]


def document(archive: Archive, key: str) -> Run | ComparisonRun | None:
    """Return a run as it was added, with its comparisons where it has some; None where there is none."""
    run = archive.run(key)
    if run is None:
        return None
    table, base, new = schema.comparisons, schema.series.alias("base"), schema.series.alias("new")
    query = (
        select(
            table.c.document, base.c.side.label("base_side"), new.c.side.label("new_side"), new.c.direction,
            schema.cases.c.document.label("case"),
        )
        .select_from(table)
        .join(schema.runs, schema.runs.c.id == table.c.run_id)
        .join(base, base.c.id == table.c.base_series_id)
        .join(new, new.c.id == table.c.new_series_id)
        .join(schema.cases, schema.cases.c.id == new.c.case_id)
        .where(schema.runs.c.key == key)
        .order_by(table.c.id)
    )  # fmt: skip
    with reading(archive.engine, archive.address) as connection:
        rows = connection.execute(query).all()
    compared = []
    for row in rows:
        own = unpack(row.document)
        sides = {name: {**side, **own[name]} for name, side in (("base", row.base_side), ("new", row.new_side))}
        compared.append(Comparison.from_json({**own, **sides, "case": row.case, "direction": row.direction}, key))
    return ComparisonRun(run, tuple(compared)) if compared else run


@dataclass(frozen=True)
class Heading:
    """A run in the database without its records, which are empty."""

    kind: str
    machine: int
    run: Run


def headings(archive: Archive, most: int = 300) -> list[Heading]:
    """Return the latest runs by what stands above their records."""
    runs = schema.runs
    query = select(runs.c.key, runs.c.kind, runs.c.machine_id, runs.c.document)
    query = query.order_by(runs.c.started.desc(), runs.c.id.desc()).limit(most)
    with reading(archive.engine, archive.address) as connection:
        rows = connection.execute(query).all()
    return [Heading(row.kind, row.machine_id, Run.from_header(unpack(row.document)["run"], row.key)) for row in rows]
