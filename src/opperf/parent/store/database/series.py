"""Series of a database, selected by a filter.

A case and a side are in JSON form, as they stand in the tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Select, select

from opperf.catalog import catalog, is_known
from opperf.catalog import operator as declared
from opperf.domain.dataclass import dataclass
from opperf.domain.files.json_text import JsonObject
from opperf.parent.store.database import schema
from opperf.parent.store.database.documents import fingerprint

Id = TypeVar("Id", int, str)
#: The most values that a query names: SQLite takes 32,766.
AT_ONCE = 10_000


@dataclass(frozen=True)
class Filters:
    """A filter of series; None means no restriction. Machines are identified by `Machine.id`."""

    operator: str | None = None
    category: str | None = None
    framework: str | None = None
    direction: str | None = None
    machine: int | None = None
    case: str | None = None
    since: datetime | None = None

    def of_series(self) -> list[ColumnElement[bool]]:
        """Return the conditions on series and their cases."""
        series, cases = schema.series.c, schema.cases.c
        equal = (
            (cases.operator, self.operator),
            (series.framework, self.framework),
            (series.direction, self.direction),
            (series.machine_id, self.machine),
            (cases.fingerprint, None if self.case is None else fingerprint(self.case)),
        )
        conditions = [column == value for column, value in equal if value is not None]
        if self.category is not None:
            names = [name for name, one in catalog().items() if one.category == self.category]
            conditions.append(cases.operator.in_(names))
        return conditions


@dataclass(frozen=True)
class Series:
    """A case in a direction on a side, on a machine, by a metric; the case and the side are in JSON form."""

    id: int
    operator: str
    case: JsonObject
    direction: str
    framework: str
    side: JsonObject
    machine: int
    machine_name: str
    metric: str = "time"


EVERYTHING = Filters()


def category(operator: str) -> str | None:
    """Return the category of an operator of the catalog, None of any other.

    >>> category("conv2d"), category("torch:torch.add")
    ('convolution', None)
    """
    return declared(operator).category if is_known(operator) else None


def filter_series(query: Select[Any], series: ColumnElement[int], filters: Filters) -> Select[Any]:
    """Return the query for the series that the filters leave."""
    conditions = filters.of_series()
    if conditions:
        left = select(schema.series.c.id).select_from(schema.series.join(schema.cases)).where(*conditions)
        query = query.where(series.in_(left))
    return query


def begin(query: Select[Any], column: ColumnElement[int], since: datetime | None) -> Select[Any]:
    """Return the query restricted to newer rows."""
    return query if since is None else query.where(column >= since.timestamp())


def series_of(connection: Connection, filters: Filters) -> dict[int, Series]:
    """Return the series that the filters leave, by their keys."""
    return _read(connection, *filters.of_series())


def find_series(connection: Connection, ids: Iterable[int]) -> dict[int, Series]:
    """Return these series by their keys."""
    series: dict[int, Series] = {}
    for several in pieces(ids):
        series |= _read(connection, schema.series.c.id.in_(several))
    return series


def pieces(ids: Iterable[Id]) -> Iterator[list[Id]]:
    """Yield as many ids as a query may name, until all are named."""
    every = list(ids)
    for start in range(0, len(every), AT_ONCE):
        yield every[start : start + AT_ONCE]


def _read(connection: Connection, *conditions: ColumnElement[bool]) -> dict[int, Series]:
    series, cases, machine = schema.series.c, schema.cases.c, schema.machines.c
    query = (
        select(
            series.id, cases.operator, cases.document, series.direction, series.framework, series.side,
            series.machine_id, machine.name, series.metric,
        )
        .select_from(schema.series.join(schema.cases).join(schema.machines))
        .where(*conditions)
    )  # fmt: skip
    return {row[0]: Series(*row) for row in connection.execute(query)}


def run_keys(connection: Connection, ids: set[int]) -> dict[int, str]:
    """Return the ids of runs."""
    table = schema.runs.c
    keys: dict[int, str] = {}
    for several in pieces(ids):
        keys |= {
            row.id: row.key for row in connection.execute(select(table.id, table.key).where(table.id.in_(several)))
        }
    return keys
