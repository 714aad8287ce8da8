"""From a tiny case to one of a size worth timing.

What belongs together grows together: every extent of one length, and the numbers among the attributes that are such
extents, by the same factor; so do lengths that are given one by one, since they add up to an extent. Matrices that must
be square stay so. Which extents may grow, an operator says by taking them or not. What a larger case would
take is judged by how the smaller ones grew, in elements more than in seconds, so that the answer is the same on every
machine.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from time import process_time
from typing import Any, TypeGuard

import torch

from opperf.child.backends.torch.specs import called_with, tensors
from opperf.domain.case import Argument, Case, ListOf, map_tensors, tensors_of
from opperf.domain.dataclass import dataclass
from opperf.domain.tensor import SPD, TensorSpec

#: No case grows whose call would return more elements, or take more seconds of CPU time.
MOST_ELEMENTS, MOST_SECONDS = 1 << 24, 0.5
#: Nor whose call would return more tensors: each costs Python more than PyTorch.
MOST_TENSORS = 256
#: The seconds of CPU time after which no further way to grow is tried.
SEARCH_SECONDS = 1.0
#: Seconds: what is shorter says nothing of how time grows.
TELLING_SECONDS = 0.005
#: Elements of the tensors that a call returns are so many times the largest input's power, until it is seen.
FIRST_GROWTH = 4.0
#: The most bits of a factor.
STEPS = 20


@dataclass(frozen=True)
class Growth:
    """Which numbers of a case are multiplied: extents of tensors, and numbers among the other arguments.

    `only` is the one place of a shape that grows, 0 for the first and -1 for the last. `shapes` says that numbers in
    lists and tuples are extents, `numbers` that those which stand alone are.
    """

    extents: frozenset[int]
    only: int | None = None
    shapes: bool = False
    numbers: bool = False

    def of(self, case: Case, factor: int) -> Case:
        """Return the case, larger by a factor."""
        inputs = {name: self._grow(value, factor) for name, value in case.inputs.items()}
        attributes = {name: self._grow(value, factor) for name, value in case.attributes.items()}
        return replace(case, inputs=inputs, attributes=attributes)

    def _grow(self, value: Argument, factor: int) -> Argument:
        if isinstance(value, TensorSpec):
            return self._tensor(value, factor)
        if isinstance(value, (ListOf, tuple)):
            items = value.items if isinstance(value, ListOf) else value
            if self.shapes and items and all(map(_whole, items)):
                items = tuple(
                    self._number(item, factor) if self._here(i, items) else item for i, item in enumerate(items)
                )
            else:
                items = tuple(map_tensors(item, lambda tensor: self._tensor(tensor, factor)) for item in items)
            return ListOf(items) if isinstance(value, ListOf) else items
        return self._number(value, factor) if self.numbers else value

    def _number(self, value: Argument, factor: int) -> Argument:
        return value * factor if _whole(value) and value in self.extents else value

    def _here(self, place: int, shape: Sequence[Any]) -> bool:
        """Whether a dimension of a shape may grow."""
        return self.only is None or place == self.only % len(shape)

    def _tensor(self, tensor: TensorSpec, factor: int) -> TensorSpec:
        if tensor.literal is not None:  # lengths, which add up to an extent; of another growth they are refused
            return replace(tensor, literal=tuple(value * factor for value in tensor.literal))
        shape = tuple(
            extent * factor if extent in self.extents and self._here(i, tensor.shape) else extent
            for i, extent in enumerate(tensor.shape)
        )
        if tensor.values == SPD and shape[-1] != shape[-2]:
            return tensor
        return replace(tensor, shape=shape, strides=_strides(tensor, shape))


@dataclass(frozen=True)
class Cost:
    """What one call of a case took: elements of its largest tensor, elements that it returned, seconds."""

    elements: int
    returned: int
    seconds: float


@dataclass(frozen=True)
class ScaledCase:
    """A case that grew, by which factor, and what it costs."""

    case: Case
    factor: int = 1
    cost: Cost = Cost(0, 0, 0.0)


def scale_case(function: Callable[..., Any], case: Case, elements: int, device: str) -> ScaledCase:
    """Return the case with its largest tensor of at least this many elements, else as large as it may grow.

    One that the function does not take is returned as it is, at no cost.
    """
    start = cost(function, case, device)
    if start is None:
        return ScaledCase(case)
    best = ScaledCase(case, 1, start)
    deadline = process_time() + SEARCH_SECONDS
    for growth in _growths(case):
        if best.cost.elements >= elements or process_time() > deadline:
            break
        result = _climb(function, case, growth, elements, start, device)
        if result.cost.elements > best.cost.elements:
            best = result
    return best


def cost(function: Callable[..., Any], case: Case, device: str) -> Cost | None:
    """Return the cost of a call of a case; None where the function does not take it, or returns too many tensors."""
    try:
        args, kwargs = called_with(case, device)
        start = process_time()
        with torch.no_grad():
            result = function(*args, **kwargs)
        seconds = process_time() - start
    except Exception:  # what a function does not take, it says in its own way
        return None
    elements = [leaf.numel() for leaf in tensors(result)]
    sizes = [tensor.elements for tensor in _specs(case)]
    if len(elements) > MOST_TENSORS:
        return None
    return Cost(max([*elements, *sizes], default=0), sum(elements), seconds)


def _climb(
    function: Callable[..., Any], case: Case, growth: Growth, elements: int, start: Cost, device: str
) -> ScaledCase:
    """Return the largest case that a growth leads to."""
    best, before = ScaledCase(case, 1, start), start
    for step in range(1, STEPS):
        factor = _enough(growth, case, elements, 2**step)
        candidate = growth.of(case, factor)
        if best.factor > 1 and not _bearable(before, best.cost, factor / best.factor):
            break
        if sum(tensor.elements for tensor in _specs(candidate)) > MOST_ELEMENTS:
            break
        now = cost(function, candidate, device)
        if now is None or now.elements <= best.cost.elements:
            break
        best, before = ScaledCase(candidate, factor, now), best.cost
        if now.elements >= elements:
            break
    return best


def _enough(growth: Growth, case: Case, elements: int, most: int) -> int:
    """Return the smallest factor above half of `most` that makes an input large enough, `most` where none does.

    A larger factor makes no input smaller, so that the place is found by halving: there are up to half a million.
    """

    def large(factor: int) -> bool:
        return max((tensor.elements for tensor in _specs(growth.of(case, factor))), default=0) >= elements

    least = most // 2 + 1
    return least + bisect_left(range(least, most), True, key=large)


def _bearable(before: Cost, now: Cost, ratio: float) -> bool:
    """Whether a call that is this many times larger returns little enough, and in time, if it grows as before."""
    grew = now.returned / before.returned if before.returned else FIRST_GROWTH
    if now.returned * max(grew, ratio) > MOST_ELEMENTS:
        return False
    slower = now.seconds / max(before.seconds, TELLING_SECONDS)
    return now.seconds < TELLING_SECONDS or now.seconds * max(slower, ratio) <= MOST_SECONDS


def _growths(case: Case) -> Iterator[Growth]:
    """Yield which numbers may grow, the most natural first: all extents together, then one, then an end alone."""
    shapes = [tensor.shape for tensor in _specs(case)]
    extents = frozenset(extent for shape in shapes for extent in shape if extent > 1)
    if not shapes or not extents:
        numbers = frozenset(number for number in _numbers(case) if number > 1)
        yield from (Growth(numbers, shapes=True), Growth(numbers, shapes=True, numbers=True))
        yield from (Growth(frozenset({own}), shapes=True, numbers=True) for own in sorted(numbers, reverse=True))
        return
    for some in (extents, *(frozenset({own}) for own in sorted(extents, reverse=True))):
        yield from (Growth(some, shapes=True), Growth(some), Growth(some, shapes=True, numbers=True))
    lists = list(_lists(case))
    for only in (0, -1):
        ends = [shape[only] for shape in shapes if shape]
        first = next((end for end in ends if end > 1), None)
        if first is not None:
            yield Growth(frozenset({first}), only, shapes=True)
            yield Growth(frozenset({first}), only, shapes=True, numbers=True)
        # A shape that another one becomes has extents of its own, and as many elements.
        together = frozenset(end for end in (*ends, *(value[only] for value in lists)) if end > 0)
        yield Growth(together, only, shapes=True)


def _specs(case: Case) -> list[TensorSpec]:
    """Return every tensor of a case, those given by name too."""
    return [tensor for value in (*case.inputs.values(), *case.attributes.values()) for tensor in tensors_of(value)]


def _lists(case: Case) -> Iterator[tuple[int, ...]]:
    """Yield the lists and tuples of whole numbers among the arguments."""
    for value in (*case.inputs.values(), *case.attributes.values()):
        items = value.items if isinstance(value, ListOf) else value
        if isinstance(items, tuple) and items and all(map(_whole, items)):
            yield tuple(filter(_whole, items))


def _numbers(case: Case) -> Iterator[int]:
    for value in (*case.inputs.values(), *case.attributes.values()):
        items = value.items if isinstance(value, ListOf) else value if isinstance(value, tuple) else (value,)
        yield from filter(_whole, items)


def _whole(value: Argument) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _strides(tensor: TensorSpec, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the strides of a larger tensor whose dimensions are stored in the same order."""
    if tensor.strides is None:
        return None
    strides = tensor.strides
    order = sorted(range(len(shape)), key=lambda i: -strides[i])
    return tuple(math.prod(shape[j] for j in order[order.index(i) + 1 :]) for i in range(len(shape)))
