"""Results of large tensors compared at places that nobody knows before, for little more than the copy of a tensor.

Python compares an element in a tenth of a microsecond, which for a million is more time than most operators take. Some
thousand elements tell a result that is wrong in one of a thousand; the next timed call is asked elsewhere. Whatever
differs there is compared whole, so that one rule decides (`correctness.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from random import SystemRandom

from opperf.child.worker.correctness import WrongResult, check
from opperf.domain.backend import HostValue
from opperf.domain.tensor import ITEM_SIZES, STRING

#: How many elements of a tensor are compared: some anywhere, and runs of neighbours, the end among them.
ANYWHERE, RUNS, RUN = 1024, 15, 64
#: Tensors with more elements are never compared whole.
MOST_WHOLE = 1 << 22
#: Significant bits of floating types: a result of fewer than expected is another result.
BITS = {"bfloat16": 8, "float16": 11, "complex32": 11, "float32": 24, "complex64": 24, "float64": 53, "complex128": 53}

_random = SystemRandom()


def compare(results: Sequence[HostValue], expected: Sequence[HostValue], against: str, leeway: float) -> None:
    """Raise `WrongResult` where results differ at some places; `against` says whose the expected ones are."""
    for place, (mine, other) in enumerate(zip(results, expected)):
        if BITS.get(mine[2], 99) < BITS.get(other[2], 0):
            raise WrongResult(f"tensor {place} is of {mine[2]}, and of {other[2]} from {against}")
    if list(results) == list(expected):
        return
    samples = [_sampled(mine, other) for mine, other in zip(results, expected)]
    try:
        check(
            [mine for mine, _ in samples] + [*results[len(samples) :]], [other for _, other in samples], against, leeway
        )
    except WrongResult:
        large = any(len(raw) // ITEM_SIZES[dtype] > MOST_WHOLE for raw, _, dtype in expected)
        if large:
            raise
        check(results, expected, against, leeway)


def _sampled(mine: HostValue, theirs: HostValue) -> tuple[HostValue, HostValue]:
    """Return some elements of two tensors at the same places; the tensors themselves where they are small."""
    size = 0 if STRING in (mine[2], theirs[2]) else len(theirs[0]) // ITEM_SIZES[theirs[2]]
    if size <= ANYWHERE + RUNS * RUN or tuple(mine[1]) != tuple(theirs[1]):
        return mine, theirs
    last = size - RUN
    begins = [last, *(_random.randrange(last + 1) for _ in range(RUNS - 1))]
    spans = [*((begin, begin + RUN) for begin in begins), *((i, i + 1) for i in _anywhere(size))]
    return _pick(mine, spans), _pick(theirs, spans)


def _anywhere(size: int) -> list[int]:
    return [int(size * _random.random()) for _ in range(ANYWHERE)]


def _pick(value: HostValue, spans: Sequence[tuple[int, int]]) -> HostValue:
    raw, _, dtype = value
    step = ITEM_SIZES[dtype]
    part = b"".join([raw[begin * step : end * step] for begin, end in spans])
    return part, (len(part) // step,), dtype
