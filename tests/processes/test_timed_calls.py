"""The user's own functions in children of their own: what is wrong in timed calls fails before there is a verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.functional.conftest import invoke

pytestmark = pytest.mark.usefixtures("folder", "forked_children")
MINE = """
import threading
import time
import numpy as np

cache = {}

def right(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

def by_address(x):
    key = x.ctypes.data
    if key not in cache:
        cache[key] = right(x)
    return cache[key]

def late(x):
    y = right(x)
    threading.Thread(target=lambda: (time.sleep(0.002), right(np.tile(x, (64, 1)))), daemon=True).start()
    return y
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder, with functions."""
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)


def opperf(*words: str) -> dict[str, Any]:
    """Return the document of a command."""
    document: dict[str, Any] = json.loads(invoke(*words, "--direction", "forward", "--format", "json").out)
    return document


def test_a_comparison_fails_where_a_timed_call_is_wrong() -> None:
    new = "mine.py:by_address;framework=numpy"
    words = ("compare", "softmax", "--input", "data=64x256", "--base", "numpy", "--new", new)
    (row,) = opperf(*words)["comparisons"]
    assert row["verdict"] == "failed"
    assert row["reason"].startswith("not measured: wrong result in timed call ")


def test_a_run_of_an_own_function_says_that_its_timed_calls_were_checked() -> None:
    words = ("run", "mine.py:right", "mine.py:by_address", "--framework", "numpy", "--input", "x=64x256", "--runs", "5")
    right, wrong = opperf(*words)["records"]
    assert right["facts"]["checked"] == "timed calls against a call on a copy of the same values"
    assert wrong["reason"]["slug"] == "wrong_result"
    for check in ("small", "none"):
        assert [record["status"] for record in opperf(*words, "--check", check)["records"]] == ["ok", "ok"]


def test_work_behind_the_return_is_named_and_does_not_meet_the_next_function() -> None:
    words = ("run", "mine.py:late", "mine.py:right", "--framework", "numpy", "--input", "x=64x256", "--runs", "5")
    late, right = opperf(*words)["records"]
    assert late["reason"]["slug"] in ("works_after_return", "extra_cpu")
    assert right["status"] == "ok"


def test_any_side_can_ask_for_it() -> None:
    words = ("run", "add", "--framework", "numpy", "--size", "small", "--runs", "5", "--check", "timed")
    (record,) = opperf(*words)["records"]
    small, timed = record["facts"]["checked"].split("; ")
    assert small.startswith("against NumPy ")
    assert timed == "timed calls against a call on a copy of the same values"
