"""`opperf show`: result files and journals again, in any format, merged."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from opperf.domain.plan import Settings
from opperf.parent.measuring.session import Options, Session
from opperf.parent.planning.selection import Selection

Opperf: TypeAlias = Callable[..., Any]

QUICK = ("--framework", "null", "--size", "small", "--direction", "forward")


@pytest.fixture
def measured(opperf: Opperf, here: Path) -> Path:
    """The result of two operators."""
    assert opperf("run", "add", "null:raise", *QUICK, "--runs", "3", "--output", "k.json").code == 0
    return here / "k.json"


def rows_of(text: str) -> list[dict[str, str]]:
    """Return the rows of CSV, without what tells one run from another."""
    rows = csv.DictReader(io.StringIO(text))
    return [{name: value for name, value in row.items() if name not in ("run", "date")} for row in rows]


@pytest.mark.parametrize("format", ["console", "csv", "md", "json"])
def test_a_file_is_printed_as_the_run_itself_printed(format: str, opperf: Opperf, measured: Path) -> None:
    run = opperf("run", "add", "null:raise", *QUICK, "--runs", "3", "--format", format)
    shown = opperf("show", measured, "--format", format)
    assert (shown.code, shown.err) == (0, "")
    if format == "json":
        assert [record["metrics"] for record in shown.records] == [record["metrics"] for record in run.records]
    elif format == "csv":
        assert rows_of(shown.out) == rows_of(run.out)
    else:
        assert shown.out == run.out


def test_showing_json_is_the_file_itself(opperf: Opperf, measured: Path) -> None:
    assert opperf("show", measured, "--format", "json").out == measured.read_text()


def test_a_report_can_be_written(opperf: Opperf, measured: Path, here: Path) -> None:
    shown = opperf("show", measured, "--output", "k.csv", "--format", "csv")
    assert (shown.code, shown.out, shown.err) == (0, "", "wrote k.csv: 2 records\n")
    assert len((here / "k.csv").read_text().splitlines()) == 3


def test_rows_are_of_groups_where_a_result_has_operators_to_group(opperf: Opperf, measured: Path, here: Path) -> None:
    (row,) = rows_of(opperf("show", measured, "--by", "group", "--format", "csv").out)
    assert (row["group"], row["operators"]) == ("elementwise", "1")
    assert opperf("show", measured, "--by", "lines").code == 2
    words = ("--base", "null", "--new", "null", "--processes", "3", "--output", "both.json")
    assert opperf("compare", "add", *QUICK[2:], *words).code == 0
    assert "elementwise" in opperf("show", "both.json", "--by", "group").out


def test_equal_trials_of_several_files_are_all_kept_and_told_apart(opperf: Opperf, measured: Path, here: Path) -> None:
    assert opperf("run", "add", *QUICK, "--runs", "5", "--label", "commit=b", "--output", "l.json").code == 0
    merged = opperf("show", measured, "l.json", measured, "--format", "json").records
    samples = [record["metrics"]["time"]["samples"] for record in merged if record["case"]["operator"] == "add"]
    assert samples == [3, 5]
    rows = list(csv.DictReader(io.StringIO(opperf("show", measured, "l.json", "--format", "csv").out)))
    added = [row for row in rows if row["operator"] == "add"]
    assert [row["time_samples"] for row in added] == ["3", "5"]
    assert [row["label"] for row in added] == ["", "commit=b"]
    assert len({row["run"] for row in added}) == 2
    assert all(row["date"] and row["machine"] for row in added)
    shown = opperf("show", measured, "l.json").out
    assert "commit=b" in shown
    assert sum(line.startswith("add ") for line in shown.splitlines()) == 2


def test_a_merged_file_still_tells_its_runs_apart(opperf: Opperf, measured: Path, here: Path) -> None:
    assert opperf("run", "add", *QUICK, "--label", "commit=b", "--output", "l.json").code == 0
    assert opperf("show", measured, "l.json", "--output", "both.json").code == 0
    rows = list(csv.DictReader(io.StringIO(opperf("show", "both.json", "--format", "csv").out)))
    assert [row["label"] for row in rows if row["operator"] == "add"] == ["", "commit=b"]


def test_the_headers_of_merged_files_are_kept(opperf: Opperf, measured: Path) -> None:
    assert opperf("run", "subtract", *QUICK, "--label", "a=b", "--output", "l.json").code == 0
    run = json.loads(opperf("show", measured, "l.json", "--format", "json").out)["run"]
    assert [header["labels"] for header in run["environment"]["merged"]] == [{}, {"a": "b"}]


def test_a_journal_is_shown_as_what_it_amounts_to(opperf: Opperf, here: Path) -> None:
    selection = Selection(
        operators=("add", "null:raise"), frameworks=("null",), sizes=("small",), directions=("forward",)
    )
    with Session(selection, Settings(runs=3)) as session:
        run = session.run(session.plan(), Options(output=here / "k.json"))
    shown = opperf("show", "k.json.journal", "--format", "json")
    assert shown.records == [record.to_json() for record in run]


def test_showing_starts_no_child(opperf: Opperf, measured: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object, **options: object) -> None:
        raise AssertionError("a child was started")

    monkeypatch.setattr("opperf.parent.workers.process.Worker.__init__", refuse)
    assert opperf("show", measured).code == 0
