"""When sampling stops, and when the samples are looked at."""

from __future__ import annotations

import pytest

from opperf.child.measure import stopping as module
from opperf.child.measure.stopping import LEAST, MOST, Count, Precision, stopping
from opperf.domain.plan import Settings

NOISY = [0.5, 1.5] * 2000


def stops_at(rule: Precision | Count, times: list[float], seconds_each: float = 0.0, *, dirty_first: int = 0) -> int:
    """Return after how many samples a rule stops; the first ones may be disturbed."""
    for taken in range(1, len(times) + 1):
        clean = times[dirty_first:taken] if taken > dirty_first else []
        if rule.finished(clean, taken, taken * seconds_each):
            return taken
    raise AssertionError("never stopped")


def test_a_count_stops_at_it() -> None:
    assert stops_at(Count(7), NOISY) == 7


def test_a_count_counts_disturbed_samples_too() -> None:
    assert stops_at(Count(7), NOISY, dirty_first=5) == 7


def test_steady_times_stop_at_the_first_look() -> None:
    assert stops_at(Precision(0.02, 1.0), [1.0] * 100) == 20


@pytest.mark.parametrize(("level", "stop"), [(15, 20), (25, 40), (60, 80), (130, 160)])
def test_samples_are_looked_at_when_their_number_has_doubled(
    level: int, stop: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []

    def precision(clean: list[float]) -> float:
        looks.append(len(clean))
        return 0.0 if len(clean) >= level else 1.0

    monkeypatch.setattr(module, "relative_precision", precision)
    assert stops_at(Precision(0.02, 1.0), [1.0] * 400) == stop
    assert looks == [count for count in (20, 40, 80, 160) if count <= stop]


def test_looks_go_by_clean_samples() -> None:
    assert stops_at(Precision(0.02, 1.0), [1.0] * 100, dirty_first=13) == 33


def test_noisy_times_stop_at_the_cap() -> None:
    assert stops_at(Precision(0.02, 1.0), NOISY) == MOST


def test_samples_that_are_never_clean_stop_at_the_cap() -> None:
    assert stops_at(Precision(0.02, 1.0), NOISY, dirty_first=len(NOISY)) == MOST


def test_noisy_times_stop_when_the_budget_is_spent() -> None:
    assert stops_at(Precision(0.02, budget=1.0), NOISY, 1 / 64) == 64


def test_a_spent_budget_leaves_ten_samples_at_least() -> None:
    assert stops_at(Precision(0.02, budget=1.0), NOISY, 0.25) == LEAST


def test_three_samples_must_do_where_they_take_four_budgets() -> None:
    assert stops_at(Precision(0.02, budget=1.0), NOISY, 2.0) == 3


def test_a_second_trial_begins_with_a_rule_of_its_own() -> None:
    settings = Settings(precision=0.1, trial_budget=2.0)
    assert stopping(settings) == Precision(0.1, 2.0)
    assert stopping(settings) is not stopping(settings)


def test_runs_are_a_count() -> None:
    assert stopping(Settings(runs=5)) == Count(5)
