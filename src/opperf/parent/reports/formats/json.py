"""A document as JSON: the report's own data, in seconds and bytes, which files are read back from; else its tables.

It is JSON by the standard: a number that JSON has no word for is refused, with its place, rather than written as `NaN`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

from opperf.domain.errors import HarnessError
from opperf.parent.reports.document import Document, Screen, table_rows


def render(document: Document, _: Screen) -> str:
    """Return the document, indented, with a line break at the end."""
    data = _tables(document) if document.data is None else document.data()
    try:
        return json.dumps(data, indent=2, allow_nan=False) + "\n"
    except ValueError as error:
        place, value = next(_not_finite(data, ""), ("the document", error))
        raise HarnessError(
            f"{place} is `{value}`, expected a finite number",
            hint="this is a bug in opperf: unknown values must be left out",
            slug="not_json",
        ) from error


def _tables(document: Document) -> dict[str, object]:
    """Return the rows of all tables by the names of their columns, and the summary."""
    rows = [row for table in document.tables() for row in table_rows(table)]
    return {"title": document.title, **({"summary": document.summary} if document.summary else {}), "rows": rows}


def _not_finite(data: object, place: str) -> Iterator[tuple[str, object]]:
    """Yield the place and the value of every number that is not finite."""
    if isinstance(data, float) and not math.isfinite(data):
        yield place, data
    elif isinstance(data, dict):
        for name, value in data.items():
            yield from _not_finite(value, f"{place}.{name}".lstrip("."))
    elif isinstance(data, (list, tuple)):
        for i, value in enumerate(data):
            yield from _not_finite(value, f"{place}[{i}]")
