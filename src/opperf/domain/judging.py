"""Where the inputs lie that a candidate reads, in memory that it shares with its judge."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from opperf.domain.case import Argument, Case, ListOf
from opperf.domain.codec import Exact
from opperf.domain.dataclass import dataclass
from opperf.domain.tensor import ITEM_SIZES, TensorSpec

#: Where a tensor may begin in an area, in bytes; frameworks align theirs so.
ALIGNMENT = 64
#: Between the tensors of a slot, so that what lies behind one is not the next.
PAGE = 4096
#: By how many places of a page slots are shifted, and from slot to slot.
SHIFTS, STEP = 16, 5


@dataclass(frozen=True)
class Geometry(Exact):
    """Where the tensors of a case lie in an area: in each of `slots`, `stride` bytes apart, at these `places`.

    Those whose numbers are `constant` lie once, behind all slots, and their places are those in the area.
    """

    slots: int
    stride: int
    places: tuple[int, ...]
    constant: tuple[int, ...] = ()

    def place(self, slot: int, tensor: int) -> int:
        """Return where a tensor of a slot begins.

        Slots do not begin at the same place of a page, or they would all want the same lines of the first cache.

        >>> Geometry(2, 8192, (0, 4160)).place(1, 1)
        12672
        """
        if not 0 <= slot < self.slots:
            raise IndexError(slot)
        if tensor in self.constant:
            return self.places[tensor]
        return slot * self.stride + ALIGNMENT * (slot * STEP % SHIFTS) + self.places[tensor]


def geometry(case: Case, most: int, slots: int, constant: Collection[str] = ()) -> Geometry:
    """Return where the tensors of a case lie: up to so many slots, as few as two, in an area of `most` bytes.

    Each tensor begins another few cache lines into a page, as blocks of an allocator do. Those of the `constant` inputs
    are the same in all slots.

    >>> geometry(Case("add", {"lhs": TensorSpec((2,)), "rhs": TensorSpec((2,))}), 1 << 20, 16).places
    (64, 4224)
    """
    every = list(tensors(case))
    same = tuple(i for i, (place, _) in enumerate(every) if place.partition("[")[0] in constant)
    places = [0] * len(every)

    def lay(numbers: Iterable[int], end: int) -> int:
        for i in numbers:
            places[i] = -(-end // PAGE) * PAGE + ALIGNMENT * (1 + i)
            end = places[i] + every[i][1].nbytes
        return end

    end = lay((i for i in range(len(every)) if i not in same), 0) + ALIGNMENT * SHIFTS
    stride = max(PAGE, -(-end // PAGE) * PAGE)
    left = most - lay(same, 0)
    slots = max(2, min(slots, left // stride))
    lay(same, slots * stride)
    return Geometry(slots, stride, tuple(places), same)


def area_size(case: Case, most: int, constant: Collection[str]) -> int:
    """Return the bytes of an area in which a case finds room, and cases a little larger."""
    two = geometry(case, 0, 2, constant)
    once = sum(spec.nbytes + 2 * PAGE for i, (_, spec) in enumerate(tensors(case)) if i in two.constant)
    return max(most, 4 * two.stride + 2 * once)


class Laid(Protocol):
    """How a tensor lies: its shape and element type."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""

    @property
    def dtype(self) -> str:
        """The element type."""


class Strided(Laid, Protocol):
    """How a tensor lies whose elements may lie anywhere."""

    @property
    def strides(self) -> tuple[int, ...]:
        """The bytes from one element to the next along each axis."""


def bytes_of(one: Laid) -> int:
    """Return the bytes that the elements of a tensor take."""
    return math.prod(one.shape) * ITEM_SIZES[one.dtype]


def extent(shape: Sequence[int], strides: Sequence[int], item: int) -> tuple[int, int]:
    """Return where the lowest byte of a tensor lies, from its first element, and how many lie up to the highest.

    >>> extent((2, 3), (12, 4), 4), extent((3,), (-4,), 4)
    ((0, 24), (-8, 12))
    """
    if 0 in shape:
        return 0, 0
    steps = [(size - 1) * step for size, step in zip(shape, strides)]
    low = sum(step for step in steps if step < 0)
    return low, sum(step for step in steps if step > 0) - low + item


def overlaps(tensor: Strided) -> bool:
    """Whether elements of a tensor share memory: along some axis they are nearer than what the others span.

    >>> from opperf.domain.message.replies import Outlined
    >>> [overlaps(Outlined((4, 3), "float32", strides)) for strides in ((12, 4), (-4, 16), (0, 4), (4, 4))]
    [False, False, True, True]
    """
    if 0 in tensor.shape:
        return False
    end = ITEM_SIZES[tensor.dtype]
    for step, size in sorted((abs(step), size) for step, size in zip(tensor.strides, tensor.shape) if size > 1):
        if step < end:
            return True
        end += step * (size - 1)
    return False


def tensors(case: Case) -> Iterator[tuple[str, TensorSpec]]:
    """Yield every tensor of a case with its place among the arguments, in order."""
    for name, argument in (*case.inputs.items(), *case.attributes.items()):
        yield from _tensors(argument, name)


def _tensors(argument: Argument, place: str) -> Iterator[tuple[str, TensorSpec]]:
    if isinstance(argument, TensorSpec):
        yield place, argument
    elif isinstance(argument, (ListOf, tuple)):
        for i, item in enumerate(argument.items if isinstance(argument, ListOf) else argument):
            yield from _tensors(item, f"{place}[{i}]")


def finite(value: object) -> object:
    """Return a value of JSON in which the numbers that it has no form for, of a wrong result, are texts.

    >>> finite({"found": float("nan"), "expected": [1.5]})
    {'found': 'nan', 'expected': [1.5]}
    """
    if isinstance(value, Mapping):
        return {name: finite(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(one) for one in value]
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value
