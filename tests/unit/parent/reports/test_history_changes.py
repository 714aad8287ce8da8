"""What the report of changes says of each: confirmed or not, or within what its series moved by before."""

from __future__ import annotations

import math

from opperf.domain.case import Case
from opperf.domain.stats.significance import Estimate
from opperf.parent.analysis.change_points import Change
from opperf.parent.reports.document import Note, Table
from opperf.parent.reports.history import NamedChange, changes
from opperf.parent.store.database.history import Ratios

SERIES = Ratios(Case("add"), "forward", "numpy", "a machine", ())


def named(ratio: float, *, past: float = 0.0, confirmed: bool = True) -> NamedChange:
    """Return a change of a series that moved by so much before."""
    change = Change("1.0", "1.1", Estimate(math.log(ratio), 0.002), confirmed=confirmed, past=math.log1p(past))
    return NamedChange(SERIES, "1.0", change)


def test_a_change_within_what_its_series_moved_by_is_told_apart() -> None:
    document = changes([named(1.2, past=0.06), named(1.05, past=0.06), named(1.05, confirmed=False)], 3)
    shown, tally, *_ = document.blocks
    assert isinstance(shown, Table)
    assert isinstance(tally, Note)
    status, past = (shown.titles().index(title) for title in ("status", "past"))
    texts = [[row.cells[place].text for place in shown.places()] for row in shown.rows]
    assert [row[status] for row in texts] == ["confirmed", "within its past", "unconfirmed"]
    assert [row[past] for row in texts] == ["±6.0%", "±6.0%", ""]
    assert tally.text.endswith(
        "1 change, 1 more to be confirmed by the next build, 1 within what the series moved by before"
    )


def test_a_table_of_some_changes_counts_all_and_says_how_many_it_left_out() -> None:
    document = changes([named(1.5), named(1.2), named(1.1)], 3, top=2)
    shown, rest, tally, *_ = document.blocks
    assert isinstance(shown, Table)
    assert isinstance(rest, Note)
    assert isinstance(tally, Note)
    assert len(shown.rows) == 2
    assert rest.text == "1 smaller change is left out; `--top 3` shows it too"
    assert tally.text.endswith("3 changes")
