"""What a problem computes, and what each element of it depends on: how far roundoffs of the inputs move it.

The truth is the reference in float64. How many inputs an element depends on says of how many terms a sum is, and how
alike they are, whether a loop that adds them one by one rounds the same way again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from opperf.child.judging.elements import Array, distance, finite_size, roundoff
from opperf.domain.dataclass import dataclass

#: Evaluates the reference on inputs in float64.
Exact: TypeAlias = Callable[[Sequence[Array]], Sequence[Array]]

#: How many times the inputs are moved by a roundoff, and how many times one of them alone, to count who depends on it.
MOVES, TOUCHES = 3, 4
#: Sums of fewer terms are no sums: nothing averages out in them, and no loop drifts.
FEW_TERMS = 4
#: By how many roundoffs an input moves, up or down; no less than the second, which float64 holds with room to spare.
LEAST_MOVE, MOST_MOVE, SMALL_MOVE = 0.5, 1.5, 2.0**-40
#: What a loop that adds one by one drifts by where its terms are equal and each addition rounds the same way: a share
#: of a unit for each term, of sums of up to so many. Only the additions in the last octave of the sum, half of all,
#: can all be off by half of the last place, on average half a unit: that is a quarter for each term, and the worst of
#: 4,000 random ones was so far off. Longer sums lose too much that way to be called right.
DRIFT, MOST_TERMS = 0.26, 4096
#: And by how many times the square root of their number where they are spread: each addition is off by half of the last
#: place at most, so that a sum of many is off by a third of that root, as a standard deviation.
DRIFT_ROOT = 2.0
#: Terms are nearly equal where most elements of an input are as near their neighbours, beside the largest one; so many
#: are looked at.
NEARLY_EQUAL, MOST_NEIGHBOURS = 2.0**-6, 4096


@dataclass(frozen=True)
class Moves:
    """What a problem computes, and how far each element moves when all inputs are off by about a roundoff.

    `terms` is how many inputs an element depends on, and `drift` by how many units a loop may be off that adds them.
    """

    truth: tuple[Array, ...]
    moves: tuple[Array, ...]
    roundoffs: tuple[float, ...]
    terms: float
    drift: float = 0.0


def measure(
    exact: Exact,
    inputs: Sequence[Array],
    input_dtypes: Sequence[str],
    roundoffs: Sequence[float],
    generator: np.random.Generator,
) -> Moves:
    """Return the results of a problem on some inputs, and how far `roundoffs`, one for each result, move them."""
    truth = [np.asarray(one) for one in exact([array.copy() for array in inputs])]
    moves = measure_moves(exact, truth, inputs, roundoffs, generator)
    terms = count_terms(exact, truth, inputs, input_dtypes, generator) if any(roundoffs) else 1.0
    return Moves(tuple(truth), tuple(moves), tuple(roundoffs), terms, measure_drift(terms, inputs))


def measure_moves(
    exact: Exact,
    truth: Sequence[Array],
    inputs: Sequence[Array],
    roundoffs: Sequence[float],
    generator: np.random.Generator,
) -> list[Array]:
    """Return for each element how far it moves when every input is off by about a roundoff: of each tensor its own."""
    size, moves = max(roundoffs, default=0.0), [np.zeros(one.shape) for one in truth]
    if not size:
        return moves
    size = max(size, SMALL_MOVE)
    for _ in range(MOVES):
        results = exact([_move(one, size, generator) for one in inputs])
        for move, after, before in zip(moves, results, truth):
            np.fmax(move, distance(np.asarray(after), before), out=move)
    return [move * (own / size) for move, own in zip(moves, roundoffs)]


def count_terms(
    exact: Exact,
    truth: Sequence[Array],
    inputs: Sequence[Array],
    input_dtypes: Sequence[str],
    generator: np.random.Generator,
) -> float:
    """Return how many elements of the inputs an element of the result depends on, on average; at least one.

    A few are changed, one at a time: of all pairs of an input and a result the share is seen that depend.
    """
    places = [np.flatnonzero(one) if roundoff(dtype) else np.empty(0, int) for one, dtype in zip(inputs, input_dtypes)]
    total, results = sum(map(len, places)), sum(one.size for one in truth)
    if not total or not results:
        return 1.0
    changed: float = 0
    for touch in generator.integers(total, size=TOUCHES):
        copies = [array.copy() for array in inputs]
        for copy, elements in zip(copies, places):
            if 0 <= touch < len(elements):
                copy.reshape(-1)[elements[touch]] *= 1 - 2.0**-10
            touch -= len(elements)
        for after, before in zip(exact(copies), truth):
            changed += float(np.count_nonzero(distance(np.asarray(after), before)))
    return max(1.0, float(total * changed / TOUCHES / results))


def measure_drift(terms: float, inputs: Sequence[Array]) -> float:
    """Return by how many units a sum of `terms` may drift that is added one by one; 0 where it is a long one."""
    if terms > MOST_TERMS:
        return 0.0
    return DRIFT * terms if any(map(_is_nearly_equal, inputs)) else DRIFT_ROOT * float(terms**0.5)


def _is_nearly_equal(values: Array) -> bool:
    """Whether most elements are nearly equal to their neighbours, so that terms made of them round the same way."""
    steps = values.size - 1
    if values.dtype.kind not in "fc" or steps < FEW_TERMS:
        return False
    places = np.arange(0, steps, -(-steps // MOST_NEIGHBOURS))
    flat = values.reshape(-1)
    near = distance(flat[places + 1], flat[places]) <= NEARLY_EQUAL * finite_size(flat).max()
    return bool(near.mean() > 0.5)


def _move(array: Array, size: float, generator: np.random.Generator) -> Array:
    """Return numbers that are off by about a roundoff, up or down; whole numbers stay."""
    if array.dtype.kind not in "fc":
        return array.copy()
    steps = generator.random(array.shape)  # of both signs and sizes at once: this is most of what moving costs
    steps -= 0.5
    steps *= 2 * (MOST_MOVE - LEAST_MOVE)
    steps += np.copysign(LEAST_MOVE, steps)
    steps *= size
    return array + array * steps
