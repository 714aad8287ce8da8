"""What holds on a device of PyTorch that is done later than its calls return, and that PyTorch does not know itself."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, TypeAlias

import pytest

Command: TypeAlias = Callable[..., CompletedProcess[str]]
#: Seconds of a kernel of `mm`, as `late.py` says.
KERNEL = 5e-3
#: Seconds in which it reads a megabyte that is not in its cache.
READING = 512 * 512 * 4 / 1e9
FORWARD = ("--direction", "forward")
#: A call whose kernel finds an index out of range, and one that is right.
ROWS = """
import torch

def beyond(weight):
    return torch.nn.functional.embedding(torch.full((4,), 99, device=weight.device), weight)

def within(weight):
    return torch.nn.functional.embedding(torch.full((4,), 1, device=weight.device), weight)
"""


@pytest.fixture
def records(command: Command, environment: str, tmp_path: Path) -> Callable[..., list[Any]]:
    """Measure on the device, and return the records."""

    def run(*words: object) -> list[Any]:
        file = tmp_path / "run.json"
        where = ("--framework", "torch", "--environment", environment, "--device", "late")
        done = command("run", *words, *where, *FORWARD, "--output", file, "--force")
        assert done.returncode == 0, done.stderr
        result: list[Any] = json.loads(file.read_text())["records"]
        return result

    return run


def time_of(record: Any) -> float:
    return float(record["metrics"]["time"]["median"])


def test_time_and_memory_are_the_devices_and_not_those_of_a_launch(records: Callable[..., list[Any]]) -> None:
    record = records("matmul", "--size", "small", "--trial-budget", "0.2")[0]
    assert record["side"]["device"] == "late:0"
    assert KERNEL < time_of(record) < 2 * KERNEL
    memory = record["metrics"]["memory_peak"]
    assert (memory["value"], memory["source"]) == (32 * 32 * 4, "late caching allocator")


def test_a_cold_cache_is_cold(records: Callable[..., list[Any]]) -> None:
    case = ("neg", "--input", "data=512x512", "--trial-budget", "0.2")
    hot, cold = (time_of(records(*case, "--cache", cache)[0]) for cache in ("hot", "cold"))
    assert cold - hot > READING / 2


def test_what_a_kernel_finds_late_is_the_failure_of_its_own_trial(
    records: Callable[..., list[Any]], tmp_path: Path
) -> None:
    (file := tmp_path / "rows.py").write_text(ROWS)
    failed, sound = records(f"{file}:beyond", f"{file}:within", "--input", "weight=10x4")
    assert (failed["status"], sound["status"]) == ("failed", "ok")
    assert "late: a kernel found this: index out of range" in failed["reason"]["message"]


@pytest.mark.usefixtures("few_rounds")
def test_two_devices_are_compared(command: Command, environment: str) -> None:
    sides = ("--base", environment, "--new", f"{environment};device=late")
    done = command("compare", "matmul", *sides, "--size", "small", "--direction", "forward")
    assert re.search(r"slower .* matmul", done.stdout), done.stdout + done.stderr


def test_auto_is_the_best_device(command: Command, environment: str) -> None:
    words = ("run", "neg", "--framework", "torch", "--environment", environment, "--device", "auto", "--dry-run")
    assert "late:0" in command(*words).stdout


def test_a_device_that_is_not_here_is_named_with_those_that_are(command: Command, environment: str) -> None:
    done = command("run", "neg", "--framework", "torch", "--environment", environment, "--device", "xpu:1")
    assert done.returncode == 3
    assert "PyTorch has no device `xpu:1` here" in done.stdout + done.stderr
    assert "late:0" in done.stdout + done.stderr
