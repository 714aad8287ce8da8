"""The nodes of a model in a file, captured in ONNX Runtime's own environment, run again from the suite."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment, interpreter

HERE = Path(__file__).parent
PLACE = {"shape": [], "dtype": "int64"}
Command = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.usefixtures("forked_children")


@pytest.fixture(scope="module")
def models(one_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with models, which the environment's own Python wrote."""
    folder = tmp_path_factory.mktemp("models")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPPERF_CACHE_DIR", str(one_cache))
        python = interpreter(
            choose_environment(EnvironmentSpec.parse("current"), "onnxruntime"), framework="onnxruntime"
        )
    done = subprocess.run(
        [str(python), str(HERE / "onnx_models.py"), str(folder)],
        env={**os.environ, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_a_model_is_captured_and_every_node_of_it_runs(command: Command, models: Path, tmp_path: Path) -> None:
    suite, output = tmp_path / "suite.json", tmp_path / "run.json"
    done = command("capture", models / "network.onnx", "--output", suite)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    written: dict[str, Any] = json.loads(suite.read_text())
    assert (written["name"], written["source"]) == ("network.onnx", "network.onnx")
    cases = {entry["origin"]: entry for entry in written["cases"]}
    assert [entry["case"]["operator"].rpartition(".")[2] for entry in cases.values()] == [
        *("Conv", "Relu", "Clip", "Shape", "Gather", "Concat", "Reshape", "Gemm", "Dropout", "Add"),
        *("Cast", "ReduceMax", "Cast", "If"),
    ]
    assert list(cases)[:9] == [
        *("conv", "relu1, r2", "clip", "shape", "gather", "concat", "reshape", "dense", "dropout"),
    ]
    assert cases["conv"]["case"]["operator"] == "onnxruntime:ai.onnx.Conv"
    assert cases["conv"]["case"]["attributes"] == {
        "strides": {"tuple": [1, 1]},
        "constant": {"tuple": [1, 2]},
        "opset": 17,
    }
    assert cases["conv"]["case"]["inputs"]["X"] == {"shape": [1, 1, 8, 8], "dtype": "float32"}
    assert cases["relu1, r2"]["count"] == 2
    assert cases["clip"]["case"]["inputs"]["min"] is None
    assert cases["reshape"]["case"]["inputs"]["shape"]["values"] == {"literal": [1, 144]}
    assert cases["dense"]["case"]["attributes"]["alpha"] == 0.5
    assert cases["dense"]["case"]["attributes"]["constant"] == {"tuple": [1]}
    assert cases["dropout"]["case"]["attributes"]["outputs"] == 2
    assert "input image: N set to 1; choose another shape with `--input image=1x1x8x8`" in done.stderr
    branch = cases["branch"]["case"]
    assert [one["shape"] for one in branch["inputs"]["outer"]["list"]] == [[1, 10], [], [4]]
    assert branch["attributes"]["constant"] == {"tuple": [3]}
    assert list(branch["attributes"]["then_branch"]) == ["graph"]
    assert "left out: ai.onnx.SequenceEmpty, 1 call: an empty sequence" in done.stderr

    done = command("run", "--suite", suite, "--runs", 1, "--warmup", 0, "--output", output)
    assert done.returncode == 0, done.stderr
    records = json.loads(output.read_text())["records"]
    assert [record["status"] for record in records] == ["ok"] * len(cases), records
    assert {record["side"]["framework"] for record in records} == {"onnxruntime"}


def test_inputs_are_what_the_user_says(command: Command, models: Path) -> None:
    given = ("--input", "a=5", "--input", "places=literal:[7,0,7]")
    done = command("capture", models / "picky.onnx", *given, "--framework", "onnxruntime")
    assert done.returncode == 0, done.stderr
    concat, gather = (entry["case"]["inputs"] for entry in json.loads(done.stdout)["cases"])
    assert concat["inputs"]["list"][0]["shape"] == [5]
    assert gather["data"]["shape"] == [8]
    assert gather["indices"] == {"shape": [3], "dtype": "int64", "values": {"literal": [7, 0, 7]}}
    assert "set to 1" not in done.stderr


def test_strings_and_sequences_of_them_are_captured_and_run(command: Command, models: Path, tmp_path: Path) -> None:
    suite, output = tmp_path / "suite.json", tmp_path / "run.json"
    given = ("--input", "words=literal:['1.5','-2']", "--output", suite)
    done = command("capture", models / "texts.onnx", *given)
    assert done.returncode == 0, done.stderr
    cases = [entry["case"] for entry in json.loads(suite.read_text())["cases"]]
    words = {"shape": [2], "dtype": "string", "values": {"literal": ["1.5", "-2"]}}
    assert [case["inputs"] for case in cases] == [
        {"input": words},
        {"inputs": {"list": [words, words]}},
        {"input_sequence": {"list": [words, words]}, "position": {**PLACE, "values": {"literal": [1]}}},
        {"input": words},
    ]
    done = command("run", "--suite", suite, "--runs", 1, "--warmup", 0, "--output", output)
    assert done.returncode == 0, done.stderr
    records = json.loads(output.read_text())["records"]
    assert [record["status"] for record in records] == ["ok"] * len(cases), records


def test_strings_that_nobody_gives_are_whole_numbers(command: Command, models: Path) -> None:
    done = command("capture", models / "texts.onnx")
    assert done.returncode == 0, done.stderr
    values = json.loads(done.stdout)["cases"][0]["case"]["inputs"]["input"]["values"]["literal"]
    assert [len(value) for value in values if value.isdigit()] == [1, 1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("picky.onnx", "--input", "places=literal:[99]"), "ONNX Runtime cannot run it"),
        (("picky.onnx", "--input", "c=3"), "no input `c`\n\nhint: the model takes a, b, places"),
        (("several.onnx",), "its input `given` is a sequence, which opperf cannot generate"),
        (("picky.onnx", "--input", "places=literal:['a']"), "found 'a', expected a value of int64"),
        (("texts.onnx", "--input", "words=literal:[1,2]"), "found '1', expected a value of string"),
        (("none.onnx",), "no file `"),
        (("broken.onnx",), "it cannot be read"),
        (("picky.onnx", "--framework", "null"), "opperf cannot read models of null"),
    ],
    ids=lambda value: value[-1] if isinstance(value, tuple) else "",
)
def test_a_model_that_cannot_be_captured_is_one_message(
    words: tuple[str, ...], message: str, command: Command, models: Path
) -> None:
    (models / "broken.onnx").write_bytes(b"\x00 this is no model")
    done = command("capture", models / words[0], *words[1:])
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_inputs_are_not_for_functions(command: Command) -> None:
    done = command("capture", "mine:step", "--input", "x=1")
    assert done.returncode == 2
    assert "`--input` applies to model files only" in done.stderr


def test_a_value_of_a_type_that_numpy_lacks_leaves_out_its_nodes_only(
    command: Command, models: Path, tmp_path: Path
) -> None:
    suite = tmp_path / "suite.json"
    done = command("capture", models / "halved.onnx", "--output", suite)
    assert done.returncode == 0, done.stderr
    assert [entry["origin"] for entry in json.loads(suite.read_text())["cases"]] == ["relu"]
    assert "left out: ai.onnx.Cast, 2 calls: a value that a run does not expose" in done.stderr


def test_a_model_with_the_lowest_number_of_its_type_is_captured_and_runs(
    command: Command, models: Path, tmp_path: Path
) -> None:
    suite, output = tmp_path / "suite.json", tmp_path / "run.json"
    done = command("capture", models / "masked.onnx", "--output", suite)
    assert done.returncode == 0, done.stderr
    done = command("run", "--suite", suite, "--runs", 1, "--warmup", 0, "--output", output)
    assert [record["status"] for record in json.loads(output.read_text())["records"]] == ["ok", "ok"], done.stderr


@pytest.mark.parametrize(
    ("rate", "origins"),
    [
        (
            16000,
            ["equal", "greater", "rates/dense", "rates/volume/relu", "rates/volume/again", "rates/tanh", "z", "abs"],
        ),
        (8000, ["equal", "greater", "rates/neg, rates/neg2", "abs"]),
    ],
)
def test_a_branch_too_large_for_a_case_is_entered_where_it_was_taken(
    rate: int, origins: list[str], command: Command, models: Path, tmp_path: Path
) -> None:
    suite, output = tmp_path / "suite.json", tmp_path / "run.json"
    given = ("--input", "x=4x256", "--input", f"rate=literal:[{rate}]")
    done = command("capture", models / "rates.onnx", *given, "--output", suite)
    assert done.returncode == 0, done.stderr
    assert [entry["origin"] for entry in json.loads(suite.read_text())["cases"]] == origins
    assert "left out" not in done.stderr
    done = command("run", "--suite", suite, "--runs", 1, "--warmup", 0, "--output", output)
    assert {record["status"] for record in json.loads(output.read_text())["records"]} == {"ok"}, done.stderr


def test_a_loop_too_large_for_a_case_is_entered_as_often_as_it_turns(
    command: Command, models: Path, tmp_path: Path
) -> None:
    suite, output = tmp_path / "suite.json", tmp_path / "run.json"
    done = command("capture", models / "windows.onnx", "--output", suite)
    assert done.returncode == 0, done.stderr
    counts = {entry["origin"]: entry["count"] for entry in json.loads(suite.read_text())["cases"]}
    assert counts == {
        "windows/outer_next, windows/refine/inner_next": 3 + 3 * 2,
        "windows/window": 3,
        "windows/sum": 3,
        "windows/refine/up": 3 * 2,
        "windows/refine/down": 3 * 2,
        "abs": 1,
    }
    assert "left out: ai.onnx.Loop, 1 call: a graph of " in done.stderr
    done = command("run", "--suite", suite, "--runs", 1, "--warmup", 0, "--output", output)
    assert {record["status"] for record in json.loads(output.read_text())["records"]} == {"ok"}, done.stderr


def test_a_size_of_minus_one_is_open(command: Command, models: Path) -> None:
    done = command("capture", models / "rates.onnx")
    assert done.returncode == 0, done.stderr
    assert "input x: ? set to 1; choose another shape with `--input x=1x256`" in done.stderr
