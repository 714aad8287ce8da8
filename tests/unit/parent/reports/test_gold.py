"""Every format against the file that it printed when someone last looked at it.

After a change that is meant, write the files anew, and read their diff before it is kept:

    OPPERF_UPDATE_GOLD=1 python -m pytest tests/unit/parent/reports/test_gold.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from opperf.domain.record import Run
from opperf.parent.reports import render

GOLD = Path(__file__).parents[3] / "gold" / "reports"


def check(name: str, text: str) -> None:
    """Compare a text with its gold file, or write that file if so asked."""
    path = GOLD / name
    if os.environ.get("OPPERF_UPDATE_GOLD"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("format", "name"),
    [("console", "run.txt"), ("json", "run.json"), ("csv", "run.csv"), ("md", "run.md"), ("html", "run.html")],
)
def test_a_run_is_printed_as_its_gold_file(run: Run, format: str, name: str) -> None:
    check(name, render(run, format))


def test_a_run_is_printed_for_a_narrow_terminal_as_its_gold_file(run: Run) -> None:
    check("run_100_columns.txt", render(run, "console", width=100))


@pytest.mark.parametrize(("format", "name"), [("console", "empty.txt"), ("csv", "empty.csv"), ("md", "empty.md")])
def test_a_run_without_records_is_printed_as_its_gold_file(empty_run: Run, format: str, name: str) -> None:
    check(name, render(empty_run, format))
