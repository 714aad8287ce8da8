"""Two profiles compared operator by operator, by all calls and by the median call.

Rows are ranked by what the program does, not by what the machine did meanwhile: by as many calls as there are of the
median one, without the time in which the process waited for a processor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from opperf.domain.errors import check_known
from opperf.domain.profile.columns import columns, shapes_text
from opperf.domain.profile.event import Profile
from opperf.domain.profile.rows import BY_NAME, Change, Row, changes
from opperf.domain.units import format_difference, format_percent, format_seconds
from opperf.parent.reports.document import Block, Column, Document, Legend, Note, table
from opperf.parent.reports.profile import SORTS

SCHEMA_VERSION = 1
#: What programs read of a row in each profile.
SIDES = ("calls", "self", "p50", "share")
UNITS = {"self": "self_s", "p50": "p50_s"}
LEGEND = {
    "change": "change: of as many median calls, without waiting for a CPU; rows are sorted by it",
    "self": "self, difference, ratio: of all calls, without the operators called inside",
    "share": "share: of the sum of self",
    "one call": "one call: the ratio of the medians (p50), which a few disturbed calls do not change",
}


def document(
    before: Profile, after: Profile, by: str = BY_NAME, sort: str | None = None, top: int | None = None
) -> Document:
    """Return the report; `top` bounds the rows that people are shown.

    Raises `InputError` for a grouping or an order that is not known.
    """
    differences = changes(before, after, by, field_of(sort))
    first = columns(by)[0].title
    words = [*_sums(differences), *(f"note: {note}" for note in dict.fromkeys((*before.notes, *after.notes)))]
    blocks: list[Block] = [table(_columns(first), differences, top=top), *map(Note, words), Legend(_legend(sort))]
    return Document(
        "opperf profile --diff",
        blocks,
        lambda: {"schema_version": SCHEMA_VERSION, "by": by, "rows": [_document(change) for change in differences]},
    )


def field_of(sort: str | None) -> str:
    """Return the field of rows whose difference they are sorted by; raises `InputError` for an unknown order."""
    if sort is None:
        return "typical"
    check_known("order", sort, SORTS)
    return SORTS[sort]


def _legend(sort: str | None) -> Mapping[str, str]:
    if sort is None:
        return LEGEND
    return {**LEGEND, "change": LEGEND["change"].replace("by it", f"by the difference in `{sort}`")}


def _sums(differences: Sequence[Change]) -> list[str]:
    """Say how long all operators took, and how long without waiting where both profiles know that."""
    sides = [[row for change in differences if (row := side(change))] for side in (_row_before, _row_after)]
    lines = [_sum("total self time", [sum(row.own for row in rows) for rows in sides])]
    if any(sides) and all(row.waited is not None for rows in sides for row in rows):
        ran = [sum(row.own - (row.waited or 0.0) for row in rows) for rows in sides]
        lines.append(_sum("without waiting for a CPU", ran))
    return lines


def _sum(what: str, sums: Sequence[float]) -> str:
    ratio = f" ({sums[1] / sums[0]:.3g} of it)" if sums[0] else ""
    return f"{what}: {format_seconds(sums[0])} before, {format_seconds(sums[1])} after{ratio}"


def _row_before(change: Change) -> Row | None:
    return change.before


def _row_after(change: Change) -> Row | None:
    return change.after


def _columns(first: str) -> tuple[Column[Change], ...]:
    return (
        Column("name", first, lambda change: change.name, least=20),
        Column("shapes", None, lambda change: shapes_text(change.shapes)),
        *_of_side("before", _row_before),
        *_of_side("after", _row_after),
        Column(None, "calls", _arrow("calls", str)),
        Column(None, "self", _arrow("own", format_seconds)),
        Column(None, "share", _arrow("share", format_percent), rank=1),
        Column("typical_difference_s", "change", lambda change: change.typical, format_difference),
        Column("ratio_of_call", "one call", lambda change: change.ratio_of_call, _ratio),
        Column("difference_s", "difference", lambda change: change.difference, format_difference, rank=3),
        Column("ratio", "ratio", lambda change: change.ratio, _ratio, rank=2),
        Column(None, "shapes", lambda change: shapes_text(change.shapes), rank=0, least=12),
    )


def _of_side(name: str, side: Callable[[Change], Row | None]) -> list[Column[Change]]:
    """Return the columns for programs of one profile."""

    def of(field: str) -> Callable[[Change], object]:
        return lambda change: (_side(side(change)) or {}).get(field)

    return [Column(f"{name}_{UNITS.get(field, field)}", None, of(field)) for field in SIDES]


def _arrow(field: str, show: Callable[[float | None], str]) -> Callable[[Change], str]:
    """Return the function that writes a value before and after, once where it is the same."""

    def both(change: Change) -> str:
        texts = [show(getattr(row, field)) if row else "none" for row in (change.before, change.after)]
        return " -> ".join(dict.fromkeys(texts))

    return both


def _ratio(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.3g}"


def _document(change: Change) -> dict[str, object]:
    return {
        "name": change.name,
        "shapes": change.shapes,
        "before": _side(change.before),
        "after": _side(change.after),
        "typical_difference": change.typical,
        "difference": change.difference,
        "ratio": change.ratio,
        "ratio_of_call": change.ratio_of_call,
    }


def _side(row: Row | None) -> dict[str, object] | None:
    return None if row is None else {name: getattr(row, "own" if name == "self" else name) for name in SIDES}
