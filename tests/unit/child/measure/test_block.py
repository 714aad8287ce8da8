"""Blocks: where the wait stands, what is timed, and what is taken off."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from opperf.child.measure import block as module
from opperf.child.measure.block import Block
from opperf.child.measure.disturbance import NoCounters, Reading
from opperf.child.measure.engine import Engine
from opperf.domain.measurement import Samples
from opperf.domain.plan import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.unit.child.measure.conftest import Watched


@pytest.fixture
def backend(watched: type[Watched]) -> Watched:
    """A backend whose wait takes 500 ns."""
    return watched(wait_ns=500)


def test_a_block_waits_once_at_its_end(backend: Watched) -> None:
    Block(backend.work(100), backend, NoCounters()).run(3)
    assert backend.events == ["call", "call", "call", "wait"]


def test_the_wait_is_inside_the_timed_region(backend: Watched) -> None:
    assert Block(backend.work(100), backend, NoCounters()).run(3) == 3 * 100 + 500


def test_outputs_are_held_for_the_wait_where_the_backend_collects(watched: type[Watched]) -> None:
    backend = watched(collects=True)
    Block(backend.work(100), backend, NoCounters()).run(2)
    assert backend.waited == [["output", "output"]]


def test_outputs_are_dropped_where_the_backend_does_not_collect(backend: Watched) -> None:
    Block(backend.work(100), backend, NoCounters()).run(2)
    assert backend.waited == [[]]


def test_keywords_reach_the_operator(backend: Watched) -> None:
    seen: list[dict[str, Any]] = []
    work = backend.work(0, function=lambda *_, **named: seen.append(named), keywords={"axis": 1, "keepdims": True})
    Block(work, backend, NoCounters()).run(2)
    assert seen == [{"axis": 1, "keepdims": True}] * 2


def test_what_goes_before_a_call_is_not_timed_and_gives_its_arguments(backend: Watched) -> None:
    turns = iter(range(10))
    given: list[tuple[Any, ...]] = []

    def before() -> tuple[Any, ...]:
        backend.events.append("before")
        backend.clock.advance(10_000)
        return (next(turns), "fresh")

    def call(*arguments: Any) -> None:
        backend.events.append("call")
        given.append(arguments)
        backend.clock.advance(100)

    block = Block(backend.work(0, function=call, before=before), backend, NoCounters())
    assert block.one_by_one
    assert block.run(2) == 2 * (100 + 500)
    assert given == [(0, "fresh"), (1, "fresh")]
    assert backend.events == ["before", "wait", "call", "wait"] * 2


class Switches(NoCounters):
    """Counters of a process that is switched out within some calls, by their places from 0."""

    def __init__(self, *places: int) -> None:
        self.places, self.reads = places, 0

    def read(self) -> Reading:
        self.reads += 1
        return Reading(sum(2 * place + 1 < self.reads for place in self.places), 0, 0)


@pytest.mark.parametrize(("places", "calls", "is_clean"), [((1,), 3, True), ((0, 1, 3), 4, False)])
def test_of_calls_that_are_timed_alone_those_left_alone_are_the_sample(
    places: tuple[int, ...], calls: int, is_clean: bool, backend: Watched
) -> None:
    block = Block(backend.work(100, before=lambda: (1, 2)), backend, Switches(*places))
    sample = block.sample(4)
    assert (sample.calls, sample.wall_ns, sample.clean) == (calls, calls * (100 + 500), is_clean)


def test_a_cold_cache_is_swept_before_each_call_and_not_timed(backend: Watched) -> None:
    def sweep() -> None:
        backend.events.append("sweep")
        backend.clock.advance(1_000_000)

    block = Block(backend.work(100), backend, NoCounters(), sweep=sweep)
    assert block.run(2) == 2 * (100 + 500)
    assert backend.events == ["sweep", "wait", "call", "wait"] * 2


def test_the_sweep_comes_after_what_goes_before_a_call(backend: Watched) -> None:
    # What makes fresh inputs would warm the cache again.
    def before() -> tuple[Any, ...]:
        backend.events.append("before")
        return (1, 2)

    block = Block(backend.work(100, before=before), backend, NoCounters(), sweep=lambda: backend.events.append("sweep"))
    block.run(1)
    assert backend.events == ["before", "sweep", "wait", "call", "wait"]


def test_the_harness_is_taken_off_to_the_nanosecond(watched: type[Watched], monkeypatch: pytest.MonkeyPatch) -> None:
    backend = watched()
    monkeypatch.setattr(module, "sys", SimpleNamespace(audit=lambda *_: backend.clock.advance(40)))
    block = Block(backend.work(1000 + 40), backend, NoCounters())
    assert block.overhead_ns == 40.0
    assert Samples((block.sample(25),), block.overhead_ns).seconds() == [1e-6]


def test_a_call_that_is_timed_alone_has_the_cost_of_a_single_turn_taken_off(
    watched: type[Watched], monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = watched()
    wall = backend.clock.wall

    def slow_wall() -> int:
        backend.clock.advance(70)
        return wall()

    monkeypatch.setattr(backend.clock, "wall", slow_wall)
    monkeypatch.setattr(module, "sys", SimpleNamespace(audit=lambda *_: backend.clock.advance(40)))
    block = Block(backend.work(1000 + 40), backend, NoCounters(), sweep=lambda: None)
    assert Samples((block.sample(3),), block.overhead_ns).seconds() == [1e-6]


class Scripted(NoCounters):
    """Counters that give the next reading each time."""

    def __init__(self, *readings: Reading) -> None:
        self._readings = iter(readings)

    def read(self) -> Reading:
        return next(self._readings)


def test_a_sample_holds_the_differences_of_the_counters(backend: Watched) -> None:
    counters = Scripted(Reading(5, 100, 7_000, 3), Reading(5, 130, 7_010, 5))
    sample = Block(backend.work(100), backend, counters).sample(10)
    assert (sample.calls, sample.wall_ns, sample.cpu_ns) == (10, 1500, 1500)
    assert (sample.switches, sample.faults, sample.waiting_ns, sample.clean) == (0, 30, 10, True)
    assert sample.voluntary == 2


def test_a_sample_with_a_switch_is_not_clean(backend: Watched) -> None:
    counters = Scripted(Reading(5, 0, None), Reading(6, 0, None))
    sample = Block(backend.work(100), backend, counters).sample(10)
    assert (sample.switches, sample.waiting_ns, sample.clean) == (1, None, False)


def test_what_disturbs_the_preparation_of_a_call_does_not_spoil_its_sample(backend: Watched) -> None:
    # Switched away during the sweep, not during the two calls.
    counters = Scripted(Reading(0, 0, 0), Reading(0, 3, 10, 1), Reading(7, 90, 5000, 4), Reading(7, 94, 5020, 6))
    sample = Block(backend.work(100), backend, counters, sweep=lambda: None).sample(2)
    assert (sample.switches, sample.faults, sample.waiting_ns, sample.clean) == (0, 7, 30, True)
    assert sample.voluntary == 3


def test_a_sample_of_calls_that_were_timed_alone_is_their_sum(backend: Watched) -> None:
    def sweep() -> None:
        backend.clock.advance(1_000_000)

    sample = Block(backend.work(100), backend, NoCounters(), sweep=sweep).sample(3)
    assert (sample.calls, sample.wall_ns, sample.cpu_ns) == (3, 3 * 600, 3 * 600)
    assert (sample.waiting_ns, sample.device_ns) == (None, None)


def test_a_sample_of_many_threads_is_judged_as_one(watched: type[Watched]) -> None:
    backend = watched(threads=4)
    counters = Scripted(Reading(0, 0, None), Reading(1, 0, None))
    assert Block(backend.work(1_000_000), backend, counters).sample(10).clean


def test_the_scope_is_that_of_the_work(backend: Watched) -> None:
    @contextmanager
    def scope() -> Iterator[None]:
        backend.events.append("open")
        yield
        backend.events.append("closed")

    block = Block(backend.work(1, scope=scope), backend, NoCounters())
    with block.scope():
        block.run(1)
    assert backend.events == ["open", "call", "wait", "closed"]


class QueueTimer:
    """A device that works through a queue: a call takes 20 us there, and marks stand in the queue with the calls."""

    def __init__(self, backend: Watched) -> None:
        self._backend = backend
        self._marks: list[int] = []

    def _mark(self) -> None:
        self._marks.append(20_000 * self._backend.events.count("call"))
        self._backend.events.append("mark")

    start = stop = _mark

    def elapsed(self) -> int:
        end, begin = self._marks.pop(), self._marks.pop()
        return end - begin


def test_the_end_is_marked_behind_the_calls_and_ahead_of_the_wait(watched: type[Watched]) -> None:
    backend = watched(wait_ns=10_000)
    backend.timer = QueueTimer(backend)
    block = Block(backend.work(5_000), backend, NoCounters())
    backend.events.clear()
    sample = block.sample(2)
    assert backend.events == ["mark", "call", "call", "mark", "wait"]
    assert (sample.device_ns, sample.wall_ns) == (40_000, 2 * 5_000 + 10_000)


def test_latency_is_what_the_host_sees(watched: type[Watched]) -> None:
    backend = watched(wait_ns=10_000)
    backend.timer = QueueTimer(backend)
    measured = Engine(backend, NoCounters()).measure(backend.work(5_000), Settings(runs=2), output_bytes=0)
    latency = measured.samples("latency")
    assert latency is not None
    assert (measured.time.seconds(), latency.seconds()) == ([20e-6] * 2, [15e-6] * 2)
