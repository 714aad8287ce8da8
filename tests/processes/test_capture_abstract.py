"""Models captured by shapes alone: the same calls as when they run, and no memory."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.conftest import XLA_FLAGS
from tests.in_environment import printed

SCRIPT = Path(__file__).with_name("abstract_torch.py")


@pytest.fixture(scope="module")
def told(one_cache: Path) -> dict[str, Any]:
    """What a Python that has PyTorch says of both ways to capture."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPPERF_CACHE_DIR", str(one_cache))
        return json.loads(printed("torch", SCRIPT))  # type: ignore[no-any-return]


def test_the_same_operators_are_captured_by_shapes_alone_as_in_a_run(told: dict[str, Any]) -> None:
    counts = told["differences"]
    assert len(counts) == 9
    assert {model: unlike for model, unlike in counts.items() if not isinstance(unlike, int)} == {}
    assert counts["lenet_torch:training_step"] == 57


def test_a_model_that_no_address_space_holds_is_captured(told: dict[str, Any]) -> None:
    calls, *assumed = told["huge"]
    assert calls > 10
    (number,) = assumed
    assert number.startswith("assumed: a number that the program reads is 1.0 (abstract_torch.py:")


def test_what_is_assumed_of_values_is_said_with_the_lines_that_ask(told: dict[str, Any]) -> None:
    truth, most = told["reading"]
    assert truth.startswith("assumed: a truth that the program reads is False (abstract_torch.py:")
    assert most.startswith("assumed: all elements of a mask are true, and no value is zero or occurs twice (abstract_")


def test_what_decides_a_shape_is_not_assumed(told: dict[str, Any]) -> None:
    number, counts = told["length"]
    assert number.startswith("it reads a whole number from a tensor at abstract_torch.py:")
    assert counts.startswith("the result of `bincount` at abstract_torch.py:")


def said_by(framework: str) -> Any:
    """Return what a script says of both ways to capture, in the environment of a framework."""
    script = SCRIPT.with_name(f"abstract_{framework}.py")
    return json.loads(printed(framework, script, JAX_PLATFORMS="cpu", XLA_FLAGS=XLA_FLAGS))


def test_jax_traces_what_it_would_run_and_allocates_nothing() -> None:
    said = said_by("jax")
    counts = said["differences"]
    assert len(counts) == 5
    assert {model: unlike for model, unlike in counts.items() if not isinstance(unlike, int)} == {}
    assert (counts["lenet_jax:training_step"], said["huge"]) == (109, ["dot_general", "tanh"])
    assert said["refusal"].startswith("it reads an array or waits for one, which tracing does not allow")


def test_tensorflow_and_keras_build_the_graphs_that_would_run_and_allocate_nothing() -> None:
    said = said_by("tensorflow")
    counts = said["differences"]
    assert len(counts) == 6
    assert {model: unlike for model, unlike in counts.items() if not isinstance(unlike[0], int)} == {}
    assert counts["lenet_tensorflow:training_step"] == [76, 0]  # calls, and among them those left out
    calls, largest = said["huge"]
    assert (calls > 30, largest, said["gigabytes"] < 4) == (True, 2**42, True)
    *operators, assumed = said["masked"]
    assert assumed == "assumed: all elements of a mask are true"
    name, why = operators[0][-1]
    assert name == "tf.raw_ops.StatelessIf"
    assert why.startswith("it is not entered: ")
    assert ["tf.raw_ops.Exp", [6, 4]] in operators[0]
    assert said["refusal"].startswith("it reads a tensor, which tracing does not allow")


def test_mxnet_infers_what_would_run_and_allocates_nothing() -> None:
    said = said_by("mxnet")
    counts = said["differences"]
    assert len(counts) == 5
    assert {model: unlike for model, unlike in counts.items() if not isinstance(unlike, int)} == {}
    assert counts["lenet_mxnet:training_step"] == 30
    assert (said["large"], said["gigabytes"] < 4) == (67, True)
    reading, masking = said["refusals"]
    assert reading == "it reads an array, which has no values by shapes alone"
    assert masking.startswith("the shape of what `_contrib_boolean_mask` returns depends on values")


@pytest.mark.usefixtures("forked_children")
def test_a_framework_without_shapes_refuses(
    command: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text("def step():\n    return []\n")
    done = command("capture", f"{tmp_path}/mine.py:step", "--framework", "numpy", "--abstract")
    assert (done.returncode, done.stdout) == (2, "")
    assert "opperf cannot capture numpy by shapes alone\n\nhint: leave out `--abstract`\n" in done.stderr
    done = command("capture", "model.onnx", "--abstract")
    assert (done.returncode, "`model.onnx` is captured as it runs" in done.stderr) == (2, True)
