"""What PyTorch's operator benchmarks and their command line refuse, before anything is started."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.functional.conftest import Done

from opperf.compat.operator_benchmark.__main__ import main


@pytest.fixture
def files(here: Path) -> Path:
    """A file with tests, an empty folder, and results of another tool."""
    (here / "pt").mkdir()
    (here / "pt" / "add_test.py").write_text("import operator_benchmark\n")
    (here / "empty").mkdir()
    (here / "read.me").touch()
    (here / "other.csv").write_text("a,b\n1,2\n")
    return here


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere", "there is no file or folder `nowhere`"),
        ("empty", "`empty` holds no files `*_test.py`, expected operator benchmarks"),
        ("read.me", "`read.me` is no Python file, expected an operator benchmark"),
        ("", "`op_bench:` names no benchmarks, expected a folder behind `op_bench:`"),
    ],
)
def test_a_path_without_tests_is_one_message(path: str, message: str, opperf: Callable[..., Done], files: Path) -> None:
    done = opperf("run", f"op_bench:{path}")
    assert done.code == 2
    assert message in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no benchmarks"),
        (["pt", "--use-jit"], "`--use-jit` is refused: opperf does not script operators"),
        (["pt", "--wipe_cache"], "`--wipe-cache` is refused"),
        (["pt", "--framework", "Caffe2"], "`--framework Caffe2` is refused: only PyTorch is measured"),
        (["pt", "--omp-num-threads", "1", "--mkl-num-threads", "2"], "opperf gives both one number of threads"),
        (["pt", "--iterations", "3", "--min-time-per-test", "1"], "both say how long to sample"),
        (["pt", "--num-runs", "0"], "`--num-runs` is 0, expected a whole number >= 1"),
        (["pt", "--operator-range", "a-"], "`--operator-range` is `a-`, expected letters and ranges of them"),
        (["pt", "--output-csv", "other.csv"], "other.csv:1: found the columns a, b, expected those of a test"),
        (["nowhere"], "there is no file or folder `nowhere`"),
    ],
)
def test_flags_that_cannot_be_obeyed_are_one_message(
    words: list[str],
    message: str,
    files: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["operator_benchmark", *words])
    monkeypatch.setenv("COLUMNS", "999")
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    talk = capsys.readouterr().err
    assert message in talk
    assert "Traceback" not in talk
