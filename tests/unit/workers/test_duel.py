"""What a pair of processes says: equal counts of clean samples of the same rounds."""

from __future__ import annotations

import pytest

from opperf.measurement import Sample, Samples
from opperf.workers.duel import pair_value


def turn(*nanoseconds: int, disturbed: int = 0) -> Samples:
    """Return a turn of clean samples of one call each, the first `disturbed` of them marked as not clean."""
    return Samples(tuple(Sample(1, each, each, clean=i >= disturbed) for i, each in enumerate(nanoseconds)))


def test_a_pair_gives_minimum_median_and_tail_of_each_side() -> None:
    found = pair_value([(turn(100, 200, 300), turn(110, 210, 310))] * 2)
    assert found.samples == 6
    assert found.base is not None
    assert found.new is not None
    assert [found.base[name] for name in ("min", "median", "p90")] == [pytest.approx(i * 1e-7) for i in (1, 2, 3)]
    assert found.new["min"] == pytest.approx(1.1e-7)


def test_both_sides_are_cut_to_the_clean_samples_of_the_poorer_one_round_by_round() -> None:
    rounds = [(turn(100, 100, 100, 50), turn(200, 200, 200, 200, disturbed=1)), (turn(100, 100), turn(200, 200))]
    found = pair_value(rounds)
    assert found.samples == 5
    assert found.base is not None
    assert found.base["min"] == pytest.approx(1e-7)  # the fourth sample of the first round, 50 ns, has no partner


def test_under_five_clean_samples_a_pair_says_nothing() -> None:
    found = pair_value([(turn(100, 100, 100, 100), turn(200, 200, 200, 200))])
    assert (found.base, found.new) == (None, None)
    assert found.reason == "4 undisturbed samples of each side"


def test_a_time_of_zero_has_no_ratio() -> None:
    assert pair_value([(turn(*[0] * 6), turn(*[100] * 6))]).base is None
