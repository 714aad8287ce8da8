"""What was alive at the peak of memory, as a table below a profile."""

from __future__ import annotations

from dataclasses import asdict

from opperf.domain.profile.columns import shapes_text
from opperf.domain.profile.event import Profile, highest_peaks
from opperf.domain.profile.peak_memory import PeakRow, peak_rows
from opperf.domain.units import format_bytes, format_percent, plural
from opperf.parent.reports.document import Column, Note, Section, table

#: Rows of the table, unless a bound is given.
TOP = 15
TITLE = "Alive at the peak of memory"


def _shape(row: PeakRow) -> str:
    return "" if row.shape is None else f"{shapes_text((row.shape,))}:{row.dtype}"


COLUMNS: tuple[Column[PeakRow], ...] = (
    Column("device", "device", lambda row: row.device, presence="varied", usual="cpu/0"),
    Column("operator", "operator", lambda row: row.operator or "(no operator)", least=20),
    Column("phase", "phase", lambda row: row.phase),
    Column("module", "module", lambda row: row.module, least=20),
    Column("shape", "shape", _shape, least=12),
    Column("blocks", "blocks", lambda row: row.blocks, str, "right"),
    Column("size_B", "size", lambda row: row.size, format_bytes, "right"),
    Column("share", "share", lambda row: row.share, format_percent, "right"),
)


def peak_section(profile: Profile, top: int | None) -> list[Section]:
    """Return the table, or nothing where a profile does not know what was alive."""
    if not profile.blocks:
        return []
    size = sum(block.size for block in highest_peaks(profile.blocks))
    rows = peak_rows(profile)
    left = len(rows) - (top or TOP)
    more = [Note(f"{plural(left, 'more row')}: `--format json` has all")] if left > 0 else []
    title = f"{TITLE}: {format_bytes(size)} allocated since the profile began"
    return [Section(title, [table(COLUMNS, rows[: top or TOP]), *more])]


def peak_json(profile: Profile) -> dict[str, object]:
    """Return the rows for programs, by their key; nothing where they are not known."""
    return {"peak_memory": [asdict(row) for row in peak_rows(profile)]} if profile.blocks else {}
