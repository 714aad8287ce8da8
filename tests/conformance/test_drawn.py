"""What is drawn differs from framework to framework; how far it spreads does not."""

from __future__ import annotations

import math
from statistics import fmean, pstdev

import pytest
from tests.conformance.conftest import LIBRARIES, Bench
from tests.each import each

from opperf.catalog import operator
from opperf.domain.case import Case, DType
from opperf.domain.errors import OperatorFailure

#: Of weights (out, in) of this shape.
OUT, IN = 200, 50
SPREAD = {
    "xavier_uniform": math.sqrt(2 / (OUT + IN)),
    "xavier_normal": math.sqrt(2 / (OUT + IN)),
    "kaiming_uniform": math.sqrt(2 / IN),
    "kaiming_normal": math.sqrt(2 / IN),
}


def drawn(bench: Bench, name: str, shape: tuple[int, int]) -> list[float] | None:
    """Return the numbers of an operator, None where the framework says why it has none."""
    usual = operator(name).case("small").attributes
    try:
        (result,) = bench.evaluate(Case(name, {}, {**usual, "shape": shape, "dtype": DType("float32")}))
    except OperatorFailure as failure:
        if failure.reason.slug != "no_such_operator":
            raise
        if bench.name in LIBRARIES:
            pytest.skip(failure.reason.message)
        return None
    return result.values


@each("name", SPREAD)
def test_weights_spread_as_the_shape_says(name: str, backend: Bench) -> None:
    values = drawn(backend, name, (OUT, IN))
    assert values is not None
    # 10 000 numbers: their deviation is within 0.7 % in two of three draws.
    assert pstdev(values) == pytest.approx(SPREAD[name], rel=0.04)
    assert fmean(values) == pytest.approx(0, abs=0.05 * SPREAD[name])


def test_an_orthogonal_matrix_has_columns_of_length_one_at_right_angles(backend: Bench) -> None:
    values = drawn(backend, "orthogonal", (8, 3))
    assert values is not None
    columns = [values[i::3] for i in range(3)]
    for i, one in enumerate(columns):
        for j, other in enumerate(columns):
            assert sum(map(float.__mul__, one, other)) == pytest.approx(float(i == j), abs=1e-5)


@each(
    ("name", "mean"),
    [
        ("random_poisson", 3.0),
        ("random_exponential", 2.0),
        ("random_gamma", 3.0),
        ("random_negative_binomial", 4.5),
    ],
)
def test_drawn_numbers_have_the_mean_of_their_distribution(name: str, mean: float, backend: Bench) -> None:
    values = drawn(backend, name, (OUT, IN))
    assert values is not None
    assert fmean(values) == pytest.approx(mean, rel=0.06)


def test_a_truncated_normal_stays_within_two_deviations(backend: Bench) -> None:
    values = drawn(backend, "truncated_normal", (OUT, IN))
    if values is None:
        pytest.skip(f"{backend.name} draws no truncated normal")
    assert max(map(abs, values)) <= 0.04 + 1e-6
    assert pstdev(values) == pytest.approx(0.88 * 0.02, rel=0.04)  # of a normal cut off at two deviations
