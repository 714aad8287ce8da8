"""How long a block is, and how long the warm-up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opperf.child.measure.block import Block
from opperf.child.measure.calibrate import LONG_NS, MOST_BLOCKS, MOST_OF_BUDGET, WARMUP_SHARE, probe, warm_up
from opperf.child.measure.disturbance import NoCounters
from opperf.child.measure.lengths import IN_FLIGHT_BYTES, LONGEST_NS, TARGET_NS, Lengths

if TYPE_CHECKING:
    from tests.unit.child.measure.conftest import Watched


@given(st.floats(0, 1e10))
def test_a_block_is_one_call_or_not_over_its_longest(each: float) -> None:
    calls = Lengths().calls(each, output_bytes=0, holds=False)
    assert calls >= 1
    assert calls == 1 or calls * each <= LONGEST_NS


@given(st.floats(1, TARGET_NS / 10))
def test_a_block_of_short_calls_is_near_its_target(each: float) -> None:
    assert Lengths().calls(each, output_bytes=0, holds=False) * each == pytest.approx(TARGET_NS, rel=0.06)


def test_a_call_that_takes_no_time_does_not_make_an_endless_block() -> None:
    assert Lengths().calls(0.0, output_bytes=0, holds=False) == TARGET_NS


@pytest.mark.parametrize(
    ("output_bytes", "held", "calls"),
    [
        (IN_FLIGHT_BYTES // 4, True, 4),
        (IN_FLIGHT_BYTES * 2, True, 1),
        (IN_FLIGHT_BYTES * 2, False, 50),
        (0, True, 50),
    ],
)
def test_outputs_that_are_held_bound_the_block(output_bytes: int, held: bool, calls: int) -> None:
    assert Lengths().calls(TARGET_NS / 50, output_bytes=output_bytes, holds=held) == calls


@pytest.mark.parametrize("each", [1, 37, 1_000, 20_000, 400_000, 3_000_000])
def test_the_probe_finds_the_calls_of_a_steady_operator(each: int, watched: type[Watched]) -> None:
    backend = watched()
    result = probe(Block(backend.work(each), backend, NoCounters()), output_bytes=0, holds=False)
    assert result == Lengths().calls(each, output_bytes=0, holds=False)


def test_a_fixed_cost_of_waiting_does_not_make_the_block_short(watched: type[Watched]) -> None:
    # One call alone takes 51 us, a thousand take 1050: what one probe of one call says is not to be believed.
    backend = watched(wait_ns=50_000)
    result = probe(Block(backend.work(1_000), backend, NoCounters()), output_bytes=0, holds=False)
    assert TARGET_NS * 0.4 <= result * 1_000 <= LONGEST_NS


def test_two_disturbed_probes_of_three_do_not_make_the_block_short(watched: type[Watched]) -> None:
    backend = watched()
    work = backend.work(lambda: 10_000 if len(backend.waited) % 3 == 2 else 2_000_000)
    quiet = Lengths().calls(10_000, output_bytes=0, holds=False)
    assert probe(Block(work, backend, NoCounters()), output_bytes=0, holds=False) == quiet


@pytest.mark.parametrize(("each", "calls"), [(LONGEST_NS, 3), (LONG_NS - 1, 3), (LONG_NS, 1)])
def test_a_call_longer_than_a_block_is_probed_no_more_than_needed(
    each: int, calls: int, watched: type[Watched]
) -> None:
    backend = watched()
    assert probe(Block(backend.work(each), backend, NoCounters()), output_bytes=0, holds=False) == 1
    assert backend.events.count("call") == calls


def test_a_block_with_a_cold_cache_is_one_call(watched: type[Watched]) -> None:
    backend = watched()
    block = Block(backend.work(10), backend, NoCounters(), sweep=lambda: None)
    assert probe(block, output_bytes=0, holds=False) == 1
    assert backend.events.count("call") == 1


def test_the_probe_ends_for_an_operator_that_takes_no_time(watched: type[Watched]) -> None:
    backend = watched()
    assert probe(Block(backend.work(0), backend, NoCounters()), output_bytes=0, holds=False) == TARGET_NS


def test_a_steady_operator_is_warm_after_two_windows(watched: type[Watched]) -> None:
    backend = watched()
    assert warm_up(Block(backend.work(1_000), backend, NoCounters()), 10 * WARMUP_SHARE, budget=1.0) == 6 * 10


def test_a_block_that_is_too_short_to_share_is_warmed_up_whole(watched: type[Watched]) -> None:
    backend = watched()
    assert warm_up(Block(backend.work(1_000), backend, NoCounters()), 1, budget=1.0) == 6


def test_warm_up_goes_on_while_times_fall(watched: type[Watched]) -> None:
    backend = watched()
    turns = iter(range(10**6))
    work = backend.work(lambda: max(1_000, 10_000 - 300 * next(turns)))  # the 31st call is the first of 1 us
    assert warm_up(Block(work, backend, NoCounters()), 1, budget=1.0) == 31 + 3


def test_warm_up_takes_its_share_of_the_budget_at_most(watched: type[Watched]) -> None:
    backend = watched()
    turns = iter(range(10**6))
    work = backend.work(lambda: round(1_000_000 * 0.9 ** next(turns)) + 10_000_000)
    calls = warm_up(Block(work, backend, NoCounters()), 1, budget=0.1)
    assert calls <= MOST_OF_BUDGET * 0.1 / 0.01 + 1


def test_warm_up_of_a_long_call_is_one_call(watched: type[Watched]) -> None:
    backend = watched()
    assert warm_up(Block(backend.work(10_000_000_000), backend, NoCounters()), 1, budget=0.5) == 1


def test_warm_up_ends_for_an_operator_that_always_gets_faster(watched: type[Watched]) -> None:
    backend = watched()
    turns = iter(range(10**6))
    work = backend.work(lambda: round(10**9 * 0.9 ** next(turns)))
    assert warm_up(Block(work, backend, NoCounters()), 1, budget=1e6) <= MOST_BLOCKS
