"""Two profiles operator by operator, in every format; the ratio of one call stands beside that of all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from opperf.domain.errors import unknown
from opperf.domain.profile.change import Change, changes
from opperf.domain.profile.columns import columns, shapes_text
from opperf.domain.profile.rows import Row
from opperf.domain.profile.text import more_rows
from opperf.domain.units import format_percent, format_seconds
from opperf.parent.reports import FORMATS, cells, layout
from opperf.parent.reports.escaping import for_markdown_line
from opperf.parent.reports.layout import Grid, Heading, Legend, Note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opperf.domain.profile.event import Profile

SCHEMA_VERSION = 1
#: What programs read of a row in each profile.
SIDES = ("calls", "self", "p50", "share")
LEGEND = {
    "self": "self, difference, ratio: of all calls, without the operators called inside",
    "share": "share: of the sum of self",
    "one call": "one call: the ratio of the calls in the middle (p50), which a few disturbed ones do not move",
}
HEADINGS = (
    Heading("calls"), Heading("self"), Heading("share", rank=1), Heading("difference"), Heading("ratio"),
    Heading("one call"), Heading("shapes", rank=0, least=12),
)  # fmt: skip


def render(
    before: Profile,
    after: Profile,
    format: str,
    *,
    by: str = "name",
    top: int | None = None,
    width: int | None = None,
) -> str:
    """Return the changes in one of the formats, with a line break at the end; `top` bounds the rows for people.

    Raises `InputError` for a grouping or a format that is not known.
    """
    found = changes(before, after, by)
    if format == "json":
        document = {"schema_version": SCHEMA_VERSION, "by": by, "rows": [_document(change) for change in found]}
        return json.dumps(document, indent=1, allow_nan=False) + "\n"
    if format == "csv":
        return _csv(found)
    if format not in FORMATS:
        raise unknown("format", format, FORMATS, hint=f"known: {', '.join(FORMATS)}")
    first = columns(by)[0].title
    titles = [first, *(heading.title for heading in HEADINGS)]
    made = [_cells(change) for change in found[:top]]
    words = _words(found, len(made))
    words += [f"note: {note}" for note in dict.fromkeys((*before.notes, *after.notes))]
    if format == "md":
        titles, lines = cells.filled(titles, made)
        words += [LEGEND[title] for title in titles if title in LEGEND]
        table = [cells.markdown(titles, lines), ""] if lines else []
        return "\n".join([*table, *(f"* {for_markdown_line(word)}" for word in words)]) + "\n"
    grid = [Grid([Heading(first, least=20), *HEADINGS], made)] if made else []
    return layout.text([*grid, *map(Note, words), Legend(LEGEND)], width=width)


def _words(found: Sequence[Change], shown: int) -> list[str]:
    more = [f"{more_rows(len(found) - shown)}: `--top` shows them"] if shown < len(found) else []
    sums = [sum(row.own for change in found if (row := side(change))) for side in (_before, _after)]
    ratio = f" ({sums[1] / sums[0]:.3g} of it)" if sums[0] else ""
    return [*more, f"self in all: {format_seconds(sums[0])} before, {format_seconds(sums[1])} after{ratio}"]


def _before(change: Change) -> Row | None:
    return change.before


def _after(change: Change) -> Row | None:
    return change.after


def _cells(change: Change) -> list[str]:
    before, after = change.before, change.after
    sign = "-" if change.difference < 0 else "+"
    return [
        change.name,
        _arrow(*(str(row.calls) if row else "none" for row in (before, after))),
        _arrow(*(format_seconds(row.own) if row else "none" for row in (before, after))),
        _arrow(*(format_percent(row.share) if row else "none" for row in (before, after))),
        f"{sign}{format_seconds(abs(change.difference))}",
        "" if change.ratio is None else f"{change.ratio:.3g}",
        "" if change.ratio_of_call is None else f"{change.ratio_of_call:.3g}",
        shapes_text(change.shapes),
    ]


def _arrow(before: str, after: str) -> str:
    return before if before == after else f"{before} -> {after}"


def _document(change: Change) -> dict[str, Any]:
    return {
        "name": change.name,
        "shapes": change.shapes,
        "before": _side(change.before),
        "after": _side(change.after),
        "difference": change.difference,
        "ratio": change.ratio,
        "ratio_of_call": change.ratio_of_call,
    }


def _side(row: Row | None) -> dict[str, Any] | None:
    return None if row is None else {name: getattr(row, "own" if name == "self" else name) for name in SIDES}


def _csv(found: Sequence[Change]) -> str:
    units = {"self": "self_s", "p50": "p50_s"}
    titles = [f"{side}_{units.get(name, name)}" for side in ("before", "after") for name in SIDES]
    lines = []
    for change in found:
        sides = [_side(row) or dict.fromkeys(SIDES) for row in (change.before, change.after)]
        shapes = shapes_text(change.shapes)
        ratios = (change.difference, change.ratio, change.ratio_of_call)
        lines.append([change.name, shapes, *(side[name] for side in sides for name in SIDES), *ratios])
    return cells.comma_separated(["name", "shapes", *titles, "difference_s", "ratio", "ratio_of_call"], lines)
