"""Two profiles compared operator by operator, by all calls and by the median call."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opperf.domain.profile.columns import columns, shapes_text
from opperf.domain.profile.event import Profile
from opperf.domain.profile.rows import Change, Row, changes
from opperf.domain.units import format_percent, format_seconds
from opperf.parent.reports.document import Block, Column, Document, Legend, Note, table

SCHEMA_VERSION = 1
#: What programs read of a row in each profile.
SIDES = ("calls", "self", "p50", "share")
UNITS = {"self": "self_s", "p50": "p50_s"}
LEGEND = {
    "self": "self, difference, ratio: of all calls, without the operators called inside",
    "share": "share: of the sum of self",
    "one call": "one call: the ratio of the medians (p50), which a few disturbed calls do not change",
}


def document(before: Profile, after: Profile, by: str = "name", top: int | None = None) -> Document:
    """Return the report; `top` bounds the rows that people are shown.

    Raises `InputError` for a grouping that is not known.
    """
    differences = changes(before, after, by)
    first = columns(by)[0].title
    words = [_sums(differences), *(f"note: {note}" for note in dict.fromkeys((*before.notes, *after.notes)))]
    blocks: list[Block] = [table(_columns(first), differences, top=top), *map(Note, words), Legend(LEGEND)]
    return Document(
        "opperf profile --diff",
        blocks,
        lambda: {"schema_version": SCHEMA_VERSION, "by": by, "rows": [_document(change) for change in differences]},
    )


def _sums(differences: Sequence[Change]) -> str:
    sums = [sum(row.own for change in differences if (row := side(change))) for side in (_row_before, _row_after)]
    ratio = f" ({sums[1] / sums[0]:.3g} of it)" if sums[0] else ""
    return f"total self time: {format_seconds(sums[0])} before, {format_seconds(sums[1])} after{ratio}"


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
        Column("difference_s", "difference", lambda change: change.difference, _signed),
        Column("ratio", "ratio", lambda change: change.ratio, _ratio),
        Column("ratio_of_call", "one call", lambda change: change.ratio_of_call, _ratio),
        Column(None, "shapes", lambda change: shapes_text(change.shapes), rank=0, least=12),
    )


def _of_side(name: str, side: Callable[[Change], Row | None]) -> list[Column[Change]]:
    """Return the columns for programs of one profile."""

    def of(field: str) -> Callable[[Change], object]:
        return lambda change: (_side(side(change)) or {}).get(field)

    return [Column(f"{name}_{UNITS.get(field, field)}", None, of(field)) for field in SIDES]


def _arrow(field: str, show: Callable[[float | None], str]) -> Callable[[Change], str]:
    """Return what writes a value before and after, once where it is the same."""

    def both(change: Change) -> str:
        texts = [show(getattr(row, field)) if row else "none" for row in (change.before, change.after)]
        return " -> ".join(dict.fromkeys(texts))

    return both


def _signed(seconds: float) -> str:
    return f"{'-' if seconds < 0 else '+'}{format_seconds(abs(seconds))}"


def _ratio(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.3g}"


def _document(change: Change) -> dict[str, object]:
    return {
        "name": change.name,
        "shapes": change.shapes,
        "before": _side(change.before),
        "after": _side(change.after),
        "difference": change.difference,
        "ratio": change.ratio,
        "ratio_of_call": change.ratio_of_call,
    }


def _side(row: Row | None) -> dict[str, object] | None:
    return None if row is None else {name: getattr(row, "own" if name == "self" else name) for name in SIDES}
