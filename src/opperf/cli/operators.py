"""`opperf operators`: what can be measured."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from opperf.cli import options
from opperf.errors import unknown
from opperf.operators import catalog, categories


def operators(
    pattern: Annotated[Optional[str], typer.Argument(help="Only names that match, as in `conv*`.")] = None,
    *,
    category: options.Category = None,
) -> None:
    """List the neutral operators: category, directions, arguments, meaning. No framework is imported."""
    from fnmatch import fnmatchcase

    for name in category or ():
        if name not in categories():
            raise unknown("category", name, categories(), hint=f"known: {', '.join(categories())}")
    rows = [
        (
            known.name,
            known.category,
            "forward, backward" if "backward" in known.directions else "forward",
            ", ".join((*known.inputs, *known.attributes)),
            known.summary,
        )
        for known in catalog().values()
        if (not category or known.category in category) and (pattern is None or fnmatchcase(known.name, pattern))
    ]
    if not rows and pattern is not None:
        raise unknown("operator", pattern, catalog())
    titles = ("operator", "category", "directions", "arguments", "meaning")
    widths = [max(len(row[i]) for row in (titles, *rows)) for i in range(len(titles) - 1)]
    for row in (titles, *rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths)]
        typer.echo("  ".join([*cells, row[-1]]))
