"""The columns of a profile's table, declared once: what each is called, what of a row it holds, how that is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from opperf.domain.profile.rows import Row
from opperf.domain.units import format_bytes, format_flop_rate, format_flops, format_percent, format_seconds


@dataclass(frozen=True)
class Column:
    """One column: `value` is what it is sorted by, and `text` writes that; without it, values are words."""

    title: str
    value: Callable[[Row], Any]
    text: Callable[[Any], str] | None = None
    hint: str = ""

    def cell(self, row: Row) -> str:
        """Return the value of a row as people read it; what is not known is empty, not zero."""
        value = self.value(row)
        return str(value) if self.text is None else self.text(value)


def shapes_text(shapes: Sequence[Sequence[int]]) -> str:
    """Write the shapes of a call's inputs; what is no tensor is a dash.

    >>> shapes_text(((64, 1, 28, 28), (20,), ()))
    '64x1x28x28 20 -'
    """
    return " ".join("x".join(map(str, shape)) or "-" for shape in shapes)


#: What is said of a row where one of its fields is true.
NOTES = {"backward": "backward", "fused": "fused", "long_calls": "few long calls", "disturbed": "disturbed"}

COLUMNS = (
    Column("calls", lambda row: row.calls, str),
    Column("total", lambda row: row.total, format_seconds, "with the operators called inside"),
    Column("self", lambda row: row.own, format_seconds, "without the operators called inside"),
    Column("mean", lambda row: row.mean, format_seconds, "of one call"),
    Column("p50", lambda row: row.p50, format_seconds, "half of the calls took no longer"),
    Column("min", lambda row: row.min, format_seconds),
    Column("max", lambda row: row.max, format_seconds),
    Column("share", lambda row: row.share, format_percent, "of the sum of self"),
    Column("CPU share", lambda row: row.cpu_share, format_percent, "of the sum of self without waiting"),
    Column("allocated", lambda row: row.allocated, format_bytes, "in all calls"),
    Column("peak", lambda row: row.peak, format_bytes, "the most held at once in one call"),
    Column("device", lambda row: row.device, format_seconds, "time on the device"),
    Column("FLOPs", lambda row: row.flops, format_flops, "in all calls"),
    Column("FLOP/s", lambda row: row.flop_rate, format_flop_rate, "of calls whose FLOPs are known"),
    Column("of peak", lambda row: row.peak_share, format_percent, "FLOP/s of those of a float32 product at its best"),
    Column("shapes", lambda row: shapes_text(row.shapes)),
    Column("module", lambda row: row.module),
    Column("notes", lambda row: ", ".join(note for field, note in NOTES.items() if getattr(row, field))),
)
#: Of a module or a stack, what it took together is what its operators took by themselves.
NOT_OF = {"module": ("total", "module"), "stack": ("total",)}
#: Shares of the CPU that differ from those of the time by less, in all rows, say nothing new.
TELLING = 0.01


def columns(by: str, rows: Sequence[Row] = ()) -> tuple[Column, ...]:
    """Return the columns of rows that are grouped so; the first says what a row stands for."""
    first = Column("operator" if by in ("name", "shape") else by, lambda row: row.name)
    without = {*NOT_OF.get(by, ()), *(() if any(map(_waited, rows)) else ("CPU share",))}
    return first, *(column for column in COLUMNS if column.title not in without)


def _waited(row: Row) -> bool:
    """Whether a row has another share of the CPU's time than of the clock's."""
    return abs((row.cpu_share or 0.0) - (row.share or 0.0)) >= TELLING and row.cpu_share is not None
