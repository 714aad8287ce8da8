"""A turn of an interleaved comparison: settle after the switch, then samples of one length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from opperf.child.measure.block import Block
from opperf.child.measure.calibrate import LONG_NS, PROBES, SETTLE_CALLS, SETTLED_NS, settle
from opperf.child.measure.disturbance import NoCounters
from opperf.child.measure.engine import Engine
from opperf.child.measure.lengths import SETTLE_NS, TARGET_NS

if TYPE_CHECKING:
    from tests.unit.child.measure.conftest import Watched


@pytest.fixture
def backend(watched: type[Watched]) -> Watched:
    """A backend on a virtual clock."""
    return watched()


def test_a_short_operator_settles_for_two_milliseconds(backend: Watched) -> None:
    block = Block(backend.work(10_000), backend, NoCounters())
    before = backend.clock.wall()
    settle(block)
    assert SETTLE_NS <= backend.clock.wall() - before < SETTLE_NS + 100_000


@pytest.mark.parametrize(
    ("nanoseconds", "calls"), [(2_000_000, SETTLE_CALLS), (5_000_000, 2), (SETTLED_NS, 1), (50_000_000, 1)]
)
def test_a_long_operator_settles_for_three_calls_or_eight_milliseconds(
    backend: Watched, nanoseconds: int, calls: int
) -> None:
    block = Block(backend.work(nanoseconds), backend, NoCounters())
    backend.events.clear()
    settle(block)
    assert backend.events.count("call") == calls


def test_the_first_turn_finds_the_length_of_a_block_and_later_ones_keep_it(backend: Watched) -> None:
    engine = Engine(backend, NoCounters())
    block = engine.block(backend.work(10_000))
    first = engine.turn(block, 2, output_bytes=0)
    assert [sample.calls for sample in first.samples] == [TARGET_NS // 10_000] * 2
    backend.events.clear()
    second = engine.turn(block, 3, output_bytes=0)
    assert [sample.calls for sample in second.samples] == [TARGET_NS // 10_000] * 3
    settled = backend.events.count("call") - sum(sample.calls for sample in second.samples)
    assert 0 < settled * 10_000 < 2 * SETTLE_NS  # no probing and no warm-up again


def test_a_turn_measures_exactly(backend: Watched) -> None:
    engine = Engine(backend, NoCounters())
    assert set(engine.turn(engine.block(backend.work(10_000)), 4, output_bytes=0).seconds()) == {1e-5}


def test_a_call_that_takes_long_is_made_twice_in_each_turn_and_timed_once(backend: Watched) -> None:
    engine = Engine(backend, NoCounters())
    block = engine.block(backend.work(LONG_NS))
    for asked in (2, 1):  # the first turn does not know yet how long a call takes
        backend.events.clear()
        samples = engine.turn(block, asked, output_bytes=0).samples
        assert [sample.calls for sample in samples] == [1]
        assert backend.events.count("call") == 2


def test_probes_that_took_long_are_the_warm_up(backend: Watched) -> None:
    engine = Engine(backend, NoCounters())
    block = engine.block(backend.work(LONG_NS // 4))
    backend.events.clear()
    assert len(engine.turn(block, 2, output_bytes=0).samples) == 2
    assert backend.events.count("call") == PROBES + 2
