"""How far an element may be off: by what rounding does to it, whatever the others are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from opperf.child.judging.elements import rounded, roundoff
from opperf.child.judging.sensitivity import Moves, count_terms, measure_drift, measure_moves
from opperf.child.judging.tolerance import SINGLE, TIMES, Expected, allow, difference, expect, settle, settle_least

GENERATOR = np.random.default_rng(5)
Function = Callable[..., Any]


def values(*shape: int, low: float = -1.0, high: float = 1.0) -> Any:
    """Return random numbers that float32 holds."""
    return rounded(np.random.default_rng(len(shape)).uniform(low, high, shape), "float32")


def wanted(function: Function, *inputs: Any, dtype: str = "float32", own: Any = None) -> Expected:
    """Return what a function should give; its own results are the true ones, rounded, unless others are said."""

    def exact(arrays: Sequence[Any]) -> list[Any]:
        with np.errstate(all="ignore"):
            return [np.asarray(function(*arrays))]

    mine = rounded(exact(inputs)[0], dtype) if own is None else np.asarray(own)
    kinds = [dtype if one.dtype.kind == "f" else str(one.dtype) for one in inputs]
    return expect(exact, [mine], inputs, kinds, [dtype], np.random.default_rng(0))


def refused(result: Any, expected: Expected) -> int:
    """Return how many elements are wrong."""
    wrong = difference(np.asarray(result), expected, 0)
    return 0 if wrong is None else wrong.wrong


def test_one_large_element_hides_no_error_in_a_small_one() -> None:
    data = np.array([1e6, 1e-3, 1.0])
    expected = wanted(np.exp2, np.array([20.0, -10.0, 0.0]))
    right = np.exp2(np.array([20.0, -10.0, 0.0]))
    assert refused(right, expected) == 0
    for place in range(len(data)):
        wrong = right.copy()
        wrong[place] *= 1 + 40 * SINGLE
        found = difference(wrong, expected, 0)
        assert found is not None
        assert found.index == (place,)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_an_element_may_be_off_by_a_few_roundoffs_of_its_type(dtype: str) -> None:
    data = rounded(values(99, low=1.0, high=2.0), dtype)
    expected, unit = wanted(np.sqrt, data, dtype=dtype), roundoff(dtype)
    assert refused(np.sqrt(data) * (1 + 2 * unit), expected) == 0
    assert refused(np.sqrt(data) * (1 + 20 * unit), expected) == 99


def test_where_terms_cancel_the_terms_say_how_far_it_may_be_off() -> None:
    one, other = values(64), values(64)
    near = rounded(one * (1 + 1e-5 * other), "float32")
    expected = wanted(lambda a, b: a**2 - b**2, one, near)
    honest = (one.astype("f") * one.astype("f") - near.astype("f") * near.astype("f")).astype(float)
    relative = np.abs(honest - (one**2 - near**2)) / np.abs(one**2 - near**2)
    assert relative.max() > 1e-3
    assert refused(honest, expected) == 0
    assert refused(np.zeros(64), expected) > 50


def test_a_sum_in_another_order_is_right_and_one_that_drops_terms_or_bits_is_not() -> None:
    data = values(8, 4096)
    single = data.astype("f")
    expected = wanted(lambda a: a.sum(-1), data, own=single.sum(-1).astype(float))
    one_by_one = np.cumsum(single, axis=-1, dtype="f")[:, -1].astype(float)
    assert refused(one_by_one, expected) == 0
    half = np.cumsum(data.astype("float16"), axis=-1, dtype="float16")[:, -1].astype(float)
    assert refused(half, expected) > 4
    dropped = data.copy()
    dropped[:, ::1000] = 0
    assert refused(dropped.sum(-1), expected) == 8


def softmax(rows: Any) -> Any:
    """Return each row's exponentials, as shares of what they add up to."""
    powers = np.exp(rows - rows.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


@pytest.mark.parametrize("spread", [1e-3, 0.0])
@pytest.mark.parametrize("length", [256, 1024, 4096])
def test_a_loop_that_adds_one_by_one_may_drift_where_terms_are_nearly_equal(length: int, spread: float) -> None:
    rows = rounded(values(16, length) * spread + values(16, 1) * (spread == 0), "float32")
    rows[:, length // 2] = 1
    expected = wanted(softmax, rows)
    powers = np.exp(rows.astype(np.float32) - np.float32(1))
    one_by_one = powers / np.cumsum(powers, -1, dtype=np.float32)[:, -1:]
    assert refused(one_by_one.astype(float), expected) == 0
    dropped = rows.copy()
    dropped[:, 3] = -99
    assert refused(np.delete(softmax(dropped), 3, 1), _without(expected, 3)) == 16 * (length - 1)


def test_a_loop_has_little_leeway_to_drift_where_its_terms_are_spread() -> None:
    rows = values(4096, 1024)
    single = rows.astype(np.float32)
    powers = np.exp(single - single.max(-1, keepdims=True))
    one_by_one = powers / np.cumsum(powers, -1, dtype=np.float32)[:, -1:]
    assert refused(one_by_one.astype(float), wanted(softmax, rows)) == 0
    terms = values(2048)
    expected = wanted(lambda a: (a**2).mean(), terms)
    single = (terms**2).astype(np.float32)
    assert refused(np.asarray(np.cumsum(single)[-1] / np.float32(2048), float), expected) == 0
    assert refused(np.asarray((terms**2).mean() * (1 + 0.2 * 2048 * SINGLE)), expected) == 1


def _without(expected: Expected, column: int) -> Expected:
    values, bounds = (tuple(np.delete(one, column, 1) for one in each) for each in (expected.values, expected.bounds))
    return Expected(values, bounds, expected.dtypes)


def log_sums(rows: Any) -> Any:
    """Return the mean of the logarithms of what rows add up to, each as a part of it: a cross entropy."""
    return (np.log(np.exp(rows).sum(1)) - rows[:, 0]).mean()


def test_a_mean_of_sums_has_no_leeway_for_one_long_sum() -> None:
    rows = values(64, 4096)
    expected = wanted(log_sums, rows)
    single = rows.astype(np.float32)
    naive = np.log(np.cumsum(np.exp(single), 1)[:, -1]) - single[:, 0]
    assert refused(np.asarray(np.cumsum(naive)[-1] / np.float32(64), float), expected) == 0
    dropped = rows.copy()
    dropped[:, 1] = 0.9  # one element of 4,096
    assert refused(rounded(log_sums(dropped), "float32"), expected) == 1
    # A sum of as many is as long as that: its roundoffs average out over all of them.
    assert wanted(np.sum, np.abs(rows)).bounds[0] > 500 * 2**-24 * np.abs(rows).sum()


def test_a_product_of_matrices_in_single_precision_is_right_whatever_their_scales_are() -> None:
    left, right = values(32, 256), values(256, 32)
    left *= 10.0 ** np.arange(-16, 16)[:, np.newaxis]
    expected = wanted(np.matmul, left, right)
    assert refused((left.astype("f") @ right.astype("f")).astype(float), expected) == 0
    small = left @ right
    small[:8] = 0  # twenty orders of magnitude below the largest
    assert refused(small, expected) == 8 * 32


def test_what_the_reference_computes_less_precisely_others_may() -> None:
    data = values(999, low=0.5)
    rough = np.exp(data) * (1 + 100 * SINGLE * values(999))
    assert refused(np.exp(data) * (1 + 90 * SINGLE), wanted(np.exp, data, own=rough)) == 0
    assert refused(np.exp(data) * (1 + 90 * SINGLE), wanted(np.exp, data)) > 900


def test_an_error_of_the_reference_where_results_are_small_is_allowed_there_and_not_where_they_are_large() -> None:
    data = values(4000, low=-6, high=3)
    own = rounded(np.exp2(data) + 1e-6 * (data < -4), "float32")  # as terms that cancel would
    expected = wanted(np.exp2, data, own=own)
    assert refused(np.exp2(data) - 1e-6 * (data < -4), expected) == 0
    assert refused(np.exp2(data) * (1 + 60 * SINGLE * (data > 2)), expected) > 400


def test_the_references_own_result_is_right_even_where_it_is_odd() -> None:
    data = values(5000)
    own = rounded(data + 1, "float32")
    own[7] += 0.5
    expected = wanted(lambda a: a + 1, data, own=own)
    assert refused(own, expected) == 0
    other = data + 1
    other[8] += 0.5
    assert refused(other, expected) == 1


def test_results_that_are_not_rounded_have_the_inputs_last_bits_and_no_leeway_for_them() -> None:
    data = np.array([3.0, 2.5, -1.0] * 9)  # a roundoff less, and the first is 2
    expected = wanted(np.floor, data)
    assert refused(np.floor(data), expected) == 0
    assert refused(np.floor(data * (1 - SINGLE)), expected) == 9


def test_a_reference_that_is_exact_by_luck_leaves_others_what_roundoffs_of_the_inputs_move() -> None:
    def normalize(rows: Any) -> Any:
        gaps = rows - rows.mean(-1, keepdims=True)
        return gaps / np.sqrt((gaps * gaps).mean(-1, keepdims=True) + 1e-5) + 1

    rows = np.repeat(values(32, 1).astype("f").astype(float), 256, 1)
    own = np.ones(rows.shape)
    expected = wanted(normalize, rows, own=own)
    error = 2.0**-24 / np.sqrt(1e-5)  # of a mean that is off by its last place
    assert not refused(own + error * np.abs(rows), expected)
    assert refused(own + 100 * error, expected)


def test_whole_numbers_and_booleans_are_exact() -> None:
    data = np.arange(20) * 3
    cases: list[tuple[Function, str]] = [(lambda a: a // 2, "int64"), (lambda a: a > 9, "bool")]
    for function, dtype in cases:
        expected, right = wanted(function, data, dtype=dtype, own=function(data)), function(data)
        assert refused(right, expected) == 0
        wrong = right.copy()
        wrong[4] = not wrong[4] if dtype == "bool" else wrong[4] + 1
        assert refused(wrong, expected) == 1


def test_whole_numbers_that_float64_cannot_tell_apart_differ() -> None:
    right = np.array([2**62, 5])
    expected = Expected((right,), (np.zeros(2),), ("int64",))
    assert refused(right, expected) == 0
    assert refused(right + np.array([1, 0]), expected) == 1


def test_whole_numbers_of_a_reference_that_rounds_otherwise_may_differ_where_a_roundoff_decides() -> None:
    data = np.array([0.5 - 1e-9, 3.2, 7.9])
    expected = wanted(lambda a: np.rint(a).astype(int), data, dtype="int32", own=np.array([1, 3, 8]))
    assert refused([1, 3, 8], expected) == 0
    assert refused([0, 4, 8], expected) == 1


def test_infinities_and_no_numbers_must_agree() -> None:
    data = np.array([-1.0, 0.0, 1.0])
    expected = wanted(np.log, data)
    assert refused([np.nan, -np.inf, 0], expected) == 0
    for wrong in ([0, -np.inf, 0], [np.nan, np.inf, 0], [np.nan, -1e30, 0], [np.nan, -np.inf, np.nan]):
        assert refused(wrong, expected) == 1


def test_what_the_references_type_cannot_hold_is_infinite() -> None:
    data = np.array([20.0, 1.0])
    expected = wanted(np.exp, data, dtype="float16")
    assert refused([np.inf, rounded(np.exp(data), "float16")[1]], expected) == 0
    assert refused([6e4, np.e], expected) == 1


def test_where_the_reference_alone_fails_nothing_can_be_said() -> None:
    truth = Moves((np.ones(2),), (np.zeros(2),), (SINGLE,), 1.0)
    expected = settle(truth, [np.array([np.nan, 1.0])], ["float32"])
    assert refused([5.0, 1.0], expected) == refused([np.nan, 1.0], expected) == 0
    assert refused([5.0, 5.0], expected) == 1


def test_complex_numbers_are_compared_by_the_size_of_their_difference() -> None:
    data = values(50) + 1j
    expected = wanted(lambda a: a * 1j, data, dtype="complex64", own=(data * 1j).astype("complex64"))
    assert refused(data * 1j * (1 + 2j * SINGLE), expected) == 0
    assert refused(data * 1j * (1 + 40j * SINGLE), expected) == 50


def test_a_difference_says_where_what_and_how_many() -> None:
    expected = Expected((np.zeros((2, 3)),), (np.full((2, 3), 0.5),), ("float32",))
    wrong = difference(np.array([[0, 0.6, 0], [0, 0, 2.0]]), expected, 0)
    assert wrong is not None
    assert (wrong.index, wrong.number, wrong.value, wrong.wrong, wrong.share) == ((1, 2), 5, 2.0, 2, 1 / 3)
    assert wrong.sentence("NumPy") == "is 2, expected 0 by NumPy (within 0.5; 2 of 6 elements are off)"
    one = difference(np.array([[0, 0.6, 0], [0, 0, 0]]), expected, 0)
    assert one is not None
    assert one.sentence("it") == "is 0.6, expected 0 by it (within 0.5)"


def test_a_tensor_without_dimensions_or_elements_is_compared() -> None:
    assert refused(np.sqrt(2.0), wanted(np.sqrt, np.array(2.0))) == 0
    assert refused(1.41, wanted(np.sqrt, np.array(2.0))) == 1
    assert refused(np.zeros(0), wanted(np.sqrt, np.zeros(0))) == 0


@pytest.mark.parametrize(
    ("function", "shapes", "terms"),
    [
        (np.add, [(64,), (64,)], 2),
        (lambda a: a.sum(-1), [(8, 500)], 500),
        (np.matmul, [(20, 30), (30, 40)], 60),
        (lambda a: np.exp(a), [(10, 10)], 1),
        (lambda a: np.exp(a) / np.exp(a).sum(-1, keepdims=True), [(4, 250)], 250),
        (lambda a: np.zeros(3), [(9,)], 1),
    ],
)
def test_terms_are_the_inputs_that_an_element_depends_on(
    function: Function, shapes: list[tuple[int, ...]], terms: float
) -> None:
    inputs = [values(*shape) + 2 for shape in shapes]

    def exact(arrays: Sequence[Any]) -> list[Any]:
        return [function(*arrays)]

    count = count_terms(exact, exact(inputs), inputs, ["float32"] * len(inputs), np.random.default_rng(0))
    assert count == pytest.approx(terms, rel=0.2)


def test_whole_numbers_among_the_inputs_are_not_moved() -> None:
    seen: list[Any] = []

    def exact(arrays: Sequence[Any]) -> list[Any]:
        seen.append(arrays[1])
        return [arrays[0][arrays[1]]]

    table, places = values(5), np.array([4, 0, 0])
    moves = measure_moves(exact, exact([table, places]), [table, places], [SINGLE], GENERATOR)
    assert all((one == places).all() for one in seen)
    assert (moves[0] > 0).all()


def test_without_a_reference_of_that_type_every_framework_has_the_same_leeway() -> None:
    truth = Moves((np.array([1e6, 1.0, 1e-3]),), (np.zeros(3),), (SINGLE,), 1.0)
    expected = allow(truth, ["float32"])
    right = truth.truth[0]
    assert refused(right * (1 + 10 * SINGLE), expected) == 0
    assert refused(right + np.array([0, 0, 1e-3]), expected) == 1  # a millionth of the largest
    assert refused(right * (1 + 2e-3), allow(truth, ["float16"])) == 0  # what is in half is rounded to half
    assert (allow(truth, ["float32"], times=4).bounds[0] == 4 * expected.bounds[0]).all()


def test_whole_numbers_have_leeway_where_rounding_decides_and_overflow_is_infinite() -> None:
    counts = Moves((np.array([40, 2]),), (np.zeros(2),), (0.0,), 1.0)
    assert refused([40, 3], allow(counts, ["int64"])) == 1
    assert refused([40, 3], allow(counts, ["int64"], leeway=0.04)) == 0
    large = Moves((np.array([1e5, 1.0]),), (np.zeros(2),), (roundoff("float16"),), 1.0)
    assert refused([np.inf, 1.0], allow(large, ["float16"])) == 0


def test_a_few_random_moves_that_cancel_by_chance_do_not_make_a_bound_small() -> None:
    left, right = values(64, 128), values(128, 64)
    expected = wanted(np.matmul, left, right)
    sizes = np.sqrt((left**2) @ (right**2))
    assert (expected.bounds[0] > 0.3 * TIMES * SINGLE * sizes).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    "function", [np.exp, lambda x: x - np.roll(x, 1), lambda x: x @ x.T, np.sign, np.log, np.sum, log_sums]
)
def test_what_is_right_whatever_moves_the_inputs_is_right(dtype: str, function: Function) -> None:
    data = rounded(values(40, 40, low=-9.0, high=9.0), dtype)
    with np.errstate(all="ignore"):
        truth = [np.asarray(function(data))]
        own = [rounded(function(data.astype(dtype)).astype(float), dtype)]
        terms = count_terms(lambda arrays: [np.asarray(function(*arrays))], truth, [data], [dtype], GENERATOR)
    whole = wanted(function, data, dtype=dtype, own=own[0])
    least = settle_least(truth, own, [dtype], terms, measure_drift(terms, [data]))
    assert (least.bounds[0] <= whole.bounds[0]).all()
    assert refused(own[0], least) == 0
    np.testing.assert_array_equal(least.values[0], whole.values[0])


def test_whole_numbers_are_off_at_least_where_the_reference_is() -> None:
    truth, own = np.array([1, 2, 3]), np.array([1, 2, 4])
    least = settle_least([truth], [own], ["int64"], 1.0, 0.0)
    assert [refused(np.array(one), least) for one in ([1, 2, 3], [1, 2, 4], [1, 1, 3])] == [0, 0, 1]
