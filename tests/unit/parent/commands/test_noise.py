"""How long a study of identical code goes on."""

from __future__ import annotations

import pytest

from opperf.domain.errors import InputError
from opperf.parent.commands import noise
from opperf.parent.commands.noise import MINUTES, MOST_REPEATS, Clock, Study, study
from opperf.parent.sources.options import Studying


class Time:
    """A clock that only the test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        """Return the time, in seconds."""
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    """The time that the study reads."""
    result = Time()
    monkeypatch.setattr(noise, "time", result)
    return result


def rounds(clock: Clock, time: Time, seconds: float, kinds: int) -> int:
    """Return how many rounds are made that take so long each."""
    while clock.has_time():
        for _ in range(kinds):
            time.now += seconds
            clock.count()
    return clock.rounds


def test_repetitions_that_the_user_names_are_made_however_long_they_take(time: Time) -> None:
    assert rounds(Clock(None, 2, 3), time, 1000.0, 2) == 6


def test_without_a_number_as_many_are_made_as_fit_and_one_in_any_case(time: Time) -> None:
    assert rounds(Clock(None, 2, None), time, MINUTES, 2) == 2
    assert rounds(Clock(None, 2, None), time, MINUTES / 7, 2) == 6
    assert rounds(Clock(60.0, 2, None), time, 10.0, 2) == 6
    assert rounds(Clock(None, 1, None), time, 0.001, 1) == MOST_REPEATS


def test_a_budget_is_shared_out_among_the_rounds_that_are_sure_to_come(time: Time) -> None:
    clock = Clock(60.0, 2, 3)
    assert clock.share() == 10.0
    time.now += 20.0  # the first round took longer
    clock.count()
    assert clock.share() == 8.0
    assert Clock(None, 2, 3).share() is None


def test_a_round_says_how_long_the_rest_will_take(time: Time) -> None:
    clock = Clock(None, 2, 3)
    assert (clock.whole, clock.left) == (" of 6", "")
    time.now += 10.0
    clock.count()
    assert clock.left == "; about 50 s to go"
    free = Clock(None, 2, None)
    time.now += 7.0
    free.count()
    assert (free.whole, free.left) == ("", "; 7 s so far, up to 300 s")


def test_error_rates_are_measured_at_five_per_cent_and_as_often_as_time_allows() -> None:
    assert study(Studying()) == Study(3, None, layout=False)
    assert study(Studying(error_rate=True)) == Study(None, 0.05, layout=False)
    assert study(Studying(7, error_rate=True, effect=0.03, layout=True)) == Study(7, 0.03, layout=True)


def test_an_effect_alone_is_refused() -> None:
    with pytest.raises(InputError, match="needs `--error-rate`"):
        study(Studying(effect=0.05))
