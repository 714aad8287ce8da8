"""Loops in C and C++ on real frameworks: their results are those of Python, and their times lie below."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from opperf.domain.backend import Unsupported
from opperf.domain.extension import build

pytestmark = [
    pytest.mark.skipif(
        not (shutil.which("cc") and shutil.which("c++")), reason="there is no compiler for C and C++ here"
    ),
    pytest.mark.usefixtures("forked_children"),
]

#: Runs a command whose calls are made without Python too, and returns its records.
Run: TypeAlias = Callable[..., list[dict[str, Any]]]

SOURCE = "int opperf_answer(void) { return 42; }\n"


@pytest.fixture
def run(command: Callable[..., subprocess.CompletedProcess[str]]) -> Run:
    """Run operators, and let no call of Python's be the only way."""

    def records(*words: object, **variables: str) -> list[dict[str, Any]]:
        done = command("run", *words, "--loop", "native", "--runs", "20", "--format", "json", **variables)
        assert done.returncode == 0, done.stderr
        result: list[dict[str, Any]] = json.loads(done.stdout)["records"]
        return result

    return records


def slugs(record: dict[str, Any]) -> set[str]:
    """Return what the warnings of a record are about."""
    return {warning["slug"] for warning in record["warnings"]}


def test_pytorch_runs_in_cpp_forward_and_backward(run: Run) -> None:
    for record in run("softmax", "dropout", "--framework", "torch", "--size", "small"):
        assert "time_native" in record["metrics"], record["warnings"]
        assert record["metrics"]["python_share"]["value"] < 1


def test_a_composition_of_pytorch_runs_in_cpp_call_by_call(run: Run, tmp_path: Path) -> None:
    code = tmp_path / "own.py"
    code.write_text(
        "import torch\n\n\n"
        "def chain(x: torch.Tensor) -> torch.Tensor:\n"
        "    parts = torch.split(x.exp(), 2)\n"
        "    return torch.cat([part * 2 for part in parts])[:, [1, 0]]\n\n\n"
        "def outside(x: torch.Tensor) -> torch.Tensor:\n"
        "    return torch.from_numpy(x.numpy() * 2)\n"
    )
    words = ("--framework", "torch", "--direction", "forward", "--input", "x=4x2")
    (chain,) = run(f"{code}:chain", *words)
    assert "time_native" in chain["metrics"], chain["warnings"]
    (outside,) = run(f"{code}:outside", *words)
    assert "time_native" not in outside["metrics"]
    assert "not_native" in slugs(outside)


def test_compiled_code_of_pytorch_is_measured_from_python_only(run: Run) -> None:
    words = ("add", "--framework", "torch", "--size", "small", "--direction", "forward", "--mode", "compiled")
    (record,) = run(*words, TORCHDYNAMO_DISABLE="1")  # to compile takes 20 s; the mode is what tells
    assert "time" in record["metrics"]
    assert "not_native" in slugs(record)


def test_mxnet_runs_by_its_c_api(run: Run) -> None:
    words = ("--input", "lhs=8x8", "--input", "rhs=8x8", "--direction", "forward")

    def is_faster() -> bool:
        (record,) = run("mxnet:nd.broadcast_add", *words)
        assert record["metrics"]["python_share"]["value"] < 1
        return bool(record["metrics"]["time_native"]["min"] < record["metrics"]["time"]["min"])

    assert any(is_faster() for _ in range(5))  # other work may begin between the two


def test_numpy_runs_what_is_written_in_c_and_says_what_is_not(run: Run) -> None:
    add, mean = run("add", "mean", "--framework", "numpy", "--size", "small")[::2]
    assert "time_native" in add["metrics"]
    assert "not_native" in slugs(mean)


def test_jax_says_why_it_is_called_from_python_only(run: Run) -> None:
    (record,) = run("add", "--framework", "jax", "--size", "small", "--direction", "forward")
    assert "no_native_loop" in slugs(record)


def test_a_library_is_compiled_once(tmp_path: Path) -> None:
    source = tmp_path / "answer.c"
    source.write_text(SOURCE)
    library = build(source, tmp_path / "cache")
    before = library.stat().st_mtime_ns
    assert build(source, tmp_path / "cache").stat().st_mtime_ns == before
    assert build(source, tmp_path / "cache", key="other version") != library
    assert {path.suffix for path in (tmp_path / "cache").iterdir()} == {".so"}


def test_what_a_compiler_refuses_is_the_reason(tmp_path: Path) -> None:
    source = tmp_path / "answer.c"
    source.write_text("int answer(void) { return nothing_of_that_name; }\n")
    with pytest.raises(Unsupported, match="nothing_of_that_name"):
        build(source, tmp_path / "cache")
    assert not list((tmp_path / "cache").iterdir())
