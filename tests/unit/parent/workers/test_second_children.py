"""The children beside the one that times a side: how long they live, and what is said where they fail."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from opperf.catalog import operator
from opperf.domain.errors import OperatorFailure
from opperf.domain.kernels import KernelTimes
from opperf.domain.measurement import Measurement, Quantity, Sample, Samples
from opperf.domain.message.replies import Instructions, Preparation, Remainder
from opperf.domain.message.requests import Prepare, WatchKernels
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Reason
from opperf.parent.workers import second_children
from opperf.parent.workers.process import Worker
from opperf.parent.workers.second_children import SecondChildren

TRIAL = Trial(operator("add").case("small"), Side("null"), "forward")
TIMED = Measurement({"time": Samples((Sample(1, 100, 100),))})


def test_the_trials_of_a_side_are_counted_by_one_child_while_it_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    counters = []

    class Counter:
        alive = True

        def __init__(self, *_: object) -> None:
            counters.append(self)

        def count(self, trial: Trial) -> Instructions:
            return Instructions(100.0, 0.0, 1, 3, "avx2")

        def close(self) -> None:
            pass

    monkeypatch.setattr(second_children, "Counter", Counter)
    beside = SecondChildren(Settings(clock="instructions"), print)
    for _ in range(2):
        assert beside.with_instructions(TRIAL, TIMED).metrics["instructions"] == Quantity(100.0, "callgrind")
    assert len(counters) == 1
    counters[0].alive = False
    beside.with_instructions(TRIAL, TIMED)
    assert len(counters) == 2
    beside.with_instructions(replace(TRIAL, side=Side("null", threads=2)), TIMED)
    assert len(counters) == 3


class Watching:
    """Children that watch, and say on the way that they lack memory; `slugs` are of what goes wrong, in turn."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *slugs: str) -> None:
        self.slugs, self.starts, self.rooms = [*slugs], 0, 0
        monkeypatch.setattr(second_children, "start", self._start)

    def _start(self, *_: object, **__: object) -> Any:
        self.starts += 1
        child = SimpleNamespace(alive=True, ask=self._ask, close=lambda: None)
        child.prepared = partial(Worker.prepared, child)  # type: ignore[arg-type]  # it has what that asks of one
        return child, Path()

    def _ask(self, request: Any, timeout: float) -> object:
        if isinstance(request, Prepare):
            if self.slugs:
                slug = self.slugs.pop(0)
                raise OperatorFailure(Reason(slug, f"this is {slug}"))
            return Preparation(1, {}, {})
        return KernelTimes({"device": TIMED.time}, {}, (), 0.5) if isinstance(request, WatchKernels) else Remainder(0)

    def _make_room(self) -> None:
        self.rooms += 1

    def outcome(self, times: int = 1) -> Measurement:
        beside = SecondChildren(Settings(), print)
        results = [beside.kernels(TRIAL, self._make_room) for _ in range(times)]
        return results[-1].added_to(TIMED)


def test_one_child_watches_all_trials_of_a_side(monkeypatch: pytest.MonkeyPatch) -> None:
    children = Watching(monkeypatch)
    measured = children.outcome(times=3)
    assert (children.starts, children.rooms, measured.spent["kernels"]) == (1, 0, 0.5)
    assert measured.samples("device") == TIMED.time


@pytest.mark.parametrize("slug", ["short_of_memory", "out_of_memory"])
def test_where_memory_is_short_the_child_that_has_timed_makes_room(slug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    children = Watching(monkeypatch, slug)
    assert children.outcome().samples("device") is not None
    assert children.rooms == 1


def test_what_cannot_be_watched_is_a_doubt_of_a_trial_that_was_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = Watching(monkeypatch, "operator_error").outcome()
    assert [(one.slug, one.message) for one in measured.warnings] == [
        ("no_kernels_seen", "the pass for kernels failed: this is operator_error")
    ]
    assert measured.time == TIMED.time
