"""The operators of a user's function, captured in its framework's own environment, run again from the suite."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.in_environment import printed

HERE = Path(__file__).parent
LENET = HERE.parents[1] / "examples" / "models" / "lenet_torch.py"
RERUN = HERE.parents[1] / "benchmarks" / "rerun_torch.py"
FUNCTIONS = ("residual_network", "transformer", "layouts", "numbers_that_matter", "generator")
BAD = """
import time

def fails():
    raise KeyError("batch")

def idle():
    return []

def hangs():
    time.sleep(60)
"""
Command = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.usefixtures("forked_children")


def test_a_training_step_is_captured_and_every_operator_of_it_runs(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(LENET.parents[2])
    suite, output = tmp_path / "lenet.json", tmp_path / "run.json"
    done = command("capture", "examples.models.lenet_torch:training_step", "--output", suite)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    written: dict[str, Any] = json.loads(suite.read_text())
    cases = written["cases"]
    assert f"wrote {suite}: {len(cases)} cases of {sum(entry['count'] for entry in cases)} calls" in done.stderr
    assert (written["name"], written["source"]) == ("training_step", "examples.models.lenet_torch:training_step")
    counts, origins = totals(cases), {entry["origin"] for entry in cases}
    assert counts["convolution.default"] == counts["convolution_backward.default"] == 2
    assert counts["addmm.default"] == 2
    assert counts["add_.Tensor"] == 8
    places = [entry["case"]["inputs"]["indices"]["range"] for entry in cases if "indices" in entry["case"]["inputs"]]
    assert [0 <= low < high <= rows * rows for (low, high), rows in zip(places, (8, 24))] == [True, True]
    assert {"LeNet.conv1", "LeNet.conv2 backward", "LeNet.dense1, LeNet.dense1 backward", "training_step"} <= origins

    where = ("--framework", "torch")
    done = command("run", "--suite", suite, *where, "--runs", 1, "--warmup", 0, "--output", output)
    assert done.returncode == 0, done.stderr
    records = json.loads(output.read_text())["records"]
    assert [record["status"] for record in records] == ["ok"] * len(cases)
    assert {record["origin"] for record in records} == origins


def test_what_checkpointing_recomputes_belongs_to_its_own_module(command: Command, tmp_path: Path) -> None:
    suite = tmp_path / "suite.json"
    done = command("capture", f"{HERE}/captured_models.py:recomputing", "--framework", "torch", "--output", suite)
    assert done.returncode == 0, done.stderr
    cases = json.loads(suite.read_text())["cases"]
    for operator, origin in (
        ("gelu", "Checkpointed.act, Checkpointed.act recomputed"),
        ("gelu_backward", "Checkpointed.act backward"),
    ):
        name = f"torch:aten::{operator}.default"
        places = [(entry["count"], entry["origin"]) for entry in cases if entry["case"]["operator"] == name]
        assert places == [(origin.count("Checkpointed"), origin)] * 2
    (outside,) = [entry["origin"] for entry in cases if entry["case"]["operator"] == "torch:aten::exp.default"]
    assert outside == "recomputing, recomputing recomputed"


def totals(cases: list[dict[str, Any]]) -> dict[str, int]:
    """Return how often each operator was called."""
    result: dict[str, int] = {}
    for entry in cases:
        name = entry["case"]["operator"].removeprefix("torch:aten::")
        result[name] = result.get(name, 0) + entry["count"]
    return result


def test_what_runs_alone_returns_the_same_as_in_the_captured_call() -> None:
    models = HERE / "captured_models.py"
    paths = [f"{LENET}:training_step", *(f"{models}:{name}" for name in FUNCTIONS)]
    lenet, residual, transformer, layouts, numbers, generator = json.loads(printed("torch", RERUN, HERE, *paths))
    # As many as PyTorch's own profiler counts, those that are called inside of others left out.
    assert lenet["calls"] == 57
    assert (residual["calls"] > 100, transformer["calls"] > 300) == (True, True)
    assert [result["unlike"] for result in (lenet, residual, transformer, layouts, numbers)] == [[]] * 5
    for result in (lenet, residual, transformer):
        same = sum(result["numbers"].get(how, 0) for how in ("the same bits", "the same numbers"))
        assert same > 0.9 * result["cases"]
    assert (generator["calls"], generator["unlike"]) == (2, [["aten::rand.generator", "a value of type `Generator`"]])


def test_another_framework_says_that_it_is_not_captured_yet(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("def step():\n    return 1\n")
    done = command("capture", "mine:step", "--framework", "numpy")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(
        "error: `mine:step`: the operators of numpy cannot be captured yet\n\n"
        "hint: known: torch, mxnet, jax, tensorflow\n"
    )


def test_what_no_case_holds_is_told_beside_the_suite(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("def step():\n    return ['add', 'nonsense', 'add', 'nonsense']\n")
    done = command("capture", "mine:step", "--framework", "null")
    (entry,) = json.loads(done.stdout)["cases"]
    assert (entry["case"]["operator"], entry["count"], entry["origin"]) == ("add", 2, "Net")
    assert done.stderr.endswith("left out: nonsense, 2 calls: not known here\n")


def test_several_functions_are_parts_of_one_suite(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "def prefill():\n    return ['add', 'add']\ndef decode():\n    return ['steady', 'add']\n"
    )
    done = command("capture", "mine.py:prefill", "mine:decode", "--framework", "null", "--output", "s.json")
    assert done.returncode == 0, done.stderr
    written = json.loads((tmp_path / "s.json").read_text())
    assert (written["name"], written["source"]) == ("prefill + decode", "mine.py:prefill, mine:decode")
    parts = [(entry["case"]["operator"], entry["count"], entry["origin"]) for entry in written["cases"]]
    assert parts == [
        ("add", 2, "prefill: Net"),
        ("null:steady", 1, "decode: decode backward"),
        ("add", 1, "decode: Net"),
    ]
    assert [part["name"] for part in written["parts"]] == ["prefill", "decode"]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("mine:fails", "error: `mine:fails` raised KeyError: 'batch'"),
        ("mine:missing", "error: `mine:missing`: `mine` has no `missing`"),
        ("mine:idle", "error: `mine:idle` calls no operator of null"),
        (
            "mine:hangs",
            "error: not finished within 1 s; opperf killed the child process\n\nhint: raise the limit with `--timeout`",
        ),
        ("mine", "error: `mine` is not a function"),
    ],
)
def test_code_that_cannot_be_captured_is_one_message(
    code: str, message: str, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(BAD)
    done = command("capture", code, "--framework", "null", "--timeout", 1 if "hangs" in code else 60)
    assert (done.returncode, done.stdout) == (3 if "hangs" in code else 2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_call_with_a_nested_tensor_is_left_out_and_the_capture_goes_on(command: Command, tmp_path: Path) -> None:
    suite = tmp_path / "suite.json"
    done = command("capture", f"{HERE}/captured_models.py:nested_tensors", "--framework", "torch", "--output", suite)
    assert done.returncode == 0, done.stderr
    assert "aten::relu.default" in {
        entry["case"]["operator"].partition(":")[2] for entry in json.loads(suite.read_text())["cases"]
    }
    assert "left out: aten::mul.Tensor, 1 call: a tensor that is nested" in done.stderr
    output = tmp_path / "run.json"
    done = command("run", "--suite", suite, "--framework", "torch", "--runs", 1, "--warmup", 0, "--output", output)
    statuses = {record["case"]["operator"]: record["status"] for record in json.loads(output.read_text())["records"]}
    assert set(statuses.values()) == {"ok"}, done.stderr  # that which makes a nested tensor of others too


def test_networks_of_whole_numbers_are_captured_with_what_their_weights_are_packed_from(
    command: Command, tmp_path: Path
) -> None:
    suite, output = tmp_path / "suite.json", tmp_path / "run.json"
    done = command("capture", f"{HERE}/captured_models_int8.py:step", "--framework", "torch", "--output", suite)
    assert done.returncode == 0, done.stderr
    assert "left out" not in done.stderr
    cases = {
        (one["case"]["operator"].partition(":")[2], one["origin"]): one
        for one in json.loads(suite.read_text())["cases"]
    }
    # Two layers of one shape are one case.
    linear = cases["quantized::linear_dynamic.default", "Sequential.0, Sequential.1"]
    assert linear["count"] == 2
    word, weight, bias = linear["case"]["inputs"]["W_prepack"]["tuple"]
    assert (word, weight["tuple"][1]["shape"], bias["shape"]) == ("packed_linear", [16, 16], [16])
    convolution = cases["quantized::conv2d_relu.new", "Sequential.1"]["case"]["inputs"]
    assert convolution["qx"]["tuple"][1]["strides"] == [192, 1, 24, 3]
    assert convolution["packed_weight"]["tuple"][3:] == [{"tuple": [1, 1]}, {"tuple": [1, 1]}, {"tuple": [1, 1]}, 1]

    done = command("run", "--suite", suite, "--framework", "torch", "--runs", 1, "--warmup", 0, "--output", output)
    assert done.returncode == 0, done.stderr
    assert {record["status"] for record in json.loads(output.read_text())["records"]} == {"ok"}
