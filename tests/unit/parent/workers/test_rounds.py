"""What a pair of processes says: equal counts of clean samples, round by round, and the centre over rounds."""

from __future__ import annotations

import math

import pytest

from opperf.domain.measurement import Sample, Samples
from opperf.parent.workers.rounds import Patience, enough, pair_value, samples_of_a_turn


def turn(*nanoseconds: int, disturbed: int = 0) -> Samples:
    """Return a turn of clean samples of one call each, the first `disturbed` of them marked as not clean."""
    return Samples(tuple(Sample(1, each, each, clean=i >= disturbed) for i, each in enumerate(nanoseconds)))


def test_a_pair_gives_minimum_median_and_tail_of_each_side() -> None:
    result = pair_value([(turn(100, 200, 300), turn(110, 210, 310))] * 5)
    assert result.rounds == 5
    assert result.log_ratio == pytest.approx(math.log(1.1))
    assert result.base is not None
    assert [result.base[name] for name in ("min", "median", "p90")] == [pytest.approx(i * 1e-7) for i in (1, 2, 3)]


def test_a_round_in_which_the_machine_changed_its_mood_is_outvoted() -> None:
    steady = [(turn(100, 100), turn(105, 105))] * 6
    assert pair_value([*steady, (turn(100, 100), turn(400, 400))]).log_ratio == pytest.approx(math.log(1.05))


def test_slow_and_fast_moods_of_both_sides_leave_the_ratio_alone() -> None:
    rounds = [(turn(100, 100), turn(105, 105)), (turn(200, 200), turn(210, 210))] * 4
    assert pair_value(rounds).log_ratio == pytest.approx(math.log(1.05))


def test_both_sides_are_cut_to_the_clean_samples_of_the_poorer_one_round_by_round() -> None:
    rounds = [(turn(100, 100, 100, 50), turn(200, 200, 200, 200, disturbed=1))] * 5
    # the fourth sample of the base, 50 ns, has no partner: the new side has three clean ones
    assert pair_value(rounds).log_ratio == pytest.approx(math.log(2))


def test_rounds_without_a_clean_sample_on_each_side_do_not_count() -> None:
    result = pair_value([(turn(100, 100), turn(200, 200))] * 4 + [(turn(100, 100, disturbed=2), turn(200, 200))] * 9)
    assert (result.log_ratio, result.base, result.new) == (None, None, None)
    assert result.reason == "4 rounds with undisturbed samples of both sides"


def test_what_the_place_in_memory_does_to_either_side_evens_out() -> None:
    unlucky = [(turn(100, 100), turn(105, 105)), (turn(130, 130), turn(105, 105)), (turn(100, 100), turn(136, 136))]
    result = pair_value(unlucky * 6).log_ratio
    assert result is not None
    assert abs(result - math.log(1.05)) < 0.02


def long_turn(wall_ms: int, cpu_ms: int) -> Samples:
    """Return a turn of two disturbed samples of one call, kept from the CPU for the rest of their wall time."""
    wall, cpu = wall_ms * 1_000_000, cpu_ms * 1_000_000
    return Samples((Sample(1, wall, cpu, waiting_ns=wall - cpu, clean=False),) * 2)


def test_cpu_time_stands_in_for_long_calls_that_a_neighbour_always_disturbs() -> None:
    rounds = [(long_turn(40, 20), long_turn(90, 21))] * 6
    result = pair_value(rounds, cpu_may_stand_in=True)
    assert result.log_ratio == pytest.approx(math.log(1.05))
    assert result.clock == "cpu"


def test_cpu_time_does_not_stand_in_for_short_calls_several_threads_or_devices() -> None:
    short = Samples((Sample(1, 40_000, 20_000, clean=False),) * 2)
    assert pair_value([(short, short)] * 6, cpu_may_stand_in=True).log_ratio is None
    assert pair_value([(long_turn(40, 20), long_turn(90, 21))] * 6).log_ratio is None


@pytest.mark.parametrize("places", [(0,), (1,), (0, 1)])
def test_cpu_time_does_not_stand_in_where_either_side_waits(places: tuple[int, ...]) -> None:
    waiting = Samples((Sample(1, 22_000_000, 2_000_000, switches=1, clean=False, voluntary=1),) * 2)
    pair = tuple(waiting if place in places else long_turn(40, 20) for place in (0, 1))
    result = pair_value([(pair[0], pair[1])] * 6, cpu_may_stand_in=True)
    assert (result.log_ratio, result.clock) == (None, "wall")
    assert "calls that wait" in str(result.reason)


def test_wall_time_decides_where_enough_rounds_were_left_alone() -> None:
    clean = Samples((Sample(1, 20_000_000, 20_000_000),) * 2)
    result = pair_value([(clean, clean)] * 5 + [(long_turn(40, 20), long_turn(90, 40))] * 9, cpu_may_stand_in=True)
    assert (result.clock, result.log_ratio, result.rounds) == ("wall", 0.0, 5)


def test_cpu_time_comes_first_where_that_is_wanted_unless_either_side_waits() -> None:
    computing = [(long_turn(5, 3), long_turn(7, 4))] * 4 + [
        (turn(4_000_000, 4_000_000), turn(5_000_000, 5_000_000))
    ] * 9
    by_clock, by_cpu = (pair_value(computing, by_cpu=by_cpu) for by_cpu in (False, True))
    assert [(one.clock, one.rounds) for one in (by_clock, by_cpu)] == [("wall", 9), ("cpu", 13)]
    waiting = Samples((Sample(1, 4_000_000, 1_000_000),) * 2)
    assert pair_value([(turn(4_000_000, 4_000_000), waiting)] * 9, by_cpu=True).clock == "wall"


def test_a_time_of_zero_has_no_ratio() -> None:
    assert pair_value([(turn(0, 0), turn(100, 100))] * 9).log_ratio is None


@pytest.mark.parametrize(
    ("base", "new", "samples"), [(500_000, 600_000, 4), (500_000, 1_300_000, 3), (9**8, 9, 2), (9**9, 9, 1)]
)
def test_turns_of_both_sides_have_as_many_samples_as_fit(base: int, new: int, samples: int) -> None:
    assert samples_of_a_turn((turn(base, 2 * base), turn(new, 2 * new))) == samples


def rounds_of(count: int, *ratios: float) -> list[tuple[Samples, Samples]]:
    """Return rounds whose new side takes the base's time by each of these ratios in turn."""
    times = [round(1_000_000 * ratios[i % len(ratios)]) for i in range(count)]
    return [(turn(1_000_000, 1_000_000), turn(time, time)) for time in times]


@pytest.mark.parametrize(("count", "seconds"), [(24, 0.1), (7, 0.7)])
def test_a_pair_ends_with_its_rounds_or_its_time(count: int, seconds: float) -> None:
    assert not enough(rounds_of(count - 1, 1.0, 1.2), seconds - 0.2, Patience())
    assert enough(rounds_of(count, 1.0, 1.2), seconds, Patience())


def test_a_pair_whose_rounds_differ_goes_on_while_there_is_patience() -> None:
    patience = Patience(2.0, 0.01)
    assert not enough(rounds_of(95, 1.0, 1.2), 1.9, patience)
    assert enough(rounds_of(96, 1.0, 1.2), 1.9, patience)
    assert enough(rounds_of(30, 1.0, 1.2), 2.0, patience)


@pytest.mark.parametrize("ratio", [0.5, 1.0, 2.0])
def test_a_pair_whose_rounds_agree_ends_early_whatever_they_say(ratio: float) -> None:
    patience = Patience(2.0, 0.01)
    assert enough(rounds_of(24, 0.995 * ratio, 1.005 * ratio), 0.3, patience)
    assert not enough(rounds_of(24, 0.98 * ratio, 1.02 * ratio), 0.3, patience)


@pytest.mark.parametrize(("count", "seconds"), [(7, 0.25), (200, 0.25), (2, 4.0)])
def test_a_pair_with_a_time_of_its_own_samples_for_that_long_and_no_longer(count: int, seconds: float) -> None:
    call = 1_000_000 if count > 2 else LONG
    rounds = [(turn(call), turn(round(call * ratio))) for ratio in (1.0, 1.2)] * (count // 2 + 1)
    patience = Patience(9.0, 0.01, sampling=seconds)
    assert not enough(rounds, seconds - 0.1, patience)
    assert enough(rounds, seconds, patience)


def test_a_pair_with_a_time_of_its_own_ends_when_its_ratio_is_known_and_not_before_it_can_be() -> None:
    patience = Patience(0.0, 0.01, sampling=9.0)
    assert not enough(rounds_of(23, 1.0), 0.5, patience)
    assert enough(rounds_of(24, 1.0), 0.5, patience)
    assert not enough(rounds_of(6, 1.0, 1.2), 0.5, Patience(sampling=0.6))


LONG, SHORTER = 100_000_000, 90_000_000


@pytest.mark.parametrize("flipped", [False, True])
def test_two_rounds_of_calls_that_take_long_are_enough_whatever_they_say(flipped: bool) -> None:
    one = (turn(LONG), turn(SHORTER))
    rounds = [one[::-1] if flipped else one] * 2
    assert not enough(rounds[:1], 9.0, Patience(0.0))
    assert enough(rounds, 0.3, Patience(9.0, 0.001))
    sign = -1 if flipped else 1
    assert pair_value(rounds).log_ratio == pytest.approx(sign * math.log(0.9))


def test_shorter_calls_take_as_many_rounds_as_ever() -> None:
    rounds = [(turn(SHORTER), turn(SHORTER))]
    assert not enough(rounds * 5, 9.0, Patience())
    assert enough(rounds * 6, 9.0, Patience())
    assert pair_value(rounds * 4).log_ratio is None


def test_long_calls_that_were_disturbed_get_more_rounds_unless_cpu_time_stands_in() -> None:
    disturbed = (turn(LONG, disturbed=1), turn(LONG))
    rounds = [(turn(LONG), turn(LONG)), disturbed]
    assert not enough(rounds, 9.0, Patience())
    assert enough([*rounds, rounds[0]], 9.0, Patience())
    assert enough([disturbed] * 6, 9.0, Patience())
    assert enough(rounds, 9.0, Patience(), cpu_may_stand_in=True)
    waiting = Samples((Sample(1, LONG, 2_000_000, switches=1, clean=False, voluntary=1),))
    assert not enough([(waiting, waiting)] * 2, 9.0, Patience(), cpu_may_stand_in=True)


def test_cpu_time_of_two_rounds_stands_in_for_calls_that_take_long() -> None:
    result = pair_value([(long_turn(900, 200), long_turn(400, 210))] * 2, cpu_may_stand_in=True)
    assert (result.clock, result.rounds) == ("cpu", 2)
    assert result.log_ratio == pytest.approx(math.log(1.05))


def test_a_pair_whose_rounds_were_disturbed_goes_on_while_there_is_patience() -> None:
    disturbed = [(turn(100, 100, disturbed=2), turn(100, 100))] * 30
    assert not enough(disturbed, 0.7, Patience(2.0, 0.01))
    assert enough(disturbed, 0.7, Patience())
