"""Extra calls of a side: the share is exact in each block, whether calls are short or long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from opperf.child.measure.block import Block, ProcessClock
from opperf.child.measure.disturbance import NoCounters
from opperf.child.measure.engine import Engine
from opperf.domain.backend import Backend
from opperf.domain.plan import EXTRA_CALLS, Side

if TYPE_CHECKING:
    from tests.unit.child.measure.conftest import Watched


@pytest.fixture
def backend(watched: type[Watched]) -> Watched:
    """A backend on a virtual clock, whose side makes 5 % more calls."""
    result = watched()
    result.side = Side("null", settings={EXTRA_CALLS: "5%"})
    return result


@pytest.mark.parametrize(
    ("calls", "made"), [(100, 105), (20, 21), (30, 31), (19, 19), (1, 1)], ids=lambda number: str(number)
)
def test_a_block_takes_exactly_that_much_longer_by_as_many_whole_calls_as_there_are(
    backend: Watched, calls: int, made: int
) -> None:
    block = Block(backend.work(10_000), backend, NoCounters())
    backend.events.clear()
    sample = block.sample(calls)
    assert (sample.calls, sample.wall_ns, sample.cpu_ns) == (calls, calls * 10_500, calls * 10_500)
    assert backend.events.count("call") == made


def test_a_call_that_needs_its_inputs_anew_takes_that_much_longer(backend: Watched) -> None:
    block = Block(backend.work(1_000_000, before=lambda: (1, 2)), backend, NoCounters())
    backend.events.clear()
    sample = block.sample(3)
    assert (sample.calls, sample.wall_ns) == (3, 3_150_000)
    assert backend.events.count("call") == 3


def test_a_turn_shows_the_time_of_a_call_and_its_extra_share(backend: Watched) -> None:
    engine = Engine(backend, NoCounters())
    for nanoseconds in (10_000, 3_000_000):
        block = engine.block(backend.work(nanoseconds))
        assert engine.turn(block, 2, output_bytes=0).seconds() == pytest.approx([1.05e-9 * nanoseconds] * 2)


def test_a_real_clock_is_waited_for(backend: Watched) -> None:
    backend.clock = clock = ProcessClock()  # type: ignore[assignment]
    until = clock.wall() + 1_000_000
    Backend.spin(backend, until)
    assert clock.wall() >= until
