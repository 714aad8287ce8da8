"""A candidate that returns before its work is done gains nothing on a device: the judge waits for the results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.functional.conftest import current, invoke

#: A kernel of `mm` takes 5 ms there, in whichever stream.
CANDIDATES = {
    "copy": "def f(x, y):\n    return x @ y\n",
    # Events that are recorded around its calls see nothing of them.
    "aside": """
import torch

stream = torch.late.Stream()


def f(x, y):
    with torch.late.stream(stream):
        return x @ y
""",
    # What it returns is filled by a thread, in a while.
    "afterwards": """
import threading
import time
import torch


def f(x, y):
    result = torch.empty_like(x)

    def fill():
        time.sleep(0.02)
        result.copy_(x @ y)

    threading.Thread(target=fill, daemon=True).start()
    return result
""",
    # It waits for nothing, and has nobody else wait either.
    "no_wait": """
import torch

torch.late.synchronize = lambda *_: None


def f(x, y):
    return x @ y
""",
}


@pytest.fixture(scope="module")
def verdicts(
    environment: str, one_cache: Path, tmp_path_factory: pytest.TempPathFactory, few_rounds: None
) -> Iterator[dict[str, dict[str, Any]]]:
    """The verdict on each candidate."""
    with current(tmp_path_factory.mktemp("judge"), one_cache) as folder:
        for name, text in CANDIDATES.items():
            (folder / f"{name}.py").write_text(text)
        where = ("--framework", "torch", "--environment", environment, "--device", "late")
        sizes = ("--input", "lhs=64x64", "--input", "rhs=64x64", "--pairs", "3")
        files = [f"{name}.py:f" for name in CANDIDATES]
        done = invoke("judge", *files, "--against", "matmul", *where, *sizes, "--output", "verdicts.jsonl")
        lines = (folder / "verdicts.jsonl").read_text().splitlines()
        assert len(lines) == len(CANDIDATES), done.err
        yield dict(zip(CANDIDATES, map(json.loads, lines)))


@pytest.mark.parametrize("name", ["copy", "aside", "no_wait"])
def test_work_on_another_stream_and_a_wait_that_does_not_wait_gain_nothing(
    name: str, verdicts: dict[str, dict[str, Any]]
) -> None:
    assert verdicts[name]["verdict"] in ("same", "inconclusive"), verdicts[name]


def test_a_result_that_comes_after_the_return_is_wrong(verdicts: dict[str, dict[str, Any]]) -> None:
    assert verdicts["afterwards"]["verdict"] == "wrong", verdicts["afterwards"]
