r"""The tables of a document as comma-separated values: a line for the names of columns, and one for each row.

Numbers have the precision of the machine, units stand in the names of the columns, a missing value is an empty field.
Control characters in texts are escaped (`\n`), so that line-oriented tools count rows rightly, and no text is one that
a spreadsheet computes; the exact text is in the JSON document. Every column is always there, in the same order,
whatever the rows hold. Of a document without a table, the rows are its notes.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from opperf.parent.reports.document import Block, Column, Document, Note, Screen, Section, table
from opperf.parent.reports.text import for_csv

_PLAIN_VALUES = (
    Column[tuple[str, str]]("section", read=lambda row: row[0]),
    Column[tuple[str, str]]("text", read=lambda row: row[1]),
)


def render(document: Document, _: Screen) -> str:
    """Return the tables, an empty line between two."""
    texts = []
    for part in document.tables() or [table(_PLAIN_VALUES, _notes(document.blocks, document.title))]:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        places = [i for i, column in enumerate(part.columns) if column.name]
        writer.writerow(for_csv(part.columns[i].name) for i in places)
        writer.writerows([for_csv(row.cells[i].raw) for i in places] for row in part.rows)
        texts.append(text.getvalue())
    return "\n".join(texts)


def _notes(blocks: Iterable[Block], title: str) -> Iterable[tuple[str, str]]:
    """Yield the title of the section of each note, and its text."""
    for block in blocks:
        if isinstance(block, Section):
            yield from _notes(block.blocks, block.title)
        elif isinstance(block, Note):
            yield title, block.text
            yield from _notes(block.below, block.text)
