"""What holds on a device of PyTorch that is done later than its calls return, and that PyTorch does not know itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.functional.conftest import current, invoke

#: Seconds of a kernel of `mm`, as `late.py` says.
KERNEL = 5e-3
#: Seconds of every other kernel.
LEAST = 20e-6
#: Seconds in which it reads a megabyte that is not in its cache.
READING = 512 * 512 * 4 / 1e9
FORWARD = ("--direction", "forward")
#: Calls whose kernel finds an index out of range, the first or a later one; whose kernel is in a stream that the caller
#: does not know; and what is right.
OWN = """
import torch
import opperf

SIDE = torch.late.Stream()
calls = 0

def own(function):
    return opperf.operator(framework="torch", sizes={"common": {"lhs": (32, 32), "rhs": (32, 32)}})(function)

def row(place, weight):
    return torch.nn.functional.embedding(torch.full((4,), place, device=weight.device), weight)

@own
def product(lhs, rhs):
    return lhs @ rhs

@own
def aside(lhs, rhs):
    with torch.late.stream(SIDE):
        return lhs @ rhs

@own
def beyond(lhs, rhs):
    return row(99, lhs)

@own
def later(lhs, rhs):
    global calls
    calls += 1
    return row(99 if calls == 20 else 1, lhs)

@own
def within(lhs, rhs):
    return row(1, lhs)
"""
NAMES = ("product", "aside", "beyond", "later", "within")


@pytest.fixture(scope="module", autouse=True)
def here(
    one_cache: Path, tmp_path_factory: pytest.TempPathFactory, forked_children: None, few_rounds: None
) -> Iterator[None]:
    """A folder with the calls, and children that are forked: the device is as late in them."""
    with current(tmp_path_factory.mktemp("late"), one_cache) as folder:
        (folder / "own.py").write_text(OWN)
        yield


@pytest.fixture(scope="module")
def measure(here: None, environment: str) -> Callable[..., list[Any]]:
    """Measure on the device, by as many samples however busy the machine is, and return the records."""

    def run(*words: object) -> list[Any]:
        where = ("--framework", "torch", "--environment", environment, "--device", "late")
        done = invoke("run", *words, *where, *FORWARD, "--runs", "20", "--format", "json")
        assert done.code == 0, done.err
        return done.records

    return run


@pytest.fixture(scope="module")
def records(measure: Callable[..., list[Any]]) -> dict[str, Any]:
    """The record of each call, measured in one command, in the order of the names."""
    found = measure(*(f"own.py:{name}" for name in NAMES))
    assert len(found) == len(NAMES)
    return dict(zip(NAMES, found))


def least_time(record: Any) -> float:
    """Return the time of the quickest calls: no kernel is done sooner than it says, and other work delays some."""
    return float(record["metrics"]["time"]["min"])


def test_time_and_memory_are_the_devices_and_not_those_of_a_launch(records: dict[str, Any]) -> None:
    record = records["product"]
    assert record["side"]["device"] == "late:0"
    assert KERNEL < least_time(record) < 2 * KERNEL
    assert record["facts"]["gpu"]["before"] == {"sm_clock": 1_500_000_000}
    memory = record["metrics"]["memory_peak"]
    assert (memory["value"], memory["source"]) == (32 * 32 * 4, "late caching allocator")
    assert "unseen_work" not in [one["slug"] for one in record["warnings"]]


def test_work_in_a_stream_that_nobody_knows_is_timed_by_the_host(records: dict[str, Any]) -> None:
    record = records["aside"]
    assert KERNEL < least_time(record) < 2 * KERNEL
    assert "unseen_work" in [one["slug"] for one in record["warnings"]]


@pytest.mark.parametrize("name", ["beyond", "later"])
def test_what_a_kernel_finds_late_is_the_failure_of_its_own_trial_and_the_next_has_a_fresh_child(
    name: str, records: dict[str, Any]
) -> None:
    assert (records[name]["status"], records["within"]["status"]) == ("failed", "ok")
    assert "late: a kernel found this: index out of range" in records[name]["reason"]["message"]


def test_a_cold_cache_is_cold(measure: Callable[..., list[Any]]) -> None:
    case = ("neg", "--input", "data=512x512")
    hot, cold = (least_time(measure(*case, "--cache", cache)[0]) for cache in ("hot", "cold"))
    assert cold - hot > READING / 2


def test_two_devices_are_compared(environment: str) -> None:
    sides = ("--base", environment, "--new", f"{environment};device=late", "--no-check")
    brief = ("--pairs", "3", "--tolerance", "50%", "--format", "json")
    done = invoke("compare", "neg", *sides, "--size", "small", *FORWARD, *brief)
    assert done.code == 0, done.err
    (found,) = json.loads(done.out)["comparisons"]
    assert (found["base"]["device"], found["new"]["device"]) == ("cpu", "late:0")
    # On a busy machine too few pairs may be left for a verdict, or none: those that are left say the same.
    assert found["verdict"] in {"slower", "inconclusive"}
    assert all(base < LEAST < new for stage in found["pair_levels"] for base, new in stage)


def test_the_sides_of_a_comparison_divide_the_memory_of_the_device(environment: str) -> None:
    side = f"{environment};device=late"
    asked = ("--base", side, "--new", side, "--no-check", "--input", "data=9000x9000", *FORWARD)
    done = invoke("compare", "neg", *asked)
    assert (
        "it needs at least 648 MB of memory (inputs 324 MB, outputs 324 MB), but only 483 MB is available" in done.out
    )


def test_doctor_tells_of_a_device_that_the_system_does_not_show(environment: str) -> None:
    done = invoke("doctor", "--framework", "torch", "--environment", environment)
    lines = [line.strip() for line in done.out.splitlines()]
    assert "devices: late:0, cpu" in lines
    assert "Late 1, 1.07 GB free" in lines
    assert any(line.startswith("no kernels: ") for line in lines)


def test_auto_is_the_best_device(environment: str) -> None:
    words = ("run", "neg", "--framework", "torch", "--environment", environment, "--device", "auto", "--dry-run")
    assert "late:0" in invoke(*words).out


def test_devices_that_are_not_here_are_named_with_those_that_are(environment: str) -> None:
    absent = ("xpu:1", "no_such_kind:0")
    where = [word for device in absent for word in ("--device", device)]
    done = invoke("run", "neg", "--framework", "torch", "--environment", environment, *where)
    assert (done.code, done.out) == (2, "")
    assert all(f"PyTorch has no device `{device}` here" in done.err for device in absent)
    assert "it has late:0" in done.err
