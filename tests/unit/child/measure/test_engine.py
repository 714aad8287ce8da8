"""The order of a trial, what its measurement says, and what stands still while samples are taken."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pytest

from opperf.child.measure import engine as module
from opperf.child.measure.disturbance import NoCounters, Reading
from opperf.child.measure.engine import LATENCY_CALLS, Engine
from opperf.child.measure.host import HostReading
from opperf.child.measure.lengths import LONGEST_NS
from opperf.child.measure.stopping import LEAST_OF_SLOW
from opperf.domain.backend import Unsupported
from opperf.domain.call import Work
from opperf.domain.measurement import Quantity, compile_time
from opperf.domain.plan import Part, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.unit.child.measure.conftest import Watched

STEADY_NS = 100_000


@pytest.fixture
def backend(watched: type[Watched]) -> Watched:
    """A backend on a virtual clock."""
    return watched()


def test_a_steady_operator_is_measured_exactly(backend: Watched) -> None:
    result = Engine(backend, NoCounters()).measure(backend.work(STEADY_NS), Settings(), output_bytes=0)
    assert set(result.time.seconds()) == {1e-4}
    assert len(result.time.samples) == 20
    latency = result.samples("latency")
    assert latency is not None
    assert latency.seconds() == [1e-4] * LATENCY_CALLS
    assert result.warnings == ()


def test_the_facts_say_how_it_was_measured(backend: Watched) -> None:
    work = backend.work(STEADY_NS, notes={"backward_method": "kept graph"}, metrics=compile_time(1.5))
    result = Engine(backend, NoCounters()).measure(work, Settings(warmup=7), output_bytes=0)
    assert result.facts == {
        "backward_method": "kept graph",
        "sync": "block",
        "cache": "hot",
        "warmup_calls": 7,
        "calls_per_sample": 5,
    }
    assert result.quantity("compile_time") == Quantity(1.5, "first call")


def test_every_stage_has_its_time(backend: Watched) -> None:
    result = Engine(backend, NoCounters()).measure(backend.work(STEADY_NS), Settings(runs=4), output_bytes=0)
    assert result.spent["samples"] == pytest.approx(4 * 5 * 1e-4)
    assert result.spent["latency"] == pytest.approx(4 * 1e-4)
    assert result.spent["warmup"] > 0
    assert list(result.spent) == ["warmup", "samples", "latency", "memory"]


def test_blocks_come_first_then_single_calls_then_memory(backend: Watched) -> None:
    Engine(backend, NoCounters()).measure(backend.work(STEADY_NS), Settings(warmup=0, runs=2), output_bytes=0)
    runs = [(event, len(list(several))) for event, several in groupby(backend.events)]
    # The probe: three of one call, three of two... and after it two blocks of five, two single calls, memory.
    assert runs[-9:] == [
        ("call", 5), ("wait", 1), ("call", 5), ("wait", 1),
        ("call", 1), ("wait", 1), ("call", 1), ("wait", 1),
        ("memory", 1),
    ]  # fmt: skip


@pytest.mark.parametrize(("each", "calls"), [(LONGEST_NS - 1, 2 + 3 + 1), (LONGEST_NS, 2 + 1)])
def test_asked_warm_up_calls_that_are_long_are_not_probed_again(each: int, calls: int, backend: Watched) -> None:
    settings = Settings(warmup=2, runs=1, memory=False)
    Engine(backend, NoCounters()).measure(backend.work(each), settings, output_bytes=0)
    assert backend.events.count("call") == calls


@pytest.mark.parametrize(("took", "runs", "calls"), [((), 1, 4), ((LONGEST_NS,), 1, 3), ((LONGEST_NS,), 3, 3)])
def test_memory_is_looked_at_after_four_calls(took: tuple[int, ...], runs: int, calls: int, backend: Watched) -> None:
    settings = Settings(warmup=1, runs=runs)
    Engine(backend, NoCounters()).measure(backend.work(LONGEST_NS), settings, output_bytes=0, took=took)
    assert backend.events.count("call") == calls
    assert backend.events[-1] == "memory"


@pytest.mark.parametrize("warmup", [None, 0, 1])
def test_of_a_call_that_takes_long_no_more_are_made_than_are_asked_for_and_one_for_memory(
    warmup: int | None, backend: Watched
) -> None:
    settings = Settings(warmup=warmup, runs=1)
    result = Engine(backend, NoCounters()).measure(backend.work(10**9), settings, output_bytes=0, took=(10**9,))
    assert backend.events.count("call") == 1
    assert backend.events[-1] == "memory"
    assert result.time.seconds() == [1.0]


def test_a_part_that_takes_little_of_the_whole_has_little_of_the_budget(backend: Watched) -> None:
    engine = Engine(backend, NoCounters())
    calls = []
    for whole in (0.0, 1.0, 1e3):
        backend.events.clear()
        result = engine.measure(
            backend.work(10_000_000), Settings(precision=1e-9, latency=False), output_bytes=0, part=Part(1, whole)
        )
        assert set(result.time.seconds()) == {0.01}
        calls.append(backend.events.count("call"))
    assert calls == sorted(calls, reverse=True)
    assert calls[0] > 2 * calls[2]


def test_a_part_whose_calls_take_long_is_neither_probed_nor_warmed_up(backend: Watched) -> None:
    engine = Engine(backend, NoCounters())
    engine.measure(
        backend.work(10**9), Settings(latency=False), output_bytes=0, took=(10**9,), part=Part(count=1, whole=1e6)
    )
    assert backend.events.count("call") == LEAST_OF_SLOW


@pytest.mark.parametrize(("warmup", "calls"), [(1, 5), (2, 5), (3, 1 + 5)])
def test_calls_that_were_made_before_are_the_first_of_those_that_warm_up(
    warmup: int, calls: int, backend: Watched
) -> None:
    settings = Settings(warmup=warmup, runs=5)
    took = (LONGEST_NS + 1, LONGEST_NS)
    result = Engine(backend, NoCounters()).measure(backend.work(LONGEST_NS), settings, output_bytes=0, took=took)
    assert backend.events.count("call") == calls
    assert result.facts["warmup_calls"] == max(warmup, 2)
    assert len(result.time.samples) == 5


def test_first_calls_that_were_long_by_themselves_do_not_make_the_block_short(backend: Watched) -> None:
    settings = Settings(warmup=1, runs=3)
    result = Engine(backend, NoCounters()).measure(backend.work(STEADY_NS), settings, output_bytes=0, took=(10**9,))
    assert result.facts["calls_per_sample"] == 5
    assert result.time.seconds() == pytest.approx([1e-4] * 3)


def test_without_a_count_warm_up_goes_on_until_times_settle_whatever_went_before(backend: Watched) -> None:
    engine = Engine(backend, NoCounters())
    counts = []
    for took in ((), (LONGEST_NS,) * 3):
        backend.events.clear()
        result = engine.measure(backend.work(LONGEST_NS), Settings(runs=1), output_bytes=0, took=took)
        counts.append((backend.events.count("call"), result.facts["warmup_calls"]))
    assert counts[1] == (counts[0][0], counts[0][1] + 3)


def test_asked_warm_up_calls_are_made_before_anything_else(backend: Watched) -> None:
    Engine(backend, NoCounters()).measure(backend.work(STEADY_NS), Settings(warmup=33, runs=1), output_bytes=0)
    assert backend.events[:34] == ["call"] * 33 + ["wait"]


def test_a_block_of_one_call_is_a_latency_sample_already(backend: Watched) -> None:
    result = Engine(backend, NoCounters()).measure(backend.work(50_000_000), Settings(runs=3), output_bytes=0)
    assert result.samples("latency") is result.time


@pytest.mark.parametrize("name", ["latency", "memory"])
def test_what_is_not_asked_for_is_not_measured(name: str, backend: Watched) -> None:
    settings = Settings(**{name: False})  # type: ignore[arg-type]
    result = Engine(backend, NoCounters()).measure(backend.work(STEADY_NS), settings, output_bytes=0)
    assert not [metric for metric in result.metrics if metric.startswith(name)]
    assert name not in result.spent


def test_a_cold_cache_is_swept_before_each_call(backend: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_sweep", lambda: lambda: backend.events.append("sweep"))
    result = Engine(backend, NoCounters()).measure(
        backend.work(STEADY_NS), Settings(cache="cold", runs=3), output_bytes=0
    )
    before = [backend.events[i - 2 : i] for i, event in enumerate(backend.events) if event == "call"]
    assert before == [["sweep", "wait"]] * len(before)
    assert (result.facts["cache"], result.facts["sync"]) == ("cold", "call")


def test_a_devices_own_cache_is_swept_in_place_of_the_cpus(backend: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_sweep", lambda: pytest.fail("the CPU's cache was swept"))
    monkeypatch.setattr(backend, "cache_sweep", lambda: lambda: backend.events.append("sweep"))
    Engine(backend, NoCounters()).measure(backend.work(STEADY_NS), Settings(cache="cold", runs=3), output_bytes=0)
    assert backend.events.count("sweep") == backend.events.count("call") > 3


def test_a_device_whose_cache_nobody_can_empty_is_not_called_cold(backend: Watched) -> None:
    backend.side = replace(backend.side, device="cuda:0")
    with pytest.raises(Unsupported, match="does not report the size of the device's cache"):
        Engine(backend, NoCounters()).measure(backend.work(STEADY_NS), Settings(cache="cold"), output_bytes=0)


def test_a_hot_cache_is_not_swept(backend: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_sweep", lambda: pytest.fail("swept"))
    Engine(backend, NoCounters()).measure(backend.work(STEADY_NS), Settings(runs=1), output_bytes=0)


@pytest.fixture
def collecting() -> Iterator[None]:
    """Garbage collection is on before a test, and as it was after it."""
    enabled = gc.isenabled()
    gc.enable()
    yield
    if not enabled:
        gc.disable()


@pytest.mark.usefixtures("collecting")
def test_no_garbage_is_collected_while_samples_are_taken(backend: Watched) -> None:
    seen: set[bool] = set()

    def call(*_: Any) -> None:
        seen.add(gc.isenabled())
        backend.clock.advance(STEADY_NS)

    Engine(backend, NoCounters()).measure(backend.work(0, function=call), Settings(runs=2), output_bytes=0)
    assert seen == {False}
    assert gc.isenabled()


@pytest.mark.usefixtures("collecting")
@pytest.mark.parametrize("turn", [0, 30, 300])
def test_garbage_is_collected_again_after_an_operator_that_raises(turn: int, backend: Watched) -> None:
    turns = iter(range(10**6))

    def call(*_: Any) -> None:
        backend.clock.advance(STEADY_NS)
        if next(turns) == turn:
            raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        Engine(backend, NoCounters()).measure(backend.work(0, function=call), Settings(runs=99), output_bytes=0)
    assert gc.isenabled()


@pytest.mark.usefixtures("collecting")
def test_garbage_collection_that_was_off_stays_off(backend: Watched) -> None:
    gc.disable()
    Engine(backend, NoCounters()).measure(backend.work(STEADY_NS), Settings(runs=2), output_bytes=0)
    assert not gc.isenabled()


def test_every_call_is_made_within_the_scope_of_the_work(backend: Watched) -> None:
    depth = 0
    seen: set[int] = set()

    @contextmanager
    def scope() -> Iterator[None]:
        nonlocal depth
        depth += 1
        yield
        depth -= 1

    def call(*_: Any) -> None:
        seen.add(depth)
        backend.clock.advance(STEADY_NS)

    work = Work(call, (), {}, scope)
    Engine(backend, NoCounters()).measure(work, Settings(runs=2), output_bytes=0)
    assert (seen, depth) == ({1}, 0)


class Busy(NoCounters):
    """Counters of a machine that disturbs every sample but each third one, and steals time."""

    def __init__(self) -> None:
        self.switches = 0
        self.readings = 0

    def read(self) -> Reading:
        self.readings += 1
        if self.readings % 6 in (2, 4):  # the second reading of the first two samples of three
            self.switches += 1
        return Reading(self.switches, 0, None)

    def host(self) -> HostReading:
        return HostReading(stolen=float(self.readings), throttled=0, capped=0.0)


def test_sampling_goes_on_until_enough_samples_are_clean(backend: Watched) -> None:
    result = Engine(backend, Busy()).measure(backend.work(STEADY_NS), Settings(trial_budget=100), output_bytes=0)
    assert sum(sample.clean for sample in result.time.samples) == 20
    assert len(result.time.samples) == 60


def test_time_stolen_while_samples_were_taken_is_doubted(backend: Watched) -> None:
    result = Engine(backend, Busy()).measure(backend.work(STEADY_NS), Settings(runs=30), output_bytes=0)
    assert [doubt.slug for doubt in result.warnings] == ["stolen_time"]


def test_threads_are_looked_for_after_the_warm_up_and_before_the_first_sample(backend: Watched) -> None:
    seen: list[int] = []

    class Counters(NoCounters):
        def watch(self) -> None:
            seen.append(backend.events.count("call"))

    Engine(backend, Counters()).measure(backend.work(STEADY_NS), Settings(runs=1, warmup=50), output_bytes=0)
    assert len(seen) == 1
    assert seen[0] >= 50


def test_a_drifting_operator_is_doubted(backend: Watched) -> None:
    turns = iter(range(10**6))
    work = backend.work(lambda: STEADY_NS + 500 * next(turns))
    result = Engine(backend, NoCounters()).measure(work, Settings(runs=40), output_bytes=0)
    assert [doubt.slug for doubt in result.warnings] == ["drifting"]


def test_outputs_that_are_held_bound_the_block(watched: type[Watched]) -> None:
    backend = watched(collects=True)
    result = Engine(backend, NoCounters()).measure(backend.work(STEADY_NS), Settings(runs=2), output_bytes=40 * 2**20)
    assert result.facts["calls_per_sample"] == 1
    assert max(map(len, backend.waited)) == 1
