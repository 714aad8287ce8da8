"""Each real framework once, by the commands of its users; `tests/conformance` has the rest.

NumPy is here. The others have environments of their own, which a package index fills: those tests are slow. Children
are forked: to import a framework takes longer than most of what they do.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.conformance.conftest import XLA_FLAGS
from tests.functional.conftest import Done, invoke, invoke_module

from opperf.domain.registry import FRAMEWORKS, REAL_FRAMEWORKS
from opperf.parent.workers.interpreters import imports_here

MODELS = Path(__file__).parents[2] / "examples" / "models"
#: As parameters of a test.
FRAMEWORK = [pytest.param(name, marks=[] if imports_here(name) else pytest.mark.slow) for name in REAL_FRAMEWORKS]
#: PyTorch's LeNet is captured and profiled where more is asked of that: `processes/test_capture.py`, `test_profile.py`.
LENETS = sorted({path.stem.removeprefix("lenet_") for path in MODELS.glob("lenet_*.py")} - {"torch"})
#: An operator of LeNet as each framework's profiler calls it, and one as it is captured.
PROFILED = {
    "mxnet": "Convolution",
    "jax": "convolution",
    "tensorflow": "MaxPool",
}
CAPTURED = {
    "mxnet": "mxnet:nd.FullyConnected",
    "jax": "jax:primitive.dot_general",
    "tensorflow": "tensorflow:tf.raw_ops.MatMul",
}

#: An operator that opperf has no definition of, an input of it, and a name that it does not have with the nearest one.
MISNAMED = {
    "numpy": ("numpy:np.nextafter", "x1=8", "x22=8", "x2"),
    "torch": ("torch:aten::mul_.Tensor", "self=8", "oter=8", "other"),
    "mxnet": ("mxnet:nd.sample_multinomial", "shape=8", "dtaa=8", "data"),
    "jax": ("jax:jax.lax.dynamic_update_slice", "operand=8", "updaet=8", "update"),
    "tensorflow": ("tensorflow:tf.raw_ops.ScatterNd", "indices=8x1", "updaets=8", "updates"),
    "onnxruntime": ("onnxruntime:ai.onnx.Sign", "input=8", "inptu=8", "input"),
}
#: Programs that compute integers which decide what an operator does, and masks.
COMPUTED_TENSORFLOW = """
import tensorflow as tf
x = tf.Variable(tf.random.normal((2, 8, 4, 16))); e = tf.Variable(tf.random.normal((50, 16)))
ids = tf.constant([[1, 2, 3], [4, 5, 6]])
@tf.function
def train():
    with tf.GradientTape() as t:
        picked = tf.nn.embedding_lookup(e, ids + tf.argmax(tf.zeros((3, 3)), output_type=tf.int32))
        loss = tf.reduce_sum(tf.square(tf.transpose(x, [0, 2, 1, 3]))) + tf.reduce_sum(tf.square(picked))
    g = t.gradient(loss, [x, e]); return g[0], tf.convert_to_tensor(g[1])
def step(): return train()
"""
COMPUTED_MXNET = """
from mxnet import nd, autograd
x = nd.random.normal(shape=(4, 48, 16)); x.attach_grad(); w = nd.random.normal(shape=(64, 16)); w.attach_grad()
def step():
    with autograd.record():
        pos = nd.contrib.arange_like(x, axis=1)
        L = ((x + nd.Embedding(pos, w, input_dim=64, output_dim=16)).square() * (x > 0)).sum()
    L.backward(); return L
"""

Command: TypeAlias = Callable[..., Done]

pytestmark = pytest.mark.usefixtures("forked_children", "few_rounds")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, one_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, from where programs are compiled in a hurry: they run once."""
    monkeypatch.setenv("XLA_FLAGS", XLA_FLAGS)
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(one_cache))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def command() -> Command:
    """Run a command to an end that must be good."""

    def run(*words: object) -> Done:
        done = invoke(*words)
        assert done.code == 0, done.err
        return done

    return run


def other_command(module: str, *words: object) -> None:
    """Run the command of a system that opperf succeeds to an end that must be good."""
    done = invoke_module(module, *words)
    assert done.code == 0, done.err


@pytest.mark.parametrize("framework", FRAMEWORK)
def test_an_operator_is_measured(framework: str, command: Command) -> None:
    words = ("run", "linear", "--framework", framework, "--size", "small", "--runs", "5")
    forward, backward = json.loads(command(*words, "--format", "json").out)["records"]
    assert (forward["direction"], forward["status"]) == ("forward", "ok")
    assert forward["metrics"]["time"]["median"] > 0
    assert forward["side"]["framework"] == framework
    assert backward["status"] == ("ok" if FRAMEWORKS[framework].gradients else "skipped")


@pytest.mark.parametrize("framework", FRAMEWORK)
def test_an_input_that_an_operator_of_the_framework_has_not_is_refused(framework: str) -> None:
    operator, right, wrong, near = MISNAMED[framework]
    done = invoke("run", operator, "--framework", framework, "--input", right, "--input", wrong)
    assert done.code == 2, done.out + done.err
    assert f"no input of {operator} `{wrong.partition('=')[0]}`" in done.err
    assert f"did you mean `{near}`?" in done.err


@pytest.mark.slow
def test_inputs_of_a_bound_path_may_have_the_names_of_its_schema(command: Command) -> None:
    words = ("torch:aten::sub.Tensor", "--framework", "torch", "--input", "other=5", "--input", "self=3x5")
    done = command("run", *words, "--dry-run")
    assert "lhs=3x5 rhs=5" in done.out


@pytest.mark.parametrize("framework", FRAMEWORK)
def test_two_sides_are_compared(framework: str, command: Command) -> None:
    sides = ("--base", framework, "--new", framework)
    # With so wide a tolerance the first pairs tell enough: each more starts two processes.
    few = ("--size", "small", "--pairs", "3", "--tolerance", "50%")
    (result,) = json.loads(command("compare", "add", *sides, *few, "--format", "json").out)["comparisons"]
    assert result["verdict"] in ("same", "slower", "faster", "inconclusive")
    assert 0.2 < result["ratio"] < 5


@pytest.mark.slow
@pytest.mark.parametrize("framework", LENETS)
def test_a_training_step_is_captured(framework: str, command: Command) -> None:
    script = MODELS / f"lenet_{framework}.py"
    command("capture", f"{script}:training_step", "--framework", framework, "--output", "suite.json")
    cases: list[dict[str, Any]] = json.loads(Path("suite.json").read_text())["cases"]
    assert CAPTURED[framework] in {entry["case"]["operator"] for entry in cases}


def captured(program: str, framework: str, command: Command) -> list[dict[str, Any]]:
    """Return the records of the suite of a program, all of whose cases run again."""
    Path("mine.py").write_text(program)
    command("capture", "mine.py:step", "--framework", framework, "--output", "suite.json")
    done = command("run", "--suite", "suite.json", "--runs", "3", "--format", "json")
    records: list[dict[str, Any]] = json.loads(done.out)["records"]
    assert [one["reason"]["message"] for one in records if one["status"] != "ok"] == []
    return records


@pytest.mark.slow
def test_what_a_gradient_of_tensorflow_computes_is_recorded_as_values(command: Command) -> None:
    records = captured(COMPUTED_TENSORFLOW, "tensorflow", command)
    inputs = {one["case"]["operator"].rpartition(".")[2]: one["case"]["inputs"] for one in records}
    assert inputs["UnsortedSegmentSum"]["num_segments"]["values"] == {"literal": [50]}
    assert inputs["UnsortedSegmentSum"]["segment_ids"]["values"] == {"literal": [1, 2, 3, 4, 5, 6]}
    assert inputs["InvertPermutation"]["x"]["values"] == {"literal": [0, 2, 1, 3]}


@pytest.mark.slow
def test_no_gradient_of_mxnet_goes_to_indices_and_masks(command: Command) -> None:
    records = captured(COMPUTED_MXNET, "mxnet", command)
    backward = {one["case"]["operator"]: one["case"]["inputs"] for one in records if one["direction"] == "backward"}
    assert backward["mxnet:nd.Embedding"]["data"]["requires_grad"] is False
    assert not [name for name in backward if "greater" in name or "arange" in name]


@pytest.mark.slow
@pytest.mark.parametrize("framework", LENETS)
def test_a_script_is_profiled(framework: str, command: Command) -> None:
    done = command("profile", "--format", "json", MODELS / f"lenet_{framework}.py")
    # On a processor with AVX-512, TensorFlow runs oneDNN's kernels instead of its own, and names them so.
    calls = {row["name"].removeprefix("_MklNative"): row["calls"] for row in json.loads(done.out)["rows"]}
    assert calls[PROFILED[framework]] >= 10, calls


@pytest.mark.slow
def test_a_config_of_param_is_measured_on_pytorch(here: Path) -> None:
    tensor = {"type": "tensor", "dtype": "float", "shape": [8, 8]}
    product = {"input_data_generator": "PyTorch:DefaultDataGenerator", "config": [{"input": [{"args": [tensor] * 2}]}]}
    (here / "config.json").write_text(json.dumps({"torch.mm": product}))
    other_command("opperf.compat.param", "-c", "config.json", "-w", "1", "-i", "3", "-o", "out.json")
    assert "measure.time" in (here / "out.json").read_text()


@pytest.mark.slow
def test_a_row_of_mxnets_own_benchmark_is_measured() -> None:
    words = ("--operator", "elemwise_add", "--warmup", "1", "--runs", "3", "-o", "out.json")
    other_command("opperf.compat.mxnet_opperf", *words)
    (row, *_) = json.loads(Path("out.json").read_text())["elemwise_add"]
    assert row["avg_time_forward_elemwise_add"] > 0


@pytest.mark.slow
def test_a_node_is_measured_in_onnx_runtime(command: Command) -> None:
    words = ("run", "onnxruntime:ai.onnx.Relu", "--input", "X=2x3", "--runs", "3", "--format", "json")
    (record,) = json.loads(command(*words).out)["records"]
    assert record["status"] == "ok"
