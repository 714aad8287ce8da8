"""How far each element of a result may lie from the truth: by what rounding does to that element, not to the largest.

The truth is the reference in float64. Three things that are measured say how far an honest result may be from it:

* **the unit** of each element: the roundoff of the element type, times the element, and how far the truth moves when
  every input is off by about a roundoff. Where terms cancel, the second part is the larger: no arithmetic in that type
  gives the digits that the inputs' own last bits decide. Nothing is below the smallest number of the type.
* **the reference's own error**, in units: what its element type makes of it. Whatever it computes less precisely, as a
  fast exponential does, others may.
* **the number of inputs that an element depends on**: a sum of n numbers in another order differs by the square root of
  n units, whichever way the reference adds. A mean of many sums depends on all that these do, and its terms are fewer:
  how little the roundoffs of inputs move it, of which each has its own, says over how many they are averaged.

Whole numbers and booleans are exact, unless the reference's own are not: then those may differ that a roundoff of the
inputs changes. Infinities and NaN must agree; complex numbers are compared by the size of their difference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from opperf.child.judging.elements import Array, distance, finite_size, largest, roundoff, smallest, wide
from opperf.child.judging.sensitivity import FEW_TERMS, Exact, Moves, measure
from opperf.domain.dataclass import dataclass

#: The roundoff of what sums are kept in, where their terms have fewer bits.
SINGLE = 2.0**-24
#: How many times the usual error in units (the median one, at least 1), and how many times the square root of the
#: number of terms, a result may be off.
TIMES, TIMES_ROOT = 6.0, 2.0
#: By how many times as much as roundoffs average out the square root of the number of terms is believed.
TIMES_AVERAGE = 2.0
#: How many times the unit, and how many roundoffs of the median element, what anybody computes may be off: no framework
#: that opperf measures needs more. The second is for formulas like gelu's, whose terms cancel where it is small.
TIMES_ANY, FLOOR_ANY = 16.0, 256.0
#: The share of the reference's errors that is below the one that counts; a few odd elements do not, but at their place.
QUANTILE = 0.999
#: How many times an error of the reference's own is allowed: everywhere, where it is usual, else at that element.
TIMES_OWN = 2.0
#: Sums have units that rows and columns share, at least this part of what they would be.
LEAST_SHARE = 0.8
#: How many bounds a gross error is: a sum in lanes of a vector, each of which had terms of one sign, was off by 2.4.
TIMES_ROUGH = 8.0
#: By how many of its last places roundoffs of the inputs move an element far.
FAR = 50.0


@dataclass(frozen=True)
class Expected:
    """What a result should be, in float64, complex128 or whole numbers, and how far each element may be off.

    `dtypes` are the element types that the result has.
    """

    values: tuple[Array, ...]
    bounds: tuple[Array, ...]
    dtypes: tuple[str, ...]


@dataclass(frozen=True)
class Difference:
    """The element that is furthest off, in bounds, and its `number` in row-major order.

    `wrong` of the tensor's `elements` are off.
    """

    place: int
    index: tuple[int, ...]
    number: int
    value: complex
    expected: complex
    allowed: float
    wrong: int
    elements: int

    @property
    def share(self) -> float:
        """The share of the elements that are off."""
        return self.wrong / self.elements

    def sentence(self, against: str) -> str:
        """Return the sentence on the element behind its name; `against` is whose the expected one is."""
        count = f"; {self.wrong} of {self.elements} elements are off" if self.wrong > 1 else ""
        return f"is {self.value:.6g}, expected {self.expected:.6g} by {against} (within {self.allowed:.2g}{count})"


def expect(
    exact: Exact,
    results: Sequence[Array],
    inputs: Sequence[Array],
    input_dtypes: Sequence[str],
    dtypes: Sequence[str],
    generator: np.random.Generator,
) -> Expected:
    """Return the expected result, and how far each element may be off.

    `exact` evaluates the reference on inputs in float64, and may write into them; `own` are the reference's results in
    its own element types `dtypes`, widened.
    """
    coarsest = max(map(roundoff, input_dtypes), default=0.0)
    roundoffs = [roundoff(dtype) or coarsest for dtype in dtypes]
    return settle(measure(exact, inputs, input_dtypes, roundoffs, generator), results, dtypes)


def settle(moves: Moves, own: Sequence[Array], dtypes: Sequence[str]) -> Expected:
    """Return the expected result, and how far each element may be off, by what the reference's `own` is off."""
    pairs = [_settle(*each, moves.terms, moves.drift) for each in zip(moves.truth, own, moves.moves, dtypes)]
    return Expected(tuple(value for value, _ in pairs), tuple(bound for _, bound in pairs), tuple(dtypes))


def settle_least(
    truth: Sequence[Array], results: Sequence[Array], dtypes: Sequence[str], terms: float, drift: float
) -> Expected:
    """Return the expected result, and how far each element may be off at least, whatever the inputs' roundoff does.

    `truth` is what the reference computes in float64, and `results` in its own element types. No bound is wider than
    that of `settle`: what is within these is within those, and costs one evaluation of the reference.
    """
    pairs = [_settle_least(*each, terms, drift) for each in zip(truth, results, dtypes)]
    return Expected(tuple(value for value, _ in pairs), tuple(bound for _, bound in pairs), tuple(dtypes))


def roughly(expected: Expected) -> Expected:
    """Widen bounds to where gross errors alone count: those that are some beside the largest element too."""
    bounds = []
    for values, bound, dtype in zip(expected.values, expected.bounds, expected.dtypes):
        least = FLOOR_ANY * roundoff(dtype) * finite_size(values).max(initial=0.0)
        bounds.append(np.maximum(TIMES_ROUGH * bound, least))
    return Expected(expected.values, tuple(bounds), expected.dtypes)


def allow(moves: Moves, dtypes: Sequence[str], times: float = 1, leeway: float = 0) -> Expected:
    """Return the expected result where no own error of a reference is known, and how far each element may be off.

    `dtypes` are those that the result has. `times` as much as usual is allowed, and to whole numbers a share of the
    largest, `leeway`.
    """
    bounds = []
    for truth, move, usual, dtype in zip(moves.truth, moves.moves, moves.roundoffs, dtypes):
        unit, size = max(usual, roundoff(dtype)) if usual else 0.0, finite_size(truth)
        if not unit:
            bounds.append(np.full(truth.shape, leeway * size.max(initial=0.0)))
            continue
        units = unit * size + smallest(dtype) + _share(move, moves.terms) * (unit / usual)
        root = TIMES_ROOT * moves.terms**0.5 * min(1.0, SINGLE / unit)
        bound = times * (max(TIMES_ANY, root) * units + FLOOR_ANY * unit * _typical(size))
        bounds.append(np.where(size >= largest(dtype), np.inf, bound) if roundoff(dtype) else bound)
    return Expected(moves.truth, tuple(bounds), tuple(dtypes))


def difference(values: Array, expected: Expected, place: int) -> Difference | None:
    """Return the element of a tensor of a result that is furthest off, None where all are near enough."""
    fine = near_enough(values, expected, place)
    if fine.all():
        return None
    right, bounds = expected.values[place], expected.bounds[place]
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        gap = np.abs(wide(values) - wide(right))
        excess = np.where(fine, -1.0, np.nan_to_num(gap / bounds, nan=np.inf, posinf=np.inf))
    wrong = int(fine.size - np.count_nonzero(fine))
    number = int(np.argmax(excess))
    index = tuple(map(int, np.unravel_index(number, fine.shape)))
    return Difference(
        place, index, number, values[index].item(), right[index].item(), float(bounds[index]), wrong, fine.size
    )


def near_enough(values: Array, expected: Expected, place: int) -> Array:
    """Say of each element of a tensor of a result whether it is near enough."""
    right, bounds = expected.values[place], expected.bounds[place]
    with np.errstate(invalid="ignore", over="ignore"):
        fine = np.abs(wide(values) - wide(right)) <= bounds
    if right.dtype.kind not in "fc":
        fine &= bounds > 0  # what is off by less than float64 shows is no whole number's neighbour
    if not fine.all():
        fine |= (values == right) | ((values != values) & (right != right)) | (bounds == np.inf)
    return fine


def _settle_least(truth: Array, result: Array, dtype: str, terms: float, drift: float) -> tuple[Array, Array]:
    """Settle a tensor as `_settle` would if roundoffs of the inputs moved nothing, and errors were the usual ones."""
    error, unit = distance(result, truth), roundoff(dtype)
    if not unit:
        return truth, error
    units = unit * finite_size(truth) + smallest(dtype)
    # Whatever roundoffs of the inputs move, `_order` is no less than this.
    order = min(math.sqrt(terms), 2 * math.sqrt(TIMES_AVERAGE * math.sqrt(terms)))
    bound = units * max(TIMES, min(1.0, SINGLE / unit) * max(TIMES_ROOT * order, drift))
    return _where_not_finite(truth, result, np.maximum(bound, TIMES_OWN * error), dtype)


def _order(units: Array, move: Array, unit: float, terms: float, drift: float) -> Array:
    """Return how far another order of its terms may move an element, whose own roundoff is `units`.

    Of what cancels, the terms are larger than the element, as its `move` says, and so is what their order does.
    """
    root = math.sqrt(terms)
    with np.errstate(divide="ignore", over="ignore"):
        averaged = np.where(move > 0, TIMES_AVERAGE * units / move, np.inf)
    random = TIMES_ROOT * (units * np.minimum(root, averaged) + root * move)
    return min(1.0, SINGLE / unit) * np.maximum(random, units * drift)


def _settle(truth: Array, result: Array, move: Array, dtype: str, terms: float, drift: float) -> tuple[Array, Array]:
    """Return the expected elements of a tensor, and how far each may be off."""
    error, unit = distance(result, truth), roundoff(dtype)
    # In float64 the reference is the truth, and that says nothing.
    is_exact = unit != roundoff("float64") and bool((result == truth).all())
    if not unit:
        return truth, np.zeros(truth.shape) if is_exact else np.maximum(move, error)
    size = finite_size(truth)
    last_places, move = unit * size + smallest(dtype), _share(move, terms)
    if is_exact:  # of sums by luck, where roundoffs move them far, as of the mean of equal numbers that is scaled up
        is_luck = terms >= FEW_TERMS and (move > FAR * last_places).any()
        move = np.where(is_luck & (move > TIMES * last_places), move, 0.0)
    units = last_places + move
    ratios = error / units
    usual = max(1.0, _quantile(ratios, 0.5))
    bound = np.maximum(TIMES * usual * units, _order(last_places, move, unit, terms, drift))
    # What is beyond comes from larger numbers on the way: it is as large where the result is small.
    floor = TIMES_OWN * _quantile(np.maximum(error - bound, 0.0), QUANTILE)
    if _quantile(ratios, QUANTILE) > 1:
        floor = max(floor, unit * _typical(size))
    return _where_not_finite(truth, result, np.maximum(bound + floor, TIMES_OWN * error), dtype)


def _typical(size: Array) -> float:
    """Return the median of those that are not zero: one large element does not change it."""
    return _quantile(size[size > 0], 0.5)


def _where_not_finite(truth: Array, result: Array, bound: Array, dtype: str) -> tuple[Array, Array]:
    """Return values and bounds; where the reference overflows in its own type, so may others.

    Where it fails, and float64 does not, nothing can be said.
    """
    finite, finite_result = np.isfinite(truth), np.isfinite(result)
    if finite.all() and finite_result.all():
        return truth, bound
    beyond = finite & ~finite_result & (np.abs(truth) >= largest(dtype))
    bound = np.where(finite & ~finite_result & ~beyond, np.inf, bound)
    with np.errstate(invalid="ignore"):
        near = TIMES * (roundoff(dtype) * np.abs(result) + smallest(dtype))
    bound = np.where(~finite & finite_result, near, bound)
    return np.where(beyond | (~finite & finite_result), result, truth), bound


def _share(move: Array, terms: float) -> Array:
    """Return moves none of which is much smaller than its row and its column say, on average of the logarithms.

    A few random moves of many inputs may cancel by chance in one element in a hundred; they do not in a row of them.
    """
    if move.ndim == 0 or not move.size or terms < FEW_TERMS:
        return move
    table = move.reshape(-1, move.shape[-1])
    there = table > 0
    if not there.any():
        return move
    logs = np.log2(table, where=there, out=np.zeros(table.shape))
    rows = logs.sum(1, keepdims=True) / np.maximum(there.sum(1, keepdims=True), 1)
    columns = logs.sum(0) / np.maximum(there.sum(0), 1)
    usual = LEAST_SHARE * np.exp2(rows + columns - logs.sum() / there.sum())
    return np.where(there, np.maximum(table, usual), 0.0).reshape(move.shape)


def _quantile(errors: Array, share: float) -> float:
    if not errors.size:
        return 0.0
    place = int(share * (errors.size - 1))
    return float(np.partition(errors, place, axis=None)[place])
