"""The table of what each framework has: true, and complete."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from opperf.catalog import catalog

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_says_what_the_frameworks_have() -> None:
    page = ROOT / "docs" / "reference" / "support.md"
    script = "import sys; sys.path.insert(0, 'docs'); import support; sys.stdout.write(support.page())"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == page.read_text(encoding="utf-8"), "run `python docs/support.py`"


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
