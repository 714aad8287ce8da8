"""What `opperf run` prints, writes and exits with: data on stdout, talk on stderr."""

from __future__ import annotations

import csv
import io
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from opperf.catalog import catalog
from opperf.domain.peaks import Rate
from opperf.domain.record import Run
from opperf.parent.workers.pool import Pool

Opperf: TypeAlias = Callable[..., Any]

QUICK = ("--framework", "null", "--size", "small", "--direction", "forward", "--runs", "3")


def test_a_table_is_printed_where_no_format_is_named(opperf: Opperf) -> None:
    done = opperf("run", "add", *QUICK)
    assert (done.code, done.err) == (0, "")
    assert "\noperator  " in done.out
    assert "1 trial: 1 ok" in done.out


def test_json_on_stdout_is_a_document(opperf: Opperf) -> None:
    done = opperf("run", "add", "null:raise", *QUICK, "--format", "json")
    run = Run.from_json(json.loads(done.out))
    assert [record.status for record in run] == ["ok", "failed"]
    assert done.err == "1 of 2 trials failed\n"


def test_csv_on_stdout_is_a_row_for_each_record(opperf: Opperf) -> None:
    done = opperf("run", "add", "null:raise", *QUICK, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [(row["operator"], row["status"]) for row in rows] == [("add", "ok"), ("null:raise", "failed")]
    assert float(rows[0]["time_median_s"]) > 0
    assert rows[1]["time_median_s"] == ""


def test_markdown_on_stdout_is_a_table(opperf: Opperf) -> None:
    done = opperf("run", "add", *QUICK, "--format", "md")
    (row,) = [line for line in done.out.splitlines() if line.startswith("| add")]
    header = next(line for line in done.out.splitlines() if line.startswith("| operator"))
    assert row.count("|") == header.count("|")


@pytest.mark.parametrize(
    ("name", "begins"), [("k.json", "{"), ("k.csv", "case_id,"), ("k.md", None), ("k.txt", "{"), ("k", "{")]
)
def test_a_file_has_the_format_of_its_suffix_or_json_and_the_table_is_printed_too(
    name: str, begins: str | None, opperf: Opperf, here: Path
) -> None:
    done = opperf("run", "add", *QUICK, "--output", name)
    assert done.code == 0
    assert "1 trial: 1 ok" in done.out
    assert done.err == f"wrote {name}: 1 record\n"
    text = (here / name).read_text()
    assert text.startswith(begins) if begins else "| operator" in text
    assert [path.name for path in here.iterdir()] == [name]  # no journal, nothing half-written


def test_a_named_format_goes_into_the_file_and_stdout_stays_empty(opperf: Opperf, here: Path) -> None:
    done = opperf("run", "add", *QUICK, "--output", "k.txt", "--format", "csv")
    assert (done.code, done.out) == (0, "")
    assert (here / "k.txt").read_text().startswith("case_id,")


def test_a_file_that_is_there_is_replaced_when_that_is_asked_for(opperf: Opperf, here: Path) -> None:
    (here / "k.json").write_text("old")
    assert opperf("run", "add", *QUICK, "--output", "k.json", "--force").code == 0
    assert len(json.loads((here / "k.json").read_text())["records"]) == 1


def test_a_file_can_be_read_by_whom_the_umask_lets(opperf: Opperf, here: Path) -> None:
    before = os.umask(0o027)
    try:
        opperf("run", "add", *QUICK, "--output", "k.json")
    finally:
        os.umask(before)
    assert stat.S_IMODE((here / "k.json").stat().st_mode) == 0o640


# Exit codes ----------------------------------------------------------------------------------------------------------


def test_failed_trials_beside_measured_ones_are_counted_and_the_code_is_0(opperf: Opperf) -> None:
    done = opperf("run", "null:crash", "null:raise", "add", *QUICK)
    assert (done.code, done.err) == (0, "2 of 3 trials failed\n")


def test_strict_makes_any_failure_a_3(opperf: Opperf) -> None:
    done = opperf("run", "null:raise", "add", *QUICK, "--strict", "--output", "k.json")
    assert done.code == 3
    assert "1 of 2 trials failed" in done.err
    assert "1 ok" in done.out  # the report is given all the same


def test_strict_is_content_with_what_is_measured_or_skipped(opperf: Opperf) -> None:
    words = ("add", "argmax", "--framework", "null", "--size", "small", "--runs", "3", "--direction", "backward")
    done = opperf("run", *words, "--strict", "--format", "json")
    assert (done.code, [record["status"] for record in done.records]) == (0, ["ok", "skipped"])


def test_nothing_measured_and_something_failed_is_a_3(opperf: Opperf) -> None:
    done = opperf("run", "null:raise", *QUICK)
    assert (done.code, done.err) == (3, "1 of 1 trials failed\n")


def test_nothing_measured_and_nothing_failed_is_a_0(opperf: Opperf) -> None:
    words = ("argmax", "--framework", "null", "--direction", "backward", "--size", "small")
    assert opperf("run", *words).code == 0


def test_a_warning_of_a_number_is_printed_with_its_remedy(opperf: Opperf) -> None:
    done = opperf("run", "null:drifting", "--framework", "null")
    assert "the last third of the samples took" in done.out
    assert "hint: increase `--warmup`" in done.out


@pytest.mark.parametrize(
    ("operator", "shape", "attributes"),
    [("conv2d", [3], {}), ("sum", [3, 4], {"axis": 7})],
    ids=["IndexError", "InputError"],
)
def test_a_formula_that_does_not_fit_what_was_measured_costs_no_record(
    operator: str, shape: list[int], attributes: dict[str, object], opperf: Opperf
) -> None:
    case = json.loads(json.dumps(catalog()[operator].case("small").to_json()))
    case["inputs"]["data"] = {"shape": shape, "dtype": "float32"}
    case["attributes"].update(attributes)
    suite = {"schema_version": 1, "cases": [{"case": case, "directions": ["forward"]}]}
    Path("suite.json").write_text(json.dumps(suite))
    done = opperf("run", "--suite", "suite.json", "--framework", "null", "--runs", "3", "--format", "json")
    assert (done.code, done.err) == (0, "")
    (record,) = done.records
    assert record["metrics"]["time"]["median"] > 0
    assert not {"flops", "bytes", "flop_rate"} & set(record["metrics"])
    assert "formula_does_not_fit" in {warning["slug"] for warning in record["warnings"]}


@pytest.mark.parametrize(
    "words", [("operators",), ("run", "null:steady", "--runs", "3"), ("env", "list"), ("run", "--help")]
)
def test_a_reader_that_goes_away_is_no_error(words: tuple[str, ...]) -> None:
    reads, writes = os.pipe()
    os.close(reads)
    done = subprocess.run(
        [sys.executable, "-m", "opperf", *words], stdout=writes, stderr=subprocess.PIPE, text=True, timeout=300
    )
    os.close(writes)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_installed_command_and_the_module_are_the_same() -> None:
    command = Path(sys.executable).with_name("opperf")
    said = [
        subprocess.run([*words, "--version"], capture_output=True, text=True, timeout=300, check=True).stdout
        for words in ([command], [sys.executable, "-m", "opperf"])
    ]
    assert said[0] == said[1]
    assert said[0].startswith("opperf ")


def test_shares_of_peak_are_offered_once_a_day_until_the_machines_limits_are_measured(
    opperf: Opperf, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("opperf.parent.measuring.calibration.cache_folder", lambda: tmp_path)
    words = ("run", "exp", "--framework", "numpy", "--input", "data=64", "--direction", "forward", "--runs", "3")
    offer = "note: to see shares of peak, run `opperf doctor --peaks --framework numpy` once\n"
    assert offer in opperf(*words).err
    assert offer not in opperf(*words).err
    reminder = tmp_path / "reminders" / "peaks"
    yesterday = reminder.stat().st_mtime - 86_401
    os.utime(reminder, (yesterday, yesterday))
    assert offer in opperf(*words).err
    os.utime(reminder, (yesterday, yesterday))
    rate = Rate("move", "copy", "float32", 1000, 1e9, "numpy", "cpu", 1, "today")
    monkeypatch.setattr("opperf.parent.commands.run.stored_rates", lambda: (rate,))
    assert offer not in opperf(*words).err


def test_an_environment_that_cannot_be_built_says_why_in_the_line_of_its_trial(opperf: Opperf) -> None:
    done = opperf("run", "exp", "--framework", "numpy", "--environment", "numpy==99.9", "--format", "json")
    (reason,) = {record["reason"]["message"].splitlines()[0] for record in done.records}
    assert done.code == 3
    assert reason.startswith("environment `numpy==99.9` cannot be built: ")
    assert reason != "environment `numpy==99.9` cannot be built: uv gave no reason"


@pytest.mark.parametrize(
    "words",
    [
        ("run", "null:steady", "--framework", "null"),
        ("noise", "null:steady", "--framework", "null"),
        ("compare", "null:steady", "--base", "null", "--new", "null"),
    ],
    ids=lambda words: words[0],
)
def test_ctrl_c_while_planning_says_so_and_leaves_with_130(
    words: tuple[str, ...], opperf: Opperf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*asked: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(Pool, "describe", stop)
    done = opperf(*words)
    assert (done.code, done.out) == (130, "")
    assert done.err.endswith("stopped while planning: nothing was measured\n")
