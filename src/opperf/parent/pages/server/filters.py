"""The filters that pages share: which part of a database a URL selects."""

from __future__ import annotations

from collections.abc import Sequence

from opperf.parent.commands.history import day
from opperf.parent.pages.server.view import Choice, Query
from opperf.parent.store.database import listing
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.listing import OperatorEntry
from opperf.parent.store.database.series import Filters


def filters_of(archive: Archive, query: Query) -> tuple[Filters, Choice, Choice]:
    """Return the part of a database that a URL selects, and the filters of machines, by name, and of days."""
    names = {one.name: one.id for one in listing.machines(archive)}
    machine, since = Choice.of("machine", names, query), Choice("since", (), query.get("since", ""), day=True)
    filters = Filters(
        category=query.get("category") or None,
        framework=query.get("framework") or None,
        direction=query.get("direction") or None,
        machine=names.get(machine.value, 0) if machine.value else None,
        since=day(since.value or None),
    )
    return filters, machine, since


def categories(entries: Sequence[OperatorEntry], query: Query) -> Choice:
    """Return the filter of categories: those that were measured."""
    return Choice.of("category", (one.category or "" for one in entries), query)
