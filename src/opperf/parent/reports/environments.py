"""The environments that frameworks are measured in: the current one, those that are built, and those not yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from opperf.parent.reports.document import Column, Document, pick, plain, table

if TYPE_CHECKING:
    from opperf.parent.documents.environment import BuiltEnvironment


def document(here: Sequence[str], environments: Sequence[BuiltEnvironment], presets: Mapping[str, str]) -> Document:
    """Return the report: what can be imported here, what is built, and presets that are not, with their frameworks."""
    rows: list[Mapping[str, object]] = [
        {"environment": "current", "status": "current", "frameworks": here},
        *map(_row, environments),
        *({"environment": name, "status": "not built", "frameworks": [owner]} for name, owner in presets.items()),
    ]
    return Document("opperf env", [table(COLUMNS, rows)])


def _row(environment: BuiltEnvironment) -> dict[str, object]:
    facts = {name: getattr(environment, name) for name in ("frameworks", "python", "size", "age", "name")}
    return {"environment": environment.text, "status": "built", **facts}


def _dash(text: object) -> str:
    return plain(text) or "-"


def _frameworks(row: Mapping[str, object]) -> str:
    names = row["frameworks"]
    return ", ".join(names) if isinstance(names, (list, tuple)) else ""


def _size(row: Mapping[str, object]) -> str:
    size = row.get("size")
    if isinstance(size, int):
        return f"{size / 2**20:.0f} MiB"
    return "not built" if row["status"] == "not built" else "-"


def _ago(seconds: float | None) -> str:
    """Return an age in its largest whole unit.

    >>> _ago(7300)
    '2 h'
    """
    if seconds is None:
        return "-"
    for length, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


COLUMNS: tuple[Column[Mapping[str, object]], ...] = (
    Column("environment", "environment", pick("environment"), least=16),
    Column("frameworks", "frameworks", _frameworks, _dash, least=10),
    Column("status", None, pick("status")),
    Column("python", "python", pick("python"), _dash, rank=1),
    Column("size_B", None, pick("size")),
    Column(None, "size", _size, rank=0),
    Column("age_s", "age", pick("age"), _ago, rank=2),
    Column("name", "name", pick("name"), _dash, least=12),
)
