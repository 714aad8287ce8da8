"""A candidate that returns before its work is done gains nothing on a device: the judge waits for the results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.functional.conftest import current, invoke

CANDIDATES = {
    # Events around its calls see nothing of them, and it has nobody wait for the device.
    "aside": """
import torch

stream = torch.late.Stream()
torch.late.synchronize = lambda *_: None


def f(data):
    with torch.late.stream(stream):
        return torch.neg(data)
""",
    # What it returns is filled by a thread, in a while.
    "afterwards": """
import threading
import time
import torch


def f(data):
    result = torch.empty_like(data)

    def fill():
        time.sleep(0.02)
        result.copy_(torch.neg(data))

    threading.Thread(target=fill, daemon=True).start()
    return result
""",
}


@pytest.fixture(scope="module")
def verdicts(
    environment: str, one_cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, dict[str, Any]]]:
    """The verdict on each candidate; stands are forked from one import, since this device survives that."""
    folder = tmp_path_factory.mktemp("judge")
    for name, text in CANDIDATES.items():
        (folder / f"{name}.py").write_text(text)
    with current(folder, one_cache), pytest.MonkeyPatch.context() as patch:
        patch.setattr("opperf.parent.measuring.judge.bench.share_import", lambda *_: True)
        where = ("--framework", "torch", "--environment", environment, "--device", "late")
        files = [f"{name}.py:f" for name in CANDIDATES]
        sizes = ("--input", "data=64x64", "--pairs", "3", "--output", "verdicts.jsonl")
        done = invoke("judge", *files, "--against", "neg", *where, *sizes)
        lines = (folder / "verdicts.jsonl").read_text().splitlines()
        assert len(lines) == len(CANDIDATES), done.err
        yield dict(zip(CANDIDATES, map(json.loads, lines)))


def test_work_on_another_stream_that_nobody_waits_for_gains_nothing(verdicts: dict[str, dict[str, Any]]) -> None:
    verdict = verdicts["aside"]["verdict"]
    # Beside other work the reference may seem to be slowed by it in each pair.
    is_disturbed = verdict == "cheats" and verdicts["aside"]["evidence"][0]["slug"] == "disturbs"
    assert verdict in ("same", "inconclusive", "slower") or is_disturbed, verdicts["aside"]


def test_a_result_that_comes_after_the_return_is_wrong(verdicts: dict[str, dict[str, Any]]) -> None:
    assert verdicts["afterwards"]["verdict"] == "wrong", verdicts["afterwards"]
