"""The operators of a user's function in MXNet and JAX, captured in their own environments, run again by themselves."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.conftest import XLA_FLAGS
from tests.in_environment import printed

HERE = Path(__file__).parent
MODELS = HERE.parents[1] / "examples" / "models"
BENCHMARKS = HERE.parents[1] / "benchmarks"
STEPS = BENCHMARKS / "capture_rerun_models"
Command = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.usefixtures("forked_children")

#: The layers of LeNet, the loss, and two updates of four parameters each; `relu` is an activation.
LENET = {
    **dict.fromkeys(("Convolution", "Pooling", "FullyConnected"), 2),
    "Activation": 3,
    **dict.fromkeys(("Flatten", "log_softmax", "pick", "_mul_scalar", "mean"), 1),
}
#: How the numbers of a case are that are those of the captured call.
SAME = ("the same bits", "the same numbers")
LOOP = """
import jax
import jax.numpy as jnp

table = jnp.arange(12.0).reshape(4, 3)
places = jnp.array([3, 0, 2])

@jax.jit
def turned(data):
    with jax.named_scope("loop"):
        return jax.lax.scan(lambda carry, row: (jnp.sin(carry) + row, None), data, table)[0]

def step():
    return turned(table[places].sum(0))

def reads():
    return float(table.sum())
"""


def in_environment(framework: str, *words: object) -> Any:
    """Run a script in the environment of a framework, and return what it prints."""
    return json.loads(printed(framework, *words, JAX_PLATFORMS="cpu", XLA_FLAGS=XLA_FLAGS))


def test_every_operator_of_mxnet_runs_alone_forward_and_backward_imperative_and_hybridized() -> None:
    own = HERE / "captured_models_mxnet.py"
    paths = [f"{MODELS}/lenet_mxnet.py:training_step", f"{own}:lenet_hybridized", f"{own}:normalized"]
    lenet, hybridized, normalized, imperative = in_environment(
        "mxnet", BENCHMARKS / "rerun_mxnet.py", HERE, *paths, f"{own}:imperative"
    )
    gradients = {f"{name} backward": count for name, count in LENET.items()}
    assert lenet["names"] == hybridized["names"] == {**LENET, **gradients, "multi_sgd_update": 2}
    assert {"lenet_conv0", "lenet_conv0_relu", "lenet_dense1", ""} < {*lenet["modules"]}
    layers, graph = ([name for name in one["modules"] if name.startswith("lenet")] for one in (lenet, hybridized))
    assert layers == graph
    assert [result["unlike"] for result in (lenet, hybridized, normalized, imperative)] == [[]] * 4
    # Gradients too; those that are added up, and what dropout draws, nobody can know.
    assert {*lenet["numbers"], *hybridized["numbers"]} <= {*SAME}
    assert {*normalized["numbers"]} <= {*SAME, "drawn"}
    assert (normalized["numbers"]["drawn"], imperative["numbers"]["not seen"]) == (2, 2)
    assert {"BatchNorm", "BatchNorm backward", "Dropout", "Dropout backward", "adam_update"} <= {*normalized["names"]}
    assert imperative["names"]["add_n"] == 2
    assert (imperative["names"]["slice backward"], imperative["names"]["exp"]) == (2, 1)
    assert "exp backward" not in imperative["names"]


def test_every_equation_of_jax_runs_alone_with_the_numbers_of_its_program() -> None:
    paths = f"{STEPS}/mlp_jax.py:training_step", f"{HERE}/captured_models_jax.py:unusual"
    mlp, unusual = in_environment("jax", BENCHMARKS / "rerun_jax.py", HERE, *paths)
    assert mlp["unlike"] == []
    assert mlp["calls"] > mlp["cases"] > 40
    # Keys stand for what is drawn, so that nothing is left out.
    assert {*mlp["numbers"], *unusual["numbers"]} <= {*SAME}
    assert [name for name, *_ in unusual["unlike"]] == ["pure_callback"], unusual["unlike"]
    assert {"sinh", "cosh", "tan", "scatter-max", "scatter-mul", "random_gamma", "fft"} <= {*unusual["names"]}


def test_a_program_of_jax_is_captured_unfused_and_measured_from_its_suite(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(LOOP)
    suite, output = tmp_path / "own.json", tmp_path / "run.json"
    done = command("capture", "own:step", "--framework", "jax", "--output", suite)
    assert done.returncode == 0, done.stderr
    written = json.loads(suite.read_text())
    assert written["source"] == "own:step, unfused"
    entries = {entry["case"]["operator"]: entry for entry in written["cases"]}
    turned = entries["jax:primitive.sin"]
    assert (turned["count"], turned["origin"]) == (4, "turned.loop")
    # As the program runs without opperf, which measures where floats of 64 bits are allowed.
    assert turned["case"]["inputs"] == {"operand0": {"shape": [3], "dtype": "float32"}}
    assert entries["jax:primitive.gather"]["case"]["inputs"]["operand1"]["range"] == [0, 4]

    done = command("run", "--suite", suite, "--framework", "jax", "--runs", 1, "--warmup", 0, "--output", output)
    assert done.returncode == 0, done.stderr
    records = json.loads(output.read_text())["records"]
    assert [record["status"] for record in records] == ["ok"] * len(written["cases"])


def test_a_program_of_jax_may_read_what_it_computes(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(LOOP)
    done = command("capture", "own:reads")  # whose framework is found in its text
    assert done.returncode == 0, done.stderr
    assert [entry["case"]["operator"] for entry in json.loads(done.stdout)["cases"]] == ["jax:primitive.reduce_sum"]
    done = command("capture", "own:reads", "--environment", "jax==0.4.30")
    assert (done.returncode, done.stdout) == (2, "")
    assert "error: `own:reads`: it reads an array or waits for one, which tracing does not allow" in done.stderr
    assert "hint: return the array, and read it outside the function\n" in done.stderr


def test_every_operator_of_tensorflow_with_open_dimensions_runs_alone_with_the_numbers_of_its_program() -> None:
    own = (f"{HERE}/captured_models_tensorflow.py:{name}" for name in ("open_dimensions", "turns"))
    result, loop = in_environment("tensorflow", BENCHMARKS / "rerun_tensorflow.py", HERE, *own)
    # The shape of a variable is read, as its value is; everything else of the step has a case.
    assert {name for name, *_ in result["unlike"]} <= {"tf.raw_ops.VariableShape"}
    assert {*result["numbers"]} <= {*SAME}
    for name in ("BatchMatMulV2", "Tanh", "TanhGrad", "Softmax", "GatherV2", "Transpose", "Where"):
        assert name in {one.rpartition(".")[2] for one in result["names"]}
    # Lists of tensors are no arguments of a case; what computes with tensors has one, in loops and branches too.
    others = {name for name, why, *_ in loop["unlike"] if "is a list of tensors" not in why}
    assert others <= {"tf.raw_ops.VariableShape"}
    assert {*loop["numbers"]} <= {*SAME}
    for name in ("MatMul", "Tanh", "TanhGrad", "Exp"):
        assert name in {one.rpartition(".")[2] for one in loop["names"]}
    assert "tf.raw_ops.Sin" not in loop["names"]


def test_tensorflows_own_clock_tells_the_time_of_the_kernel_without_python(command: Command, tmp_path: Path) -> None:
    output = tmp_path / "run.json"
    case = ("tensorflow:tf.raw_ops.Tanh", "--input", "x=64x64", "--direction", "forward")
    done = command("run", *case, "--clock", "profiler", "--runs", 5, "--output", output)
    assert done.returncode == 0, done.stderr
    (record,) = json.loads(output.read_text())["records"]
    time = record["metrics"]["time"]
    assert (time["clock"], time["sync"]) == ("profiler", "operator")
    assert time["samples"]
    assert time["min"] > 0
    assert "cpu_time" not in record["metrics"]
