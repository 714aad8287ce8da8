"""The command line of MXNet's opperf with MXNet in its children: nothing that is measured is lost."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.functional.conftest import Done, invoke_module

SOURCE = Path(__file__).resolve().parents[2] / "src"
MODULE = "opperf.compat.mxnet_opperf"
#: Few calls before those that are timed.
QUICK = ("--warmup", "1")
#: Rows of few elements; those that are alike, and a name that stands for another, are rows of their own.
ROWS: dict[str, list[dict[str, Any]]] = {
    "broadcast_add": [{"lhs": [8, 8], "rhs": [8, 1]}, {"lhs": [8, 8], "rhs": [8, 1]}],
    "broadcast_plus": [{"lhs": [8, 8], "rhs": [8, 1]}],
    "erfinv": [{"data": [8, 8]}],
    "linalg_det": [{"A": [8, 8]}],
    "take": [{"a": [8, 8], "indices": [1, 1]}],
    "argmax_channel": [{"data": [8, 8]}],
    "Activation": [{"data": [8, 8], "act_type": kind} for kind in ("relu", "sigmoid", "tanh")],
}

pytestmark = pytest.mark.usefixtures("forked_children")


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """The rows, in a file."""
    file = tmp_path / "rows.json"
    file.write_text(json.dumps(ROWS))
    return file


def command(*words: object) -> Done:
    """Run the command in this process; its children are forked."""
    return invoke_module(MODULE, *QUICK, *words)


def measured(done: Done) -> str:
    """Return what a command said, which must have ended well."""
    assert done.code == 0, done.err
    return done.err


def document(path: Path) -> dict[str, list[dict[str, Any]]]:
    result: dict[str, list[dict[str, Any]]] = json.loads(path.read_text())
    return result


def lines_of(journal: Path) -> list[str]:
    """Return the lines of a journal, which a run removes at its end."""
    try:
        return journal.read_text().splitlines()
    except FileNotFoundError:
        return []


def test_children_share_the_samples_of_a_row_and_the_calls_before_them(tmp_path: Path) -> None:
    rows, output, records = (tmp_path / name for name in ("rows.json", "out.json", "records.json"))
    rows.write_text(json.dumps({"broadcast_add": ROWS["broadcast_add"][:1]}))
    words = ("--inputs", rows, "--runs", 12, "--warmup", 25, "--processes", 2, "--profiler", "python")
    measured(command(*words, "--original-values", "-o", output, "--records", records))
    (row,) = document(output)["broadcast_add"]
    told = json.loads(records.read_text())
    assert told["run"]["settings"]["warmup"] == 13
    inputs = [one["case"]["inputs"].values() for one in told["records"]]
    assert {array["values"] for arrays in inputs for array in arrays} == {"normal"}
    (record,) = (one for one in told["records"] if one["direction"] == "forward_backward")
    assert record["metrics"]["time"]["processes"] == 2
    assert [len(process["wall_ns"]) for process in record["samples"]["time"]] == [6, 6]
    assert row["samples_broadcast_add"] == record["metrics"]["time"]["samples"]


def test_no_row_is_lost_or_overwritten_and_the_records_stand_beside_them(inputs: Path, tmp_path: Path) -> None:
    output, records = tmp_path / "out.json", tmp_path / "records.json"
    measured(command("--inputs", inputs, "--runs", 3, "-o", output, "--records", records))
    result = document(output)
    assert {name: [row["inputs"] for row in rows] for name, rows in result.items()} == dict(sorted(ROWS.items()))
    assert all(row[f"avg_time_forward_{name}"] > 0 for name, rows in result.items() for row in rows)
    assert result["broadcast_plus"][0]["max_storage_mem_alloc_cpu/0"] >= 0.256
    assert result["argmax_channel"][0]["no_backward"] == "MXNet has no gradient of it"
    told = json.loads(records.read_text())
    assert told["run"]["settings"]["runs"] == 3
    indices = [one["case"]["inputs"]["indices"] for one in told["records"] if "indices" in one["case"]["inputs"]]
    assert {tuple(array["range"]) for array in indices} == {(0.0, 8.0)}
    assert {record["metrics"]["time"]["clock"] for record in told["records"] if record["metrics"]} == {"profiler"}
    assert sorted(file.name for file in tmp_path.iterdir()) == ["out.json", "records.json", "rows.json"]


def test_whole_numbers_run_to_the_end_by_the_name_that_the_proposal_gave_the_command(
    inputs: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out.json"
    words = ("--inputs", inputs, "--dtype", "int32", "--profiler", "python", "--warmup", 1, "--runs", 2)
    proposed = "opperf.compat.run_all_mxnet_operator_benchmarks"
    told = measured(invoke_module(proposed, *words, "--output-file", output))
    result = document(output)
    failed = sum("error" in row for rows in result.values() for row in rows)
    assert f"wrote {output}: 7 operators, 10 rows, {failed} of them with an error instead of times" in told
    assert "error" in result["linalg_det"][0]  # which takes floating numbers alone
    assert result["broadcast_add"][1]["avg_time_broadcast_add"] > 0
    assert [len(rows) for rows in result.values()] == [len(ROWS[name]) for name in result]


def test_a_run_that_was_killed_goes_on_where_it_stood(inputs: Path, tmp_path: Path) -> None:
    output, journal = tmp_path / "out.csv", tmp_path / "out.csv.journal"
    for runs in ("100", "1000"):  # on a busy machine it may have ended before it is looked at
        words = ["--inputs", str(inputs), "--runs", runs, "-f", "csv", "-o", str(output)]
        started = subprocess.Popen([sys.executable, "-m", MODULE, *QUICK, *words], stderr=subprocess.PIPE)
        try:
            give_up = time.monotonic() + 300
            while started.poll() is None and len(lines_of(journal)) < 4:
                assert time.monotonic() < give_up
                time.sleep(0.01)
        finally:
            started.send_signal(signal.SIGKILL)
            _, said = started.communicate()
        if started.returncode == -signal.SIGKILL:
            break
        assert started.returncode == 0, said
        output.unlink()
    before = lines_of(journal)
    assert not output.exists()
    measured(command(*words, "--resume"))
    lines = output.read_text().splitlines()
    assert lines[0].startswith("operator,inputs,")
    assert len(lines) == 1 + sum(map(len, ROWS.values()))
    assert len(before) >= 4
    assert not journal.exists()


def test_a_python_without_what_the_command_line_needs_is_told_so() -> None:
    without = [sys.executable, "-S", "-m", MODULE]  # no packages but the standard library
    done = subprocess.run(without, env={"PYTHONPATH": str(SOURCE)}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2
    assert done.stderr.startswith("error: this Python has no typer")


def test_values_that_only_floats_have_are_refused_for_whole_numbers(tmp_path: Path) -> None:
    done = command("--original-values", "--dtype", "int32", "-o", tmp_path / "out.json")
    assert (done.code, done.err.count("\n")) == (2, 3)
    assert "`--original-values` are normal numbers" in done.err


def test_an_operator_that_mxnet_does_not_have_is_refused_with_names_near_it(tmp_path: Path) -> None:
    done = command("--operator", "broadcast_ad", "-o", tmp_path / "out.json")
    assert done.code == 2
    assert done.err.startswith("error: no operator `mxnet:nd.broadcast_ad`")
    assert "`mxnet:nd.broadcast_add`" in done.err
    assert not list(tmp_path.iterdir())
