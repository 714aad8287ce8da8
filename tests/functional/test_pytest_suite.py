"""Tests that call `benchmark` are measured inside themselves: what pytest collects is a case, and asserts hold."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.functional.conftest import Done
from tests.functional.suites import Records, check_refused, records_of

Opperf = Callable[..., Done]
FILES = {
    "pytest.ini": """
[pytest]
required_plugins = pytest-benchmark
addopts = --benchmark-disable --benchmark-columns min,max --benchmark-warmup
""",
    "conftest.py": """
import pytest

LOG = []

@pytest.fixture(scope="module")
def table():
    LOG.append("made")
    yield [3, 1, 2]
    LOG.append("taken down")

def pytest_benchmark_update_json(config, benchmarks, output_json):
    pass
""",
    "bench/test_good.py": """
import contextvars, os, threading
import numpy as np
import pytest
from conftest import LOG

STATE = contextvars.ContextVar("state", default="outside")
LOCAL = threading.local()

@pytest.mark.parametrize("kind", ["quicksort", "stable"])
@pytest.mark.parametrize("n", [10, 30])
def test_sort(benchmark, n, kind):
    x = np.arange(n)[::-1].copy()
    y = benchmark(np.sort, x, kind=kind)
    assert y[0] == 0 and x[0] == n - 1

@pytest.mark.parametrize("function", [np.sum, np.max])
def test_function(benchmark, function):
    assert benchmark(function, np.ones(3)) in (1, 3)

def test_in_place(benchmark, table):
    def sort():
        assert table[0] == 3
        table.sort()
    benchmark(sort)
    assert table == [1, 2, 3]
    table[:] = [3, 1, 2]

def test_argument_in_place(benchmark):
    x = np.arange(5)[::-1].copy()
    def sort(x):
        assert x[0] == 4
        x.sort()
    benchmark(sort, x)
    assert list(x) == [0, 1, 2, 3, 4]

def test_shared(benchmark, table):
    assert LOG[-1] == "made" and table == [3, 1, 2]
    benchmark(len, table)

def test_states(benchmark):
    def look():
        assert np.geterr()["divide"] == "raise" and STATE.get() == "inside" and LOCAL.here == 1
    token, LOCAL.here = STATE.set("inside"), 1
    with np.errstate(divide="raise"):
        benchmark(look)
    STATE.reset(token)
    del LOCAL.here

def test_setup(benchmark):
    calls = []
    def setup():
        calls.append("setup")
        return ([3, 2, 1],), {"reverse": False}
    def sort(values, reverse):
        assert values[0] == 3 and calls == ["setup"]
        calls.append("call")
        values.sort(reverse=reverse)
        return values
    def teardown(values, reverse):
        assert values[0] == 1
        calls.clear()
    assert benchmark.pedantic(sort, setup=setup, teardown=teardown, rounds=10) == [1, 2, 3]
    assert not calls

def test_stats(benchmark):
    benchmark.extra_info["size"] = 3
    benchmark(sum, [1, 2])
    assert 0 < benchmark.stats["min"] <= benchmark.stats.stats.mean and benchmark.stats.stats.rounds > 1

def test_after_the_folder_is_changed(benchmark):
    assert os.path.exists("pytest.ini")
    benchmark(sum, [])

def test_no_benchmark():
    raise AssertionError("is no case")
""",
    "bench/test_bad.py": """
import os, sys
import pytest

@pytest.fixture
def broken():
    raise ValueError("no luck")

@pytest.fixture
def bad_end():
    yield
    raise ValueError("at the end")

def test_assertion(benchmark):
    assert benchmark(sum, [1, 2]) == 4

def test_call(benchmark):
    with pytest.raises(ZeroDivisionError):
        benchmark(lambda: 1 / 0)

def test_fixture(benchmark, broken):
    benchmark(sum, [])

def test_end(benchmark, bad_end):
    benchmark(sum, [])

def test_no_fixture(benchmark, nowhere):
    benchmark(sum, [])

def test_twice(benchmark):
    benchmark(sum, [])
    benchmark(len, [])

def test_never(benchmark):
    pass

def test_weave(benchmark_weave):
    benchmark_weave(os.getcwd)

def test_leaves(benchmark):
    sys.exit(3)

def test_leaves_in_call(benchmark):
    benchmark(sys.exit, 4)

def test_ends_session(benchmark):
    pytest.exit("enough")

def test_prints(benchmark):
    benchmark(lambda: print("x" * 100_000))

def test_moves(benchmark):
    benchmark(os.chdir, "/")

def test_skips(benchmark):
    pytest.skip("not today")

@pytest.mark.skipif(True, reason="not here")
def test_skip(benchmark):
    benchmark(sum, [])

def test_skips_silently(benchmark):
    pytest.skip()

@pytest.mark.xfail(reason="known")
def test_known(benchmark):
    benchmark(lambda: 1 / 0)

@pytest.mark.xfail(strict=True, reason="known")
def test_works(benchmark):
    benchmark(sum, [])

@pytest.mark.benchmark(rounds=3)
def test_mark(benchmark):
    benchmark(sum, [])

@pytest.mark.benchmark(group="sums", min_rounds=3)
def test_group(benchmark):
    assert benchmark.group == "sums"
    benchmark(sum, [])
""",
    "bench/test_broken.py": "x = 1\nimport nothing_here\n",
    "bench/test_left.py": "raise SystemExit(5)\n",
    "bench/test_optional.py": "import pytest\npytest.importorskip('nothing_here')\ndef test_it(benchmark): pass\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tests of pytest-benchmark."""
    folder = tmp_path_factory.mktemp("tests")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def records(folder: Path, one_cache: Path, forked_children: None) -> Records:
    """The records of all tests, by file, name and parameters."""
    return records_of("pytest:bench", "bench/test_", folder, one_cache)


def test_the_cases_are_those_that_pytest_collects(records: Records, folder: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-p", "opperf.pytest", "--collect-only", "-q"]
    command += ["-o", "addopts=", "-o", "required_plugins=", "-p", "no:cacheprovider"]
    listed = subprocess.run([*command, "bench"], cwd=folder, capture_output=True, text=True, check=False).stdout
    names = [line.removeprefix("bench/test_") for line in listed.splitlines() if line.startswith("bench/")]
    own = [record["case"] for record in records.values() if "::" in record["case"]["operator"]]
    tests = [name.partition("[")[0] for name in names if not name.endswith("test_no_benchmark")]
    assert sorted(case["operator"].removeprefix("bench/test_") for case in own) == sorted(tests)
    assert [case["attributes"] for case in own if case["operator"].endswith("test_sort")] == [
        {"n": n, "kind": kind} for n in (10, 30) for kind in ("quicksort", "stable")
    ]
    assert [case["attributes"] for case in own if case["operator"].endswith("test_function")] == [
        {"id": "sum"},
        {"id": "max"},
    ]


def test_good_tests_are_measured(records: Records) -> None:
    good = {key: record for key, record in records.items() if str(key[0]).startswith("good.py::")}
    assert {key: record["reason"] for key, record in good.items() if record["status"] != "ok"} == {}
    assert len(good) == 13
    assert records["good.py::test_setup",]["facts"]["mutates"] == "made anew before each call"
    assert records["good.py::test_in_place",]["facts"]["mutates"] == "table: restored before each call"
    assert records["good.py::test_argument_in_place",]["facts"]["mutates"] == "x: restored before each call"
    assert "mutates" not in records["good.py::test_sort", 30, "stable"]["facts"]
    assert records["good.py::test_sort", 30, "stable"]["side"]["implementation"] == "pytest:bench"


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [
        ("test_assertion", "failed", "assert 3 == 4"),
        ("test_call", "failed", "division by zero"),
        ("test_fixture", "failed", "no luck"),
        ("test_end", "failed", "at the end"),
        ("test_no_fixture", "failed", "there is no fixture `nowhere`"),
        ("test_twice", "failed", "this test has called `benchmark(...)` before"),
        ("test_never", "skipped", "the test has not called its `benchmark`"),
        ("test_weave", "skipped", "`weave` times calls that a program makes by itself"),
        ("test_leaves", "failed", "it called `sys.exit(3)`"),
        ("test_leaves_in_call", "failed", "it called `sys.exit(4)`"),
        ("test_ends_session", "failed", "enough"),
        ("test_prints", "ok", ""),
        ("test_moves", "ok", ""),
        ("test_skips", "skipped", "pytest: skipped: not today"),
        ("test_skips_silently", "skipped", "pytest: skipped"),
        ("test_skip", "skipped", "pytest: skipped: not here"),
        ("test_known", "skipped", "pytest: expected to fail: known"),
        ("test_works", "failed", "[XPASS(strict)] known"),
        ("test_mark", "failed", "the mark `benchmark` has rounds, expected some of max_time"),
        ("test_group", "ok", ""),
    ],
)
def test_a_test_that_is_not_measured_is_one_record(name: str, status: str, message: str, records: Records) -> None:
    record = records[f"bad.py::{name}",]
    assert (record["status"], (record["reason"] or {"message": ""})["message"][: len(message)]) == (status, message)


def test_a_file_that_is_not_collected_is_one_record(records: Records) -> None:
    assert "No module named 'nothing_here'" in records["broken.py",]["reason"]["message"]
    assert records["left.py",]["reason"]["message"] == "cannot collect `bench/test_left.py`: SystemExit: 5"


def test_nothing_is_left_beside_the_tests(records: Records, folder: Path) -> None:
    names = {path.name for path in folder.rglob("*") if "__pycache__" not in path.parts and path.name != "__pycache__"}
    assert names == {"bench", *(Path(name).name for name in FILES)}


def test_a_pattern_selects_by_node_id(opperf: Opperf, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for pattern in (r"test_sort\[30-", r"test_sort\(30", r"test_function\[(sum|max)\]"):
        done = opperf("run", "pytest:bench/test_good.py", "--select", pattern, "--dry-run", "--format", "csv")
        assert len(done.out.splitlines()) == 3, done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("pytest:",), "`pytest:` names no benchmarks, expected a folder behind `pytest:`"),
        (("pytest:nowhere",), "there is no `nowhere`"),
        (("pytest:broken",), "cannot collect its files: broken/test_it.py: ModuleNotFoundError: No module named"),
        (("pytest:broken",), "as in `--environment 'numpy==2.4.6 + nothing_here'`"),
        (("pytest:empty",), "`pytest:empty` has no benchmarks"),
        (("pytest:settings",), "pytest does not start: "),
        (("pytest:good", "--select", "fast"), "`pytest:good` has no benchmark that `--select fast` matches"),
        (("pytest:good", "--size", "small"), "`--size` does not apply to `pytest:good`"),
    ],
)
def test_bad_input_is_one_message(words: tuple[str, ...], message: str) -> None:
    files = {
        "empty/test_it.py": "def test_it(): pass\n",
        "broken/test_it.py": "import nothing_here\n",
        "settings/pytest.ini": "[pytest]\naddopts = --nothing-of-this\n",
        "settings/test_it.py": "def test_it(benchmark): pass\n",
        "good/test_it.py": "def test_it(benchmark): benchmark(sum, [])\n",
    }
    check_refused(words, message, files)
