"""Values are drawn in many ways, and always where the tensor says that its values lie."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.each import check_each

from opperf.child.judging.draws import EDGE_SHARE, KINDS, draw, kinds, vary
from opperf.child.judging.elements import largest, widen
from opperf.domain.tensor import FLOATS, ITEM_SIZES, STRING, TensorSpec

SHAPE = (6, 64)
RANGES = ((0.1, 2.0), (-2.0, 1.0), (-3.0, -1.0), (0.0, 1.0), (-0.5, 0.0))
REALS = sorted(FLOATS)
WHOLE = sorted(set(ITEM_SIZES) - FLOATS - {STRING, "bool"})


@pytest.fixture
def generator() -> np.random.Generator:
    return np.random.default_rng(7)


def numbers(spec: TensorSpec, kind: str, generator: np.random.Generator, **more: bool) -> Any:
    """Return what is drawn, as numbers."""
    return widen(draw(spec, kind, generator, **more), spec.dtype)


def test_real_numbers_lie_in_their_range_however_they_are_drawn(generator: np.random.Generator) -> None:
    def check(one: tuple[str, tuple[float, float]]) -> None:
        dtype, (low, high) = one
        spec = TensorSpec(SHAPE, dtype, range=(low, high))
        for kind in kinds(spec):
            values = numbers(spec, kind, generator)
            assert values.shape == SHAPE
            parts = [values.real, values.imag] if dtype.startswith("complex") else [values]
            for part in parts:
                assert part.min() >= low - abs(low) / 16, kind  # eight bits hold no nearer number
                assert part.max() < high, kind

    check_each(product(REALS, RANGES), check, str)


def test_whole_numbers_lie_in_their_range_however_they_are_drawn(generator: np.random.Generator) -> None:
    def check(dtype: str) -> None:
        spec = TensorSpec(SHAPE, dtype, range=(3, 9))
        for kind in kinds(spec):
            values = draw(spec, kind, generator)
            assert values.dtype == dtype
            assert 3 <= values.min() <= values.max() < 9, kind

    check_each(WHOLE, check, str)


def test_all_values_of_a_range_of_whole_numbers_are_drawn(generator: np.random.Generator) -> None:
    assert set(draw(TensorSpec((999,), "uint8", range=(3, 6)), "plain", generator).tolist()) == {3, 4, 5}
    assert set(draw(TensorSpec((99,), "bool"), "plain", generator).tolist()) == {False, True}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (TensorSpec((4,)), KINDS),
        (TensorSpec((4,), range=(0.5, 2.0)), ("plain", "magnitudes", "sorted", "clustered", "constant_rows")),
        (TensorSpec((4,), "int32"), ("plain", "sorted", "clustered", "constant_rows")),
        (TensorSpec((4,), "bool"), ("plain", "sorted", "constant_rows")),
        (TensorSpec((2, 2), values="spd"), ("plain", "magnitudes")),
        (TensorSpec((2,), literal=(1, 2)), ("plain",)),
        (TensorSpec((2,), values="sorted"), ("plain",)),
        (TensorSpec((0,)), ("plain",)),
    ],
)
def test_a_tensor_is_drawn_in_the_ways_that_make_sense(spec: TensorSpec, expected: tuple[str, ...]) -> None:
    assert kinds(spec) == expected


def test_a_way_that_makes_no_sense_is_refused(generator: np.random.Generator) -> None:
    with pytest.raises(ValueError, match="no spike values for 4 int32"):
        draw(TensorSpec((4,), "int32"), "spike", generator)


def test_other_draws_are_other_values_and_the_same_generator_repeats_them() -> None:
    spec = TensorSpec(SHAPE)
    for kind in KINDS:
        one, other, again = (draw(spec, kind, np.random.default_rng(seed)) for seed in (0, 1, 0))
        assert one.tobytes() == again.tobytes() != other.tobytes()


def test_magnitudes_fill_octaves_of_both_signs(generator: np.random.Generator) -> None:
    values = numbers(TensorSpec((1000,)), "magnitudes", generator)
    assert len(np.unique(np.frexp(values)[1])) > 20
    assert 300 < (values < 0).sum() < 700


def test_a_spike_is_more_than_all_others_together_and_lies_anywhere(generator: np.random.Generator) -> None:
    spec, places = TensorSpec((1000,)), set()
    for _ in range(5):
        values = np.abs(numbers(spec, "spike", generator))
        places.add(int(values.argmax()))
        assert values.max() > values.sum() - values.max() > 0
    assert len(places) > 3


def test_signs_are_of_one_kind_or_cancel(generator: np.random.Generator) -> None:
    spec = TensorSpec((1001,))
    assert numbers(spec, "positive", generator).min() >= 0
    mixed = numbers(spec, "mixed", generator)
    assert abs(mixed.sum()) < 0.01 * np.abs(mixed).sum()


def test_structure_is_what_it_is_called(generator: np.random.Generator) -> None:
    spec = TensorSpec(SHAPE)
    assert (np.diff(draw(spec, "sorted", generator).reshape(-1)) >= 0).all()
    assert (np.ptp(draw(spec, "constant_rows", generator), axis=1) == 0).all()
    assert len(np.unique(draw(spec, "clustered", generator).round(2))) < 24


def test_large_numbers_have_exponentials_beyond_their_type(generator: np.random.Generator) -> None:
    def check(dtype: str) -> None:
        values = numbers(TensorSpec((4000,), dtype), "large", generator).real
        for most in (values.max(), -values.min()):
            assert math.log(largest(dtype)) < most < 1.2 * math.log(largest(dtype))

    check_each(["float16", "bfloat16", "float32", "float64", "complex64"], check)
    assert "large" not in kinds(TensorSpec((4,), range=(-2.0, 2.0)))


def test_edges_are_those_of_the_type_and_special_ones_only_where_asked_for(generator: np.random.Generator) -> None:
    spec = TensorSpec((4000,), "bfloat16")
    plain, special = (numbers(spec, "edges", generator, special=special) for special in (False, True))
    assert np.isfinite(plain).all()
    assert {0.0, largest("bfloat16"), -largest("bfloat16"), 2.0**-133} <= set(plain.tolist())
    assert np.signbit(plain[plain == 0]).any()
    assert {np.inf, -np.inf} <= set(special.tolist())
    assert np.isnan(special).any()
    assert 1 - EDGE_SHARE < (np.abs(plain) < 1).mean() < 1


@pytest.mark.parametrize(
    ("spec", "check"),
    [
        (TensorSpec((3, 3), values="spd"), lambda v: (np.linalg.eigvalsh(v) > 0).all() and (v == v.T).all()),
        (TensorSpec((2, 2), literal=(1, 2, 3, 4)), lambda v: v.tolist() == [[1, 2], [3, 4]]),
        (TensorSpec((2,), "complex64", literal=(1, 2)), lambda v: v.tolist() == [1, 2]),
        (TensorSpec((9,), values="constant", range=(1.0, 2.0)), lambda v: (v == 1.5).all()),
        (TensorSpec((9,), "int8", values="ones"), lambda v: (v == 1).all()),
        (TensorSpec((99,), values="reversed"), lambda v: (np.diff(v) <= 0).all()),
        (TensorSpec((99,), values="denormal"), lambda v: (np.abs(v) < 2.0**-126).all() and v.any()),
        (TensorSpec((999,), values="sparse:0.9"), lambda v: 0.8 < (v == 0).mean() < 1),
        (TensorSpec((999,), values="normal"), lambda v: 0.8 < v.std() < 1.2 and np.abs(v).max() > 2),
        (TensorSpec((999,), values="normal", range=(0.0, 1.0)), lambda v: v.min() >= 0 and v.max() <= 1),
    ],
)
def test_what_a_tensor_says_of_its_values_is_drawn(
    spec: TensorSpec, check: Any, generator: np.random.Generator
) -> None:
    assert check(numbers(spec, "plain", generator))


def test_no_diagonal_outweighs_the_rest_of_a_matrix_in_the_harder_way(generator: np.random.Generator) -> None:
    def check(dtype: str) -> None:
        matrices = numbers(TensorSpec((2, 64, 64), dtype, values="spd"), "magnitudes", generator)
        assert (matrices == np.swapaxes(matrices, -1, -2)).all()
        least, *_, most = np.sort(np.linalg.eigvalsh(matrices).ravel())
        assert 0 < 50 * least < most
        assert (np.abs(matrices).sum(-1) > 2 * np.abs(np.diagonal(matrices, axis1=-2, axis2=-1))).all()

    check_each(["float16", "bfloat16", "float32", "float64", "complex64"], check)


def test_a_near_copy_differs_in_a_few_places(generator: np.random.Generator) -> None:
    array = draw(TensorSpec((100, 10)), "plain", generator)
    other = vary(array, generator, 3)
    assert 1 <= (array != other).sum() <= 3
    assert set(other.reshape(-1)) <= set(array.reshape(-1))


@pytest.mark.parametrize("dtype", ["bool", "int16", "complex64", "bfloat16", "complex128"])
def test_every_type_has_near_copies(dtype: str, generator: np.random.Generator) -> None:
    array = draw(TensorSpec((50,), dtype), "plain", generator)
    assert (vary(array, generator, 2) != array).any()


def test_a_tensor_of_one_value_has_no_near_copy(generator: np.random.Generator) -> None:
    for array in (np.ones(5, "f"), np.ones(0, "f")):
        assert vary(array, generator, 2).tolist() == array.tolist()
