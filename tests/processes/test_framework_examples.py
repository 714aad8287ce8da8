"""Examples in the environments of their frameworks: own operators, and scripts of a framework's user."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.functional.conftest import invoke
from tests.in_environment import printed

ROOT = Path(__file__).resolve().parents[2]
#: Scripts of a framework's user.
IN_ENVIRONMENTS = {
    "asynchronous_jax.py": "jax",
    "asynchronous_mxnet.py": "mxnet",
    "profile_block.py": "torch",
}

pytestmark = pytest.mark.usefixtures("forked_children")


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be in the folder of the project."""
    monkeypatch.chdir(ROOT)


def records(*words: str) -> list[dict[str, Any]]:
    """Run a command and return its records."""
    done = invoke("run", *words, "--runs", "3", "--format", "json")
    assert done.code == 0, done.err
    return done.records


def test_a_custom_operator_of_torch_stands_beside_the_frameworks_own() -> None:
    name = "examples.custom.fast_softmax:fast_softmax"
    result = records(name, "softmax", "--framework", "torch", "--input", "x=64x96")
    assert [record["status"] for record in result] == ["ok"] * 4
    assert [record["direction"] for record in result] == ["forward", "backward"] * 2
    mine, theirs = result[0], result[2]
    assert mine["case"] == theirs["case"]
    assert mine["facts"]["checked"] == "timed calls against torch:torch.nn.functional.softmax"


def test_a_custom_op_of_mxnet_is_measured_forward_and_backward() -> None:
    result = records("examples.custom.mxnet_swish:swish", "--framework", "mxnet", "--input", "data=32x32")
    assert [(record["direction"], record["status"]) for record in result] == [("forward", "ok"), ("backward", "ok")]


def test_a_jitted_function_of_jax_brings_sizes_a_count_and_a_reference() -> None:
    result = records(
        "examples.custom.jax_layer:dense_relu", "--framework", "jax", "--size", "small", "--direction", "forward"
    )
    (record,) = result
    assert record["facts"]["checked"] == "timed calls against its reference"
    assert record["metrics"]["flops"]["value"] == 2 * 8 * 16 * 32 + 2 * 8 * 32


def test_a_plain_function_of_numpy_takes_its_arguments_by_name() -> None:
    (record,) = records("examples.custom.numpy_norm:row_norms", "--framework", "numpy", "--input", "rows=16x8")
    assert record["status"] == "ok"
    assert record["case"]["inputs"]["rows"]["shape"] == [16, 8]


@pytest.mark.parametrize("name", IN_ENVIRONMENTS)
def test_a_script_runs_and_says_something(name: str, tmp_path: Path) -> None:
    assert printed(IN_ENVIRONMENTS[name], ROOT / "examples" / name, folder=tmp_path)
