import math
import random

import pytest

from opperf.domain.stats.random_effects import merge


def spread(effects: list[float], errors: list[float], between: float) -> float:
    weights = [1 / (error**2 + between**2) for error in errors]
    mean = sum(weight * effect for weight, effect in zip(weights, effects)) / sum(weights)
    return sum(weight * (effect - mean) ** 2 for weight, effect in zip(weights, effects))


def test_the_variance_between_machines_is_where_the_spread_is_what_is_expected() -> None:
    effects, errors = [0.02, 0.11, -0.03, 0.2, 0.07], [0.01, 0.02, 0.015, 0.03, 0.01]
    merged = merge(effects, errors)
    assert spread(effects, errors, merged.between) == pytest.approx(4)


def test_machines_that_agree_have_no_variance_between_them() -> None:
    merged = merge([0.1, 0.1001, 0.0999], [0.01, 0.02, 0.01])
    assert (merged.between, merged.heterogeneity) == (0.0, 0.0)
    assert merged.mean == pytest.approx(0.1, abs=1e-4)


def test_a_machine_that_is_known_better_counts_for_more() -> None:
    assert merge([0.0, 0.01], [0.005, 0.05]).mean < 0.001


def test_what_is_measured_without_error_is_merged_too() -> None:
    merged = merge([0.0, 0.1], [0.0, 0.0])
    assert merged.mean == pytest.approx(0.05)
    assert merged.heterogeneity == pytest.approx(1.0)


def test_one_machine_is_not_merged() -> None:
    with pytest.raises(ValueError, match="two"):
        merge([0.1], [0.01])


@pytest.mark.parametrize(("machines", "between"), [(3, 0.0), (3, 0.03), (5, 0.05), (10, 0.02)])
def test_the_interval_holds_the_truth_as_often_as_it_says(machines: int, between: float) -> None:
    seed = 19
    generator, inside, times = random.Random(seed), 0, 1000
    for _ in range(times):
        errors = [generator.uniform(0.005, 0.02) for _ in range(machines)]
        effects = [generator.gauss(generator.gauss(0.05, between), error) for error in errors]
        low, high = merge(effects, errors).interval
        inside += low <= 0.05 <= high
    assert inside / times >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / times), f"seed {seed}"
