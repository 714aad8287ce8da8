"""`pytest -p opperf.pytest` takes the place of pytest-benchmark: its fixture, its options, its table and its JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.functional.conftest import Done

TESTS = """
import numpy as np
import pytest

@pytest.mark.benchmark(group="sorts")
@pytest.mark.parametrize("n", [10, 3000])
def test_sort(benchmark, n):
    x = np.arange(n)[::-1].copy()
    benchmark.extra_info["bytes"] = x.nbytes
    assert benchmark(np.sort, x)[0] == 0
    assert benchmark.enabled == (benchmark.stats is not None)

def test_in_place(benchmark):
    values = [3, 1, 2]
    def sort():
        assert values == [3, 1, 2]
        values.sort()
    benchmark.pedantic(sort, rounds=5)
    assert values == [1, 2, 3]

def test_plain():
    pass
"""
#: Another plugin's fixture and options, installed under the name of pytest-benchmark's plugin.
THEIRS = """
import pytest

def pytest_addoption(parser):
    parser.addoption("--benchmark-only")

@pytest.fixture
def benchmark():
    raise AssertionError("it is theirs")
"""


@pytest.fixture
def folder(here: Path) -> Path:
    """A folder with tests, and another plugin that is installed beside them."""
    (here / "pytest.ini").write_text("[pytest]\n")
    (here / "test_it.py").write_text(TESTS)
    (here / "their_plugin.py").write_text(THEIRS)
    (here / "theirs-1.0.dist-info").mkdir()
    (here / "theirs-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (here / "theirs-1.0.dist-info" / "entry_points.txt").write_text("[pytest11]\nbenchmark = their_plugin\n")
    return here


def run(folder: Path, *words: str) -> Done:
    command = [sys.executable, "-m", "pytest", "-p", "opperf.pytest", "-p", "no:cacheprovider", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


def test_tests_are_measured_and_kept(folder: Path, opperf: Callable[..., Done]) -> None:
    words = ("--benchmark-json", "times.json", "--benchmark-columns", "median,precision,rounds")
    done = run(folder, *words, "--benchmark-sort", "fullname")
    assert done.code == 0, done.out
    first, second = (done.out.index(title) for title in (" benchmark: 1 test ", " benchmark 'sorts': 2 tests "))
    assert first < second < done.out.index("test_sort[10]") < done.out.index("test_sort[3000]")
    assert "Median" in done.out
    assert "±" in done.out
    assert "StdDev" not in done.out
    assert "4 passed" in done.out
    benchmarks = json.loads((folder / "times.json").read_text())["benchmarks"]
    assert [one["fullname"] for one in benchmarks] == [
        "test_it.py::test_sort[10]",
        "test_it.py::test_sort[3000]",
        "test_it.py::test_in_place",
    ]
    assert benchmarks[1]["params"] == {"n": 3000}
    assert benchmarks[1]["extra_info"] == {"bytes": 24000}
    assert len(benchmarks[1]["stats"]["data"]) == benchmarks[1]["stats"]["rounds"] > 2
    imported = opperf("history", "import", "times.json", "--database", "kept.db")
    assert imported.code == 0, imported.err
    assert "test_it.py::test_sort" in opperf("history", "operators", "*", "--database", "kept.db").out


def test_nothing_is_measured_where_it_is_not_asked_for(folder: Path) -> None:
    disabled = run(folder, "--benchmark-disable")
    assert disabled.code == 0, disabled.out
    assert "4 passed" in disabled.out
    assert "Median" not in disabled.out
    assert "1 passed, 3 skipped" in run(folder, "--benchmark-skip").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--benchmark-only", "--benchmark-disable"), "`--benchmark-only` has nothing to measure"),
        (("--benchmark-min-rounds", "3"), "unrecognized arguments: --benchmark-min-rounds"),
        (("--benchmark-compare-fail=min:5%",), "--benchmark-compare-fail: refused: `opperf gate pytest:FOLDER --base"),
        (("--benchmark-columns", "speed"), "found speed, expected some of min, max, mean"),
        (("--benchmark-group-by", "colour"), "found colour, expected some of group, name"),
        (("--benchmark-json", "nowhere/times.json"), "found nowhere/times.json, expected a file that can be written"),
    ],
)
def test_a_wrong_option_is_one_message(words: tuple[str, ...], message: str, folder: Path) -> None:
    done = run(folder, *words)
    assert done.code == 4
    assert message in done.err
    assert "Traceback" not in done.err
