"""The table of what each framework has is complete; that it is true is seen where a recipe writes it anew."""

from __future__ import annotations

from pathlib import Path

from opperf.catalog import catalog

ROOT = Path(__file__).resolve().parents[2]


def test_every_operator_is_in_a_framework_and_nine_of_ten_are_in_three() -> None:
    rows = [
        line.strip("| \n").split(" | ")
        for line in (ROOT / "docs" / "reference" / "support.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| ") and not line.startswith(("| operator", "| ---"))
    ]
    had = {row[0]: [not cell.startswith("missing") for cell in row[2:]] for row in rows}
    assert {*had} == {*catalog()}
    assert [name for name, known in had.items() if not any(known)] == []
    assert sum(sum(known) >= 3 for known in had.values()) >= 0.9 * len(catalog())
    assert all(len(cell) > len("missing: ") + 20 for row in rows for cell in row[2:] if cell.startswith("missing"))
