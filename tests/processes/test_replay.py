"""A trace recorded by PyTorch runs again, every operator of it, in PyTorch's own environment."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.domain_examples import FBGEMM
from tests.functional.conftest import Done, current, invoke
from tests.in_environment import printed

import opperf
from opperf.domain.suite import Suite, SuiteCase
from opperf.parent.sources.execution_trace.reading import read_traces

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "record_trace.py"
Command = Callable[..., subprocess.CompletedProcess[str]]
QUICK = ("--warmup", 0, "--runs", 1, "--trial-budget", 0.02)

pytestmark = pytest.mark.usefixtures("forked_children")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the traces that the example writes."""
    folder = tmp_path_factory.mktemp("recorded")
    assert printed("torch", EXAMPLE, folder=folder)
    return folder


@pytest.fixture(scope="module")
def replayed(recorded: Path, one_cache: Path, forked_children: None) -> Done:
    """All of it, run again: `replayed.json` and `suite.json` lie beside the traces."""
    traces = (recorded / "convnet_et.json", "--kineto", recorded / "convnet_kineto.json")
    with current(recorded, one_cache):
        done = invoke("replay", *traces, *QUICK, "--save-suite", "suite.json", "--output", "replayed.json", "--top", 3)
    assert done.code == 0, done.err
    return done


def test_every_call_of_a_training_step_is_measured_and_the_rest_goes_on_from_the_suite(
    recorded: Path, replayed: Done, command: Command
) -> None:
    result: dict[str, Any] = json.loads((recorded / "replayed.json").read_text())
    assert result["coverage"]["share_of_calls"] == 1
    assert result["coverage"]["share_of_time"] == pytest.approx(1)
    assert result["coverage"]["calls"] > 100
    assert sum(row["share"] for row in result["calls"]) == pytest.approx(1)
    assert {record["origin"] for record in result["records"]} == {"trace:convnet_et.json"}
    assert "more rows: without `--top` all are shown" in replayed.out
    (expanded,) = [one for one in result["records"] if '"strides": [32, 1, 0, 0]' in json.dumps(one["case"])]
    assert (expanded["status"], expanded["reason"]) == ("ok", None)  # a tensor that was expanded comes back as one

    listed = command("run", "--suite", recorded / "suite.json", "--framework", "torch", "--dry-run")
    assert f"trials: {len(result['calls'])}" in listed.stderr


KEEPING = """
import os
os.environ["ENABLE_PYTORCH_EXECUTION_TRACE_SAVE_INTEGRAL_TENSOR_DATA"] = "aten::embedding"
import torch
from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile

observer = ExecutionTraceObserver().register_callback("kept_et.json")
observer.set_extra_resource_collection(True)
table, rows = torch.randn(50, 4), torch.tensor([[3, 1, 4], [1, 5, 9]])
with profile(activities=[ProfilerActivity.CPU], execution_trace_observer=observer):
    for indices in (rows, rows.t(), rows[1:]):
        torch.nn.functional.embedding(indices, table)
"""


def test_elements_that_pytorch_kept_come_back(tmp_path: Path) -> None:
    printed("torch", "-c", KEEPING, folder=tmp_path)
    result = read_traces([tmp_path / "kept_et.json"])
    indices = [one.case.tensor("indices") for one in result.cases if "embedding" in one.case.operator]
    assert [index.literal for index in indices] == [(3, 1, 4, 1, 5, 9), (3, 1, 1, 5, 4, 9), None]
    assert indices[2].range == (0.0, 50.0)  # what it writes of a tensor that begins inside another is not it


def test_a_file_that_is_no_trace_is_one_message(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text('{"traceEvents": []}')
    done = command("replay", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"error: {path}: no call of an operator among 0 events\n\n"
        "hint: expected the Chrome trace that `torch.profiler` exports of the same run\n"
    )


def test_a_kineto_trace_alone_has_the_calls_of_the_execution_trace(
    recorded: Path, command: Command, tmp_path: Path
) -> None:
    cases: dict[str, Counter[str]] = {}
    for name in ("convnet_et", "convnet_kineto"):
        suite = tmp_path / f"{name}_suite.json"
        done = command("replay", recorded / f"{name}.json", "--dry-run", "--save-suite", suite)
        assert done.returncode == 0, done.stderr
        cases[name] = Counter()
        for entry in json.loads(suite.read_text())["cases"]:
            cases[name][entry["case"]["operator"]] += entry["count"]
    assert cases["convnet_kineto"] == cases["convnet_et"]
    output = tmp_path / "replayed.json"
    words = ("--subgraph", "Optimizer.step#SGD.step", *QUICK, "--output", output)
    done = command("replay", recorded / "convnet_kineto.json", *words)
    assert done.returncode == 0, done.stderr
    result = json.loads(output.read_text())
    assert result["coverage"]["share_of_calls"] == 1
    assert all(row["recorded"] > 0 for row in result["calls"])


def test_a_kineto_trace_of_another_run_is_refused_and_so_is_a_top_of_no_rows(
    recorded: Path, command: Command, tmp_path: Path
) -> None:
    event = {"cat": "cpu_op", "name": "aten::other", "dur": 1, "args": {"Record function id": 1}}
    (tmp_path / "other.json").write_text(json.dumps({"traceEvents": [event]}))
    words = ("replay", recorded / "convnet_et.json")
    done = command(*words, "--kineto", tmp_path / "other.json", "--dry-run")
    assert done.returncode == 2
    assert "other.json: has only 0 of the" in done.stderr
    assert command(*words, "--top", 0).returncode == 2


def test_a_dry_run_tells_what_is_left_out(recorded: Path, command: Command, tmp_path: Path) -> None:
    trace = tmp_path / "distributed.json"
    trace.write_text((recorded / "convnet_et.json").read_text().replace('"aten::max_pool2d"', '"c10d::allreduce_"'))
    done = command("replay", trace, "--dry-run")
    assert done.returncode == 0
    assert "c10d::allreduce_: communication between processes" in done.stderr


def test_a_dry_run_of_a_trace_of_which_nothing_can_run_says_why(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "k.json"
    arguments = {"Input type": ["float"], "Input Dims": [[4]]}
    event = {"cat": "cpu_op", "name": "aten::no_such", "ts": 1, "dur": 1, "args": arguments}
    path.write_text(json.dumps({"traceEvents": [event]}))
    done = command("replay", path, "--dry-run")
    assert (done.returncode, done.stdout) == (2, "")
    assert "left out: 1 x aten::no_such, 1.00 us: the PyTorch that runs it again has no such operator" in done.stderr
    assert "hint: the lines above say why" in done.stderr


OWN = """
import torch

if not hasattr(torch.ops.mine, "doubled"):

    @torch.library.custom_op("mine::doubled", mutates_args=())
    def doubled(x: torch.Tensor) -> torch.Tensor:
        return x + x
"""
RECORD_OWN = """
import torch
from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile

import mine

observer = ExecutionTraceObserver().register_callback("own_et.json")
with profile(activities=[ProfilerActivity.CPU], execution_trace_observer=observer):
    torch.ops.mine.doubled(torch.ones(4, 4))
observer.unregister_callback()
"""


def test_an_operator_of_ones_own_library_runs_again_with_its_plugin_and_has_a_reason_without(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "record.py").write_text(RECORD_OWN)
    printed("torch", tmp_path / "record.py", folder=tmp_path)
    trace, output = tmp_path / "own_et.json", tmp_path / "out.json"

    def record(*words: object) -> dict[str, Any]:
        done = command("replay", trace, *QUICK, "--output", output, "--force", *words)
        assert output.exists(), done.stderr
        records: list[dict[str, Any]] = json.loads(output.read_text())["records"]
        return next(one for one in records if "mine::doubled" in one["case"]["operator"])

    without = record()
    assert (without["status"], without["reason"]["slug"]) == ("skipped", "no_such_operator")
    assert "--plugin FILE" in without["reason"]["hint"]
    assert record("--plugin", tmp_path / "mine.py")["status"] == "ok"
    suite = tmp_path / "suite.json"
    assert command("replay", trace, "--dry-run", "--save-suite", suite).returncode == 0

    def of_suite(*words: object) -> str:
        done = command("run", "--suite", suite, "--framework", "torch", *QUICK, "--format", "json", *words)
        records: list[dict[str, Any]] = json.loads(done.stdout)["records"]
        return next(str(one["status"]) for one in records if "mine::doubled" in one["case"]["operator"])

    assert (of_suite(), of_suite("--plugin", tmp_path / "mine.py")) == ("skipped", "ok")


def test_an_operator_of_a_package_that_is_not_there_is_refused_before_its_inputs_are_made(
    command: Command, tmp_path: Path
) -> None:
    inputs = {
        "values": [[1, 2, 0, 2 * 10**9, 4, "cpu"]],
        "shapes": [[2 * 10**9]],
        "types": ["Tensor(float)"],
        "strides": [[1]],
    }
    schema = "fbgemm::asynchronous_complete_cumsum(Tensor t_in) -> Tensor"
    node = {
        "id": 2,
        "name": "fbgemm::asynchronous_complete_cumsum",
        "ctrl_deps": 1,
        "inputs": inputs,
        "outputs": inputs,
        "attrs": [{"name": "op_schema", "type": "string", "value": schema}],
    }
    trace, output = tmp_path / "t.json", tmp_path / "out.json"
    trace.write_text(json.dumps({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": [node]}))
    command("replay", trace, *QUICK, "--output", output)
    (record,) = json.loads(output.read_text())["records"]
    assert (record["status"], record["reason"]["slug"]) == ("skipped", "no_package")
    assert "is of the package fbgemm_gpu" in record["reason"]["message"]
    assert record["reason"]["hint"] == "`--environment fbgemm`"


def test_every_jagged_operator_of_fbgemm_runs_on_lengths_that_add_up(command: Command, tmp_path: Path) -> None:
    cases = tuple(SuiteCase(case, directions=("forward",)) for case in FBGEMM)
    suite, output = tmp_path / "suite.json", tmp_path / "out.json"
    suite.write_text(json.dumps(Suite("fbgemm", "tests", cases).to_json()))
    done = command("run", "--suite", suite, "--environment", "fbgemm", *QUICK, "--output", output)
    records = json.loads(output.read_text())["records"]
    wrong = {one["case"]["operator"]: one["reason"]["message"] for one in records if one["status"] != "ok"}
    assert (wrong, len(records)) == ({}, len(FBGEMM)), done.stderr


def test_a_jagged_operator_of_a_trace_replays_with_lengths_of_its_own_rows(command: Command, tmp_path: Path) -> None:
    values, lengths = [1, 2, 0, 400, 4, "cpu"], [3, 4, 0, 8, 8, "cpu"]
    inputs = {
        "values": [values, lengths, 30],
        "shapes": [[100, 4], [8], []],
        "types": ["Tensor(float)", "Tensor(long int)", "Int"],
        "strides": [[4, 1], [1], []],
    }
    schema = "fbgemm::pack_segments(Tensor t_in, Tensor lengths, SymInt max_length) -> Tensor"
    node = {
        "id": 2,
        "name": "fbgemm::pack_segments",
        "ctrl_deps": 1,
        "inputs": inputs,
        "outputs": inputs,
        "attrs": [{"name": "op_schema", "type": "string", "value": schema}],
    }
    trace, output = tmp_path / "t.json", tmp_path / "out.json"
    trace.write_text(json.dumps({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": [node]}))
    done = command("replay", trace, *QUICK, "--environment", "fbgemm", "--output", output)
    (record,) = json.loads(output.read_text())["records"]
    assert record["status"] == "ok", done.stderr
    assert record["case"]["inputs"]["lengths"]["values"]["literal"] == [13, 13, 13, 13, 12, 12, 12, 12]


def test_a_trace_is_replayed_by_the_library_and_read_again(recorded: Path, replayed: Done, tmp_path: Path) -> None:
    trace, output = recorded / "convnet_et.json", tmp_path / "replayed.json"
    how: Any = {"subgraph": "Optimizer.step#SGD.step", "warmup": 0, "runs": 1, "trial_budget": 0.02}
    replay = opperf.replay(trace, kineto=recorded / "convnet_kineto.json", output=output, **how)
    assert replay.to_dict()["coverage"]["share_of_calls"] == 1
    again = opperf.load(output)
    assert isinstance(again, opperf.Replay)
    assert [(one.traced.case, one.total) for one in again] == [(one.traced.case, one.total) for one in replay]
    assert str(again) == str(replay)
    assert len(replay.suite()) == len(replay)
    whole, from_trace = opperf.load(recorded / "replayed.json"), opperf.load(trace)
    assert isinstance(whole, opperf.Replay)
    assert isinstance(from_trace, opperf.Suite)
    assert len(from_trace) == len(whole) > len(replay) > 0
