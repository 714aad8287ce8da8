"""Memory that calls leave: what grows again when as many calls are made once more, and nothing else."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from tests.each import each

from opperf.child.measure.disturbance import NoCounters, ProcessCounters
from opperf.child.measure.engine import Engine
from opperf.child.measure.growth import NOTABLE, PLENTY
from opperf.domain.measurement import Measurement
from opperf.domain.plan import Settings

if TYPE_CHECKING:
    from tests.unit.child.measure.conftest import Watched

#: Ten samples of five calls, after five calls of warm-up.
SETTINGS = Settings(warmup=5, runs=10)
CALLS = 50


class Scale(NoCounters):
    """Counters that say how large the process is: so large at first, and by what each call adds."""

    def __init__(self, growth: Callable[[int], float]) -> None:
        self.calls, self._growth = 0, growth

    def memory(self) -> int:
        return 10 * NOTABLE + round(sum(map(self._growth, range(self.calls))))


def measure(backend: Watched, growth: Callable[[int], float], settings: Settings = SETTINGS) -> Measurement:
    """Measure calls that each add bytes to the process, by their number."""
    scale = Scale(growth)

    def count() -> int:
        scale.calls += 1
        return 100_000

    return Engine(backend, scale).measure(backend.work(count), settings, output_bytes=0)


def left(measurement: Measurement) -> float | None:
    """Return what a call left."""
    quantity = measurement.quantity("memory_kept")
    return None if quantity is None else quantity.value


@each("settings", [SETTINGS, Settings(), Settings(runs=10, latency=False)])
def test_a_call_that_goes_on_leaving_memory_has_a_warning_with_how_much(
    settings: Settings, watched: type[Watched]
) -> None:
    result = measure(watched(), lambda call: NOTABLE / 10, settings)
    assert left(result) == NOTABLE / 10
    (leak,) = (warning for warning in result.warnings if warning.slug == "leak")
    assert leak.message.startswith("each call leaves about 105 kB in memory")


@each(
    "growth",
    [
        lambda call: 0.0,
        lambda call: NOTABLE / CALLS / 2,  # too little to be told from what samples take
        lambda call: NOTABLE if call < 40 else 0.0,  # a cache that was full at last
        lambda call: NOTABLE / 2 if call < 60 else NOTABLE / 100,  # what slows down
        lambda call: -NOTABLE / 100,
    ],
)
def test_growth_that_does_not_go_on_is_none(growth: Callable[[int], float], watched: type[Watched]) -> None:
    result = measure(watched(), growth)
    assert left(result) == 0
    assert result.warnings == ()


def test_little_growth_costs_no_further_calls(watched: type[Watched]) -> None:
    still, growing = watched(), watched()
    measure(still, lambda call: 0.0)
    measure(growing, lambda call: NOTABLE / 10)
    assert growing.events.count("call") - still.events.count("call") == CALLS


@pytest.mark.parametrize(
    ("each_call", "settings", "calls"),
    [(PLENTY // 4, SETTINGS, 5), (NOTABLE, Settings(warmup=5, runs=10, trial_budget=0.0012), 15)],
)
def test_the_second_look_ends_before_it_fills_the_memory_and_within_the_budget(
    each_call: int, settings: Settings, calls: int, watched: type[Watched]
) -> None:
    still, growing = watched(), watched()
    measure(still, lambda call: 0.0, settings)
    result = measure(growing, lambda call: each_call, settings)
    assert growing.events.count("call") - still.events.count("call") == calls
    assert left(result) == each_call


def test_the_memory_of_a_real_process_is_seen_to_grow_and_not_what_it_gives_back(watched: type[Watched]) -> None:
    private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    stay: list[mmap.mmap] = []

    def fill() -> mmap.mmap:
        block = mmap.mmap(-1, NOTABLE, flags=private)
        block.write(bytes(NOTABLE))
        return block

    def grow() -> int:
        stay.append(fill())
        return 100_000

    def give_back() -> int:
        fill().close()
        return 100_000

    results = []
    for call in (grow, give_back):
        backend = watched()
        engine = Engine(backend, ProcessCounters())
        results.append(engine.measure(backend.work(call), SETTINGS, output_bytes=0))
        stay.clear()
    assert left(results[0]) == pytest.approx(NOTABLE, rel=0.1)
    assert left(results[1]) == 0


def test_where_nobody_tells_the_memory_nothing_is_said(watched: type[Watched]) -> None:
    backend = watched()
    result = Engine(backend, NoCounters()).measure(backend.work(100_000), SETTINGS, output_bytes=0)
    assert left(result) is None
    assert left(measure(watched(), lambda call: NOTABLE, Settings(runs=10, memory=False))) is None
