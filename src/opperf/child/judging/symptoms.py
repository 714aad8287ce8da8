"""What a wrong result looks like: by its elements alone, a word for programs and the end of a sentence.

A symptom names a mistake where it can only be that one; what looks like nothing in particular is `wrong_values`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from opperf.child.judging.elements import Array, part, roundoff, smallest
from opperf.child.judging.tolerance import Expected, near_enough
from opperf.domain.dataclass import dataclass

#: What looks like nothing in particular.
PLAIN = "wrong_values", ""
#: The share of the elements of a region that are wrong where it was left out, and of the others at most.
MOST, FEW = 0.9, 0.01
#: An element that is off by this share of itself has not been computed.
GROSS = 0.5
#: Of shorter axes nobody leaves out the end by a tile, and of tensors a shorter one: a few wrong elements may lie there
#: by chance.
LONG = 16
#: Errors below this share of the values are those of a narrower type (one of eight bits rounds by up to as much), where
#: none is so many times the usual one, and where at least this share of the elements has some: a type rounds them all.
NEAR, TIMES_USUAL, ROUNDED = 2.0**-4, 64.0, 0.1
#: How near the elements of another result are to those of one that belongs to its inputs, and how many of them; how
#: many wrong ones are not so by chance.
SAME, NEARLY_ALL, MANY = 1e-3, 0.99, 64


@dataclass(frozen=True)
class Mistake:
    """One tensor of a wrong result, the right one, and where it is wrong."""

    place: int
    result: Array
    right: Array
    wrong: Array

    @staticmethod
    def of(result: Array, expected: Expected, place: int) -> Mistake:
        """Find where a tensor of a result is wrong."""
        return Mistake(place, result, expected.values[place], ~near_enough(result, expected, place))

    def belongs_to(self, results: Sequence[Array], *, in_part: bool = False) -> bool:
        """Whether it is another result: near that, and where it is wrong nearer than to what is right.

        Inputs that differ in a few elements have results most of which are right for both. Of a result that is new
        `in_part`, only what is wrong has to be the other one.
        """
        other = np.asarray(results[self.place])
        off, gap = _distance(self.result, other), _distance(self.result, self.right)
        near = off <= SAME * np.maximum(np.abs(other), np.finfo(np.float32).tiny)
        is_told = np.count_nonzero(self.wrong) >= MANY if in_part else near.mean() > NEARLY_ALL
        return bool(is_told and (near & ~(off >= gap))[self.wrong].mean() > NEARLY_ALL)


def _distance(left: Array, right: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.abs(np.subtract(left, right, dtype=np.result_type(left, right, np.float64)))


def symptom(result: Array, right: Array, bounds: Array, dtype: str) -> tuple[str, str]:
    """Return the slug of a wrong result of this element type, and a sentence on it."""
    with np.errstate(all="ignore"):
        error = np.abs(result - right)
        bad = ~((error <= bounds) | ((result != result) & (right != right)) | (result == right)).ravel()
        if bad.any() and _flushes(result, right, bad, dtype):
            return "values_only", ": it takes what is below the smallest normal number for zero"
        first = int(np.argmax(bad))
        if first > 0 and bad[first:].mean() > MOST and bad[first:].size >= LONG:
            return "computes_a_part", f": right up to element {first}, wrong from there on"
        size = np.abs(right)
        if missing := _missing_end(error > GROSS * np.maximum(size, bounds)):
            axis, start = missing
            return "computes_a_part", f": axis {axis} ends at {start} of {right.shape[axis]}, what follows is missing"
        scale = np.maximum(size, np.maximum(bounds, np.nanmedian(size)))
        finite = np.isfinite(error)
        shares = error / scale
        relative = float(np.quantile(shares[finite], 0.99)) if finite.any() else 1.0
        if lost := int(np.count_nonzero(~np.isfinite(result) & np.isfinite(right))):
            near = np.nanmax(np.where(finite, shares, 0.0)) < NEAR
            why = f": {lost} of {result.size} elements are not finite, and all others near: what is larger overflows"
            return ("values_only", why) if near and lost < result.size else PLAIN
        usual = float(np.median(shares.ravel()[bad])) if bad.any() else 0.0
        rounded = float(np.mean(error[finite] > 0)) if finite.any() else 0.0
    # Where few are far off, and others a little or not at all, no type is to blame.
    if relative < NEAR and rounded >= ROUNDED and shares[finite].max() <= TIMES_USUAL * usual:
        return "precision", f": its errors, {relative:.1g} of the values, are those of a narrower type"
    return PLAIN


def _flushes(result: Array, right: Array, bad: Array, dtype: str) -> bool:
    """Whether all that is wrong is zero where it should be below the smallest normal number of the type."""
    if result.dtype.kind != "f" or not roundoff(dtype):
        return False
    normal = smallest(part(dtype)) / (2 * roundoff(part(dtype)))
    return bool((result.ravel()[bad] == 0).all() and (np.abs(right.ravel()[bad]) < normal).all())


def _missing_end(gross: Array) -> tuple[int, int] | None:
    """Return an axis and the place on it from where on everything is wrong, and nothing before."""
    for axis in range(gross.ndim):
        others = tuple(i for i in range(gross.ndim) if i != axis)
        shares = gross.mean(others) if others else gross.astype(float)
        start = len(shares)
        while start > 0 and shares[start - 1] > MOST:
            start -= 1
        if len(shares) >= LONG and 0 < start < len(shares) and shares[:start].mean() < FEW:
            return axis, start
    return None
