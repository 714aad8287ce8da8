"""A trace recorded by PyTorch runs again, every operator of it, in PyTorch's own environment."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opperf.environment import EnvironmentSpec
from opperf.workers.interpreters import interpreter, settled

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "record_trace.py"
Command = Callable[..., subprocess.CompletedProcess[str]]
QUICK = ("--warmup", 0, "--runs", 1, "--trial-budget", 0.02)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the traces that the example writes."""
    folder = tmp_path_factory.mktemp("recorded")
    python = interpreter(settled(EnvironmentSpec.parse("current"), "torch"), framework="torch")
    subprocess.run([str(python), str(EXAMPLE)], cwd=folder, check=True, capture_output=True, timeout=120)
    return folder


def test_every_call_of_a_training_step_is_measured_and_the_rest_goes_on_from_the_suite(
    recorded: Path, command: Command, tmp_path: Path
) -> None:
    output, suite = tmp_path / "replayed.json", tmp_path / "suite.json"
    traces = (recorded / "convnet_et.json", "--kineto", recorded / "convnet_kineto.json")
    done = command("replay", *traces, *QUICK, "--save-suite", suite, "--output", output, "--top", 3)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(output.read_text())
    assert found["coverage"]["share_of_calls"] == 1
    assert found["coverage"]["share_of_time"] == pytest.approx(1)
    assert found["coverage"]["calls"] > 100
    assert sum(row["share"] for row in found["calls"]) == pytest.approx(1)
    assert {record["origin"] for record in found["records"]} == {"trace:convnet_et.json"}
    assert "more rows: `--top` shows them" in done.stdout

    listed = command("run", "--suite", suite, "--framework", "torch", "--dry-run")
    assert f"trials: {len(found['calls'])}" in listed.stderr


def test_an_expanded_tensor_comes_back_as_one(recorded: Path, command: Command) -> None:
    done = command("replay", recorded / "convnet_et.json", *QUICK, "--format", "csv")
    (row,) = [line for line in done.stdout.splitlines() if "strides=32,1,0,0" in line]
    assert row.endswith(",ok")


def test_a_file_that_is_no_trace_is_one_message(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text('{"traceEvents": []}')
    done = command("replay", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"error: {path}: a Kineto (Chrome) trace\n\nhint: it goes with an execution trace, as `--kineto {path}`\n"
    )
