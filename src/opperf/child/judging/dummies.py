"""Results that nobody has computed: a problem that takes one of them for right says nothing of a candidate.

Half the precision is a dummy only where it can be told from the whole: of results of a type that holds more than half
does, and where some element differs. Comparing or rounding what half holds too gives the same results, and is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from opperf.child.judging.elements import Array, rounded, roundoff
from opperf.child.judging.tolerance import Expected, difference

#: Of the largest element: two results of the same values that are further apart are not those of one computation.
UNSTEADY = 2.0**-6


def passing(
    expected: Expected, inputs: Sequence[Array], other_results: Sequence[Array], half: Sequence[Array] | None = None
) -> tuple[str, ...]:
    """Return the dummies that pass for the result of `inputs`.

    `other` is the result of other inputs, and `half` what the reference computes in half the precision, None where it
    does not; all of them as numbers.
    """
    return tuple(name for name, values in _dummies(expected, inputs, other_results, half) if _passes(expected, values))


def is_near(left: Array, right: Array) -> bool:
    """Whether two results differ by no more than the order of sums, whatever their type, may make of them."""
    left, right = (np.asarray(each, np.result_type(each, np.float64)) for each in (left, right))
    with np.errstate(all="ignore"):
        finite = np.isfinite(left) & np.isfinite(right)
        scale = np.max(np.abs(np.where(finite, left, 0)), initial=0.0)
        return bool((np.abs(np.where(finite, left - right, 0)) <= UNSTEADY * scale).all())


def _dummies(
    expected: Expected, inputs: Sequence[Array], other_results: Sequence[Array], half: Sequence[Array] | None
) -> Iterator[tuple[str, Sequence[Array]]]:
    right = expected.values
    yield "zeros", [np.zeros_like(one) for one in right]
    yield "ones", [np.ones_like(one) for one in right]
    for place, one in enumerate(inputs):
        if all(one.shape == each.shape for each in right):
            yield f"a copy of input {place}", [one] * len(right)
    yield "the result of other inputs", other_results
    if half is not None and _is_told(expected, half):
        yield "the reference in half the precision", half
    if any(one.size > 1 for one in right):  # the mean of one element is that element
        yield "the mean", [_mean(one, dtype) for one, dtype in zip(right, expected.dtypes)]


def _passes(expected: Expected, values: Sequence[Array]) -> bool:
    return [one.shape for one in values] == [one.shape for one in expected.values] and not any(
        difference(one, expected, place) for place, one in enumerate(values)
    )


def _is_told(expected: Expected, half: Sequence[Array]) -> bool:
    """Whether a result in half the precision is another one, of a type for which half is less."""
    return any(
        0 < roundoff(dtype) < roundoff("float16") and not np.array_equal(rounded(right, dtype), lower, equal_nan=True)
        for right, dtype, lower in zip(expected.values, expected.dtypes, half)
    )


def _mean(values: Array, dtype: str) -> Array:
    """Return a tensor of the mean of one that is finite."""
    finite = values[np.isfinite(values)]
    mean = finite.mean() if finite.size else np.zeros(())
    whole = values.dtype.kind not in "fc"
    return np.full(values.shape, np.rint(mean) if whole else mean).astype(values.dtype)
