"""Loops in C and C++ on real frameworks: their results are those of Python, and their times lie below."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from opperf.domain.backend import Unsupported
from opperf.domain.extension import build

pytestmark = pytest.mark.skipif(
    not (shutil.which("cc") and shutil.which("c++")), reason="there is no compiler for C and C++ here"
)

SOURCE = "int opperf_answer(void) { return 42; }\n"


def run(cache: Path, *words: str, **variables: str) -> list[dict[str, Any]]:
    """Return the records of a run whose calls are made without Python too."""
    done = subprocess.run(
        [sys.executable, "-m", "opperf", "run", *words, "--loop", "native", "--runs", "20", "--format", "json"],
        env=os.environ | {"OPPERF_CACHE_DIR": str(cache)} | variables,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    records: list[dict[str, Any]] = json.loads(done.stdout)["records"]
    return records


def slugs(record: dict[str, Any]) -> set[str]:
    """Return what the warnings of a record are about."""
    return {warning["slug"] for warning in record["warnings"]}


def test_pytorch_runs_in_cpp_forward_and_backward(one_cache: Path) -> None:
    for record in run(one_cache, "softmax", "dropout", "--framework", "torch", "--size", "small"):
        assert "time_native" in record["metrics"], record["warnings"]
        assert record["metrics"]["python_share"]["value"] < 1


def test_a_composition_of_pytorch_runs_in_cpp_call_by_call(one_cache: Path, tmp_path: Path) -> None:
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
    (chain,) = run(one_cache, f"{code}:chain", *words)
    assert "time_native" in chain["metrics"], chain["warnings"]
    (outside,) = run(one_cache, f"{code}:outside", *words)
    assert "time_native" not in outside["metrics"]
    assert "not_native" in slugs(outside)


def test_compiled_code_of_pytorch_is_measured_from_python_only(one_cache: Path) -> None:
    words = ("add", "--framework", "torch", "--size", "small", "--direction", "forward", "--mode", "compiled")
    (record,) = run(one_cache, *words, TORCHDYNAMO_DISABLE="1")  # to compile takes 20 s; the mode is what tells
    assert "time" in record["metrics"]
    assert "not_native" in slugs(record)


def test_mxnet_runs_by_its_c_api(one_cache: Path) -> None:
    words = ("--input", "lhs=8x8", "--input", "rhs=8x8", "--direction", "forward")
    (record,) = run(one_cache, "mxnet:nd.broadcast_add", *words)
    assert record["metrics"]["python_share"]["value"] < 1
    assert record["metrics"]["time_native"]["min"] < record["metrics"]["time"]["min"]


def test_numpy_runs_what_is_written_in_c_and_says_what_is_not(one_cache: Path) -> None:
    add, mean = run(one_cache, "add", "mean", "--framework", "numpy", "--size", "small")[::2]
    assert "time_native" in add["metrics"]
    assert "not_native" in slugs(mean)


def test_jax_says_why_it_is_called_from_python_only(one_cache: Path) -> None:
    (record,) = run(one_cache, "add", "--framework", "jax", "--size", "small", "--direction", "forward")
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
