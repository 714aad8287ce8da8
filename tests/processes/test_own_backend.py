"""The backend of the how-to: one file, a library that opperf does not know, ten operators, measured and compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.functional.conftest import invoke

from opperf.catalog import catalog
from opperf.domain.registry import FRAMEWORKS, PRESETS
from opperf.parent.sources.plugin_file import declared_framework

FILE = Path(__file__).parents[2] / "examples" / "backends" / "mlx_backend.py"
pytestmark = pytest.mark.usefixtures("forked_children", "few_rounds")

OPERATORS = ("add", "multiply", "exp", "tanh", "sigmoid", "softmax", "sum", "matmul", "transpose", "gelu")


#: Runs a command with the backend's file, and returns its document.
Command: TypeAlias = Callable[..., dict[str, Any]]


@pytest.fixture
def opperf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run commands in this process, in an empty folder, which know the library for this test alone."""
    monkeypatch.chdir(tmp_path)
    for table in (FRAMEWORKS, PRESETS):
        monkeypatch.setitem(table, "mlx", None)  # put back as it was: not there
        del table["mlx"]

    def run(*words: str) -> dict[str, Any]:
        output = tmp_path / "out.json"
        output.unlink(missing_ok=True)
        done = invoke(*words, "--plugin", FILE, "--output", output)
        assert output.exists(), done.err
        document: dict[str, Any] = json.loads(output.read_text())
        return document

    return run


def test_its_operators_are_measured_and_right_and_what_it_does_not_have_is_skipped(opperf: Command) -> None:
    small = ("--size", "small", "--trial-budget", "0.05")
    document = opperf("run", *OPERATORS, "relu", "--framework", "mlx", *small)
    records = {(one["case"]["operator"], one["direction"]): one for one in document["records"]}
    for name in OPERATORS:
        record = records[name, "forward"]
        assert record["status"] == "ok", (name, record["reason"])
        assert record["facts"]["checked"].startswith("against NumPy"), name
        assert record["facts"]["version"] == "0.32.4"
    assert records["relu", "forward"]["reason"]["message"] == "mlx has no `relu`: not bound yet"


def test_it_is_compared_with_numpy(opperf: Command) -> None:
    sides = ("--base", "numpy", "--new", "mlx", "--size", "small")
    few = ("--pairs", "3", "--tolerance", "1000%")
    (comparison,) = opperf("compare", "matmul", *sides, *few)["comparisons"]
    assert (comparison["status"], comparison["new"]["framework"]) == ("ok", "mlx")
    assert comparison["verdict"] in ("slower", "faster", "same", "inconclusive")  # by how busy the machine is
    assert comparison["memory"] == {}  # MLX does not tell


def test_its_own_names_are_measured_and_functions_that_load_files_are_not(opperf: Command) -> None:
    words = ("--framework", "mlx", "--input", "a=8x8", "--input", "b=8x8", "--trial-budget", "0.05")
    (record,) = opperf("run", "mlx:mx.logaddexp", *words)["records"]
    assert (record["side"]["implementation"], record["status"]) == ("mx.logaddexp", "ok")
    with pytest.raises(AssertionError, match=r"no operator `mlx:mx\.load`"):
        opperf("run", "mlx:mx.load", *words)


@pytest.mark.parametrize("limit", [250])
def test_it_is_one_short_file_of_operators_of_the_catalog(limit: int) -> None:
    text = FILE.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= limit
    own = declared_framework(FILE)
    assert own is not None
    assert own.name == "mlx"
    assert set(OPERATORS) <= set(catalog())
