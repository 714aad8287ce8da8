"""A block that is profiled: what it saw, as table, summary and file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opperf import profiler
from opperf.child.backends.null.watcher import hold, span, spend
from opperf.domain.errors import InputError, ProfilerError
from opperf.domain.profile.chrome import from_trace


def call(name: str, nanoseconds: int = 1000, **details: Any) -> None:
    """Run one operator."""
    with span(name, **details):
        spend(nanoseconds)


def test_a_block_tells_what_ran_in_it() -> None:
    with profiler.profile("null", shapes=True) as p, span("linear", shapes=((4, 8),)):
        call("matmul", 3000)
        call("add", 1000)
    head, _, *rows = p.table().splitlines()
    assert head.split()[:4] == ["operator", "calls", "total", "self"]
    assert [row.split()[:6] for row in rows] == [
        ["matmul", "1", "3.00", "us", "3.00", "us"],
        ["add", "1", "1.00", "us", "1.00", "us"],
        ["linear", "1", "4.00", "us", "0", "s"],
    ]
    assert p.table(by="shape").splitlines()[4].endswith("4x8")
    assert p.table(top=1).endswith("2 more rows")


def test_what_is_no_schedule_is_refused_before_the_block_begins() -> None:
    with pytest.raises(InputError, match="expected a schedule") as refused:
        profiler.profile("null", schedule={"skip": 1})  # type: ignore[arg-type]
    assert refused.value.slug == "bad_schedule"


def test_a_summary_has_the_shape_that_mxnets_users_know() -> None:
    with profiler.profile("null", memory=True) as p:
        for nanoseconds in (1_000_000, 3_000_000):
            call("relu", nanoseconds)
        hold(100)
        hold(50)
        hold(-150)
        hold(20)
    assert p.summary() == {
        "Time": {"operator": {"relu": {"Count": 2, "Total": 4.0, "Min": 1.0, "Max": 3.0, "Avg": 2.0}}},
        "Memory": {"cpu/0": {"Allocations": 3, "Total Bytes Allocated": 170, "Peak Bytes": 150}},
        "Unit": {"Time": "ms", "Memory": "B"},
    }


def test_memory_that_was_not_watched_is_null_and_the_summary_says_why() -> None:
    with profiler.profile("null") as p:
        hold(100)
    assert p.summary()["Memory"] is None
    assert "profile(memory=True)" in str(p.summary()["Note"])


def test_a_saved_profile_is_the_one_that_was_seen(tmp_path: Path) -> None:
    with profiler.profile("null") as p:
        call("relu")
    p.save(tmp_path / "trace.json")
    assert from_trace(json.loads((tmp_path / "trace.json").read_text()), "trace.json") == p.profile


def test_an_exception_of_the_block_is_its_own_and_what_was_seen_is_kept() -> None:
    p = profiler.profile("null")

    def fail() -> None:
        with p:
            call("relu")
            raise KeyError("batch")

    with pytest.raises(KeyError, match="batch"):
        fail()
    assert [event.name for event in p.profile.events] == ["relu"]
    with profiler.profile("null"):  # and nothing is left on
        call("next")


def test_a_block_within_a_block_is_refused_and_the_outer_one_goes_on() -> None:
    with profiler.profile("null") as p:
        call("first")
        with pytest.raises(ProfilerError, match="another profile"), profiler.profile("null"):
            pass
        with pytest.raises(ProfilerError, match="already running"), p:
            pass
        call("second")
    assert [event.name for event in p.profile.events] == ["first", "second"]


def test_asking_while_it_runs_is_refused(tmp_path: Path) -> None:
    with profiler.profile("null") as p:
        asked: list[Callable[[], object]] = [p.table, p.summary, lambda: p.save(tmp_path / "trace.json")]
        for ask in asked:
            with pytest.raises(ProfilerError, match="still running"):
                ask()
    assert list(tmp_path.iterdir()) == []


def steps(**settings: Any) -> list[str]:
    """Return what is seen of six steps of one operator each."""
    with profiler.profile("null", schedule=profiler.schedule(**settings)) as p:
        for number in range(6):
            call(f"op{number}")
            p.step()
    return [event.name for event in p.profile.events]


def test_without_a_schedule_every_step_is_seen_and_marked() -> None:
    with profiler.profile("null") as p:
        for nanoseconds in (100, 300):
            call("relu", nanoseconds)
            p.step()
    marks = [(event.name, event.duration) for event in p.profile.of_kind("step")]
    assert marks == [("step 0", 100), ("step 1", 300)]


def test_steps_that_are_passed_over_or_warm_up_are_not_seen() -> None:
    assert steps(skip=1, warmup=1, active=2) == ["step 2", "op2", "step 3", "op3"]


def test_a_schedule_that_repeats_keeps_what_it_saw_before() -> None:
    assert steps(warmup=1, active=1, repeat=2) == ["step 1", "op1", "step 3", "op3"]


def test_a_block_that_ends_in_its_warm_up_saw_nothing() -> None:
    with profiler.profile("null", schedule=profiler.schedule(warmup=3)) as p:
        call("relu")
        p.step()
        call("relu")
    assert p.profile.events == ()


def test_a_step_outside_of_the_block_is_refused() -> None:
    with pytest.raises(ProfilerError, match="cannot be told of a step"):
        profiler.profile("null").step()


def test_an_unknown_framework_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(InputError, match="no framework `paddle`") as refused, profiler.profile("paddle"):
        pass
    assert refused.value.hint == "known: torch, mxnet, jax, tensorflow, null"


def test_without_a_framework_there_is_nothing_to_see(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opperf.child.profiling.recording.WATCHED", ())
    with pytest.raises(ProfilerError, match="no framework is imported") as refused, profiler.profile():
        pass
    assert refused.value.slug == "no_framework_imported"


def test_the_frameworks_of_a_script_are_those_that_it_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opperf.child.profiling.recording.WATCHED", ("null",))
    with profiler.profile() as p:
        call("relu")
    assert [facts["framework"] for facts in p.profile.processes.values()] == ["null"]
