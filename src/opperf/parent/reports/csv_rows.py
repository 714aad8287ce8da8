r"""Records as comma-separated values: one row a record, one line a row.

Numbers have the precision of the machine, units stand in the names of the columns, a missing value is an empty field.
Control characters in names and messages are escaped (`\n`), so that line-oriented tools count rows rightly; the exact
text is in the JSON document. Every column is always there, in the same order, whatever the run holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from opperf.parent.reports.cells import comma_separated
from opperf.parent.reports.table import table_of

if TYPE_CHECKING:
    from opperf.domain.record import Run


def render(run: Run) -> str:
    """Return the header line and a line for each record."""
    table = table_of(run.records).for_machines()
    names = [column.name for column in table.columns]
    return comma_separated(names, ([cell.raw for cell in row.cells] for row in table.rows))
