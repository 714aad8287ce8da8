"""The one table behind every format: records in reading order, each cell with its raw value and its text.

Rows stand together by operator, then case, then framework and side, in the order in which each first appears, so that
what is comparable is adjacent; those of a suite begin with what takes most in all. What rows have in common is said
once, above the table; what they differ in is a column.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from opperf.domain.registry import DIRECTIONS
from opperf.parent.reports.columns import Column, Raw, columns, framework
from opperf.parent.reports.escaping import one_line

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from opperf.domain.record import Record, Run

#: Values that go without saying where every row has them.
UNSAID = {"environment": "current", "engine": "naive", "allocator": "fixed", "settings": None, "calls": 1}
UNSAID |= dict.fromkeys(("total", "share", "cumulative"))


@dataclass(frozen=True)
class Cell:
    """One value: as it is stored, and as people read it."""

    raw: Raw
    text: str


@dataclass(frozen=True)
class Row:
    """One record, with a cell for each column of its table."""

    record: Record
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Table:
    """Columns, and rows with a cell for each."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    def keep(self, wanted: Iterable[int]) -> Table:
        """Return the table with the columns at these places only."""
        places = tuple(wanted)
        return Table(
            tuple(self.columns[place] for place in places),
            tuple(Row(row.record, tuple(row.cells[place] for place in places)) for row in self.rows),
        )

    def for_machines(self) -> Table:
        """Return the columns with a stable name, all of them, whatever they hold."""
        return self.keep(place for place, column in enumerate(self.columns) if column.name is not None)

    def for_people(self) -> Table:
        """Return the columns with a heading, without those that are empty or say the same in every row."""
        return self.keep(place for place in range(len(self.columns)) if self._is_seen(place))

    def values(self, place: int) -> tuple[Raw, ...]:
        """Return the distinct raw values of a column, in order of first appearance."""
        return tuple(dict.fromkeys(row.cells[place].raw for row in self.rows))

    def shared(self) -> dict[str, str]:
        """Return what all rows have in common and a reader must know.

        >>> from opperf.domain.case import Case
        >>> from opperf.domain.plan import Side, Trial
        >>> from opperf.domain.record import Record
        >>> table_of([Record(Trial(Case("add"), Side("torch"), "forward"), "ok")]).shared()
        {'device': 'cpu', 'mode': 'eager', 'threads': '1'}
        """
        found = {}
        for place, column in enumerate(self.columns):
            values = () if column.wanted in ("always", "apart") else self.values(place)
            if column.title is not None and len(values) == 1 and values[0] != UNSAID.get(column.title, ""):
                found[column.title] = self.rows[0].cells[place].text
        return found

    def _is_seen(self, place: int) -> bool:
        column = self.columns[place]
        if column.title is None:
            return False
        if column.wanted in ("varied", "apart"):
            return len(self.values(place)) > 1
        if column.wanted == "ambiguous":
            pairs = {(framework(row.record), row.cells[place].raw) for row in self.rows}
            return len(pairs) > len({name for name, _ in pairs})
        return any(row.cells[place].text for row in self.rows)


def table_of(records: Iterable[Record]) -> Table:
    """Build the table of some records, every column in it."""
    declared = columns()
    return Table(declared, tuple(_row(record, declared) for record in in_order(records)))


def more_rows(table: Table, top: int | None) -> list[str]:
    """Say how many rows are not shown where only the first are."""
    left = 0 if top is None else len(table.rows) - top
    return [f"{left} more row{'s' if left > 1 else ''}: without `--top` all are shown"] if left > 0 else []


def in_order(records: Iterable[Record]) -> list[Record]:
    """Return the records in reading order."""
    records = list(records)
    costs = _costs(records)
    operators = _places(record.trial.case.operator for record in records)
    cases = _places(record.trial.case.id for record in records)
    frameworks = _places(record.trial.side.framework for record in records)
    sides = _places(record.trial.side.key for record in records)
    directions = {name: place for place, name in enumerate(DIRECTIONS)}

    def place(record: Record) -> tuple[float, ...]:
        trial = record.trial
        return (
            -costs.get(trial.case.id, 0.0),
            operators[trial.case.operator],
            cases[trial.case.id],
            frameworks[trial.side.framework],
            sides[trial.side.key],
            directions.get(trial.direction, len(directions)),
        )

    return sorted(records, key=place)


def _costs(records: Iterable[Record]) -> dict[str, float]:
    """Return what all calls of a suite's case take, on the side where they take longest."""
    costs: dict[str, float] = {}
    for record in records:
        if record.known.suite is not None:
            total = record.known.suite.total
            costs[record.trial.case.id] = max(total, costs.get(record.trial.case.id, 0.0))
    return costs


def merge(runs: Sequence[Run]) -> Run:
    """Join runs into one with all their records, each of which says which run it is of.

    Equal trials of several runs are all kept; what one run has twice, in its journal and its document, counts once.

    The result has the header of the last run, but holds as labels and environment only what all runs agree on; the
    headers of all stand under `environment["merged"]`. A run by itself is returned unchanged.
    """
    if not runs:
        raise ValueError("no runs to merge")
    last = runs[-1]
    if len(runs) == 1:
        return last
    told = [with_origin(run) for run in runs]
    every = {(run.id, record.trial.key, run.settings.cache): record for run in told for record in run.records}
    return replace(
        last,
        id="+".join(run.id for run in runs),
        started=min(run.started for run in runs),
        labels=_agreed([dict(run.labels) for run in runs]),
        environment={
            **_agreed([dict(run.environment) for run in runs]),
            "merged": [run.header() for run in runs],
        },
        records=tuple(every.values()),
    )


def with_origin(run: Run) -> Run:
    """Return the run with records that say which run they are of, when it began, on what machine, and its labels."""
    cores = run.machine.get("cores_usable")
    words = (run.machine.get("cpu"), None if cores is None else f"{cores} cores")
    origin = {
        "id": run.id,
        "started": run.started,
        "machine": ", ".join(str(word) for word in words if word is not None) or None,
        "label": " ".join(f"{name}={value}" for name, value in sorted(run.labels.items())) or None,
    }
    records = (replace(record, facts={"run": origin, **record.facts}) for record in run.records)
    return replace(run, records=tuple(records))


def _row(record: Record, declared: Iterable[Column]) -> Row:
    raws = [(column, column.read(record)) for column in declared]
    return Row(record, tuple(Cell(raw, one_line(column.show(raw))) for column, raw in raws))


def _places(values: Iterable[Hashable]) -> dict[Hashable, int]:
    return {value: place for place, value in enumerate(dict.fromkeys(values))}


def _agreed(mappings: Sequence[dict[str, Any]]) -> dict[str, Any]:
    first, *others = mappings
    return {
        name: value for name, value in first.items() if all(name in other and other[name] == value for other in others)
    }
