"""The summary of MXNet's profiler: its times, and memory from the steps of its counter."""

from __future__ import annotations

import json

import pytest

from opperf.child.backends.mxnet import allocations
from opperf.child.profiling.summary import NO_FILE, NO_TIMES, Ledger, summary

#: What the profiler says of two additions of 4 MB, in kB: for memory, half the span of the counter is its average.
TOLD = json.dumps(
    {
        "Time": {"operator": {"broadcast_add": {"Count": 2, "Total": 1.0, "Min": 0.25, "Max": 0.75, "Avg": 0.5}}},
        "Memory": {"Device Storage": {"Memory: cpu/0": {"Count": 2, "Min": 12582, "Max": 16777, "Avg": 2097}}},
        "Unit": {"Time": "ms", "Memory": "kB"},
    }
)


@pytest.fixture(autouse=True)
def beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process in which the profiler's file was not yet read."""
    monkeypatch.setattr(allocations, "_last", {})


def written(*values: int, device: str = "cpu/0", start: int = 1) -> str:
    """Return the counter events as MXNet writes them, one microsecond apart."""
    event = '"ph": "C",\n        "ts": {},\n        "args": {{ "Memory: {}": {} }},'
    return "\n".join(event.format(start + i, device, value) for i, value in enumerate(values))


def test_steps_are_changes_of_the_counter() -> None:
    assert allocations.steps(written(100, 250, 150)) == {"cpu/0": [100, 150, -100]}


def test_events_of_earlier_readings_are_not_counted_again() -> None:
    first = written(100, 250)
    assert allocations.steps(first) == {"cpu/0": [100, 150]}
    assert allocations.steps(first) == {}
    assert allocations.steps(first + written(300, start=10)) == {"cpu/0": [50]}


def test_devices_have_counters_of_their_own() -> None:
    assert allocations.steps(written(100) + written(7, device="gpu/0", start=5)) == {"cpu/0": [100], "gpu/0": [7]}


def test_memory_is_all_bytes_and_the_most_at_once_not_half_the_span() -> None:
    ledger = Ledger()
    ledger.add({"cpu/0": [4194304, -4194304, 4194304]})
    result = json.loads(summary(TOLD, ledger))
    assert result["Memory"] == {
        "cpu/0": {"Allocations": 2, "Total Bytes Allocated": 8388608, "Peak Bytes": 4194304},
    }
    assert result["Unit"] == {"Time": "ms", "Memory": "B"}


def test_times_keep_the_profilers_words() -> None:
    result = json.loads(summary(TOLD, Ledger()))
    assert result["Time"]["operator"]["broadcast_add"] == {
        "Count": 2,
        "Total": 1.0,
        "Min": 0.25,
        "Max": 0.75,
        "Avg": 0.5,
    }


def test_memory_that_is_not_known_is_null_with_the_reason() -> None:
    ledger = Ledger()
    ledger.add({"cpu/0": [8]})
    ledger.add(None)
    result = json.loads(summary(TOLD, ledger))
    assert result["Memory"] is None
    assert result["Note"] == NO_FILE


def test_times_that_were_not_added_up_are_null_with_the_reason() -> None:
    result = json.loads(summary("", Ledger()))
    assert result["Time"] is None
    assert result["Unit"] == {"Time": "ms", "Memory": "B"}
    assert result["Note"] == NO_TIMES


def test_what_was_held_before_and_let_go_makes_no_room() -> None:
    assert allocations.peak([-4194304, 4194304]) == 4194304
