"""What a finding is about: how to leave it, which sizes show it, and the same in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from opperf.domain.dataclass import dataclass
from opperf.parent.commands.explore.space import CONTIGUOUS, Dimension, Point

#: Sizes are padded to multiples of these, if that adds no more than this share.
MULTIPLES = (2, 4, 8, 16, 32, 64, 128)
MOST_PADDING = 1 / 8


@dataclass(frozen=True)
class Remedy:
    """The way from a point to its neighbour: one element more or less, a multiple of some size, or contiguous tensors.

    `shift` is added to the size of dimension `place`; with a `multiple` the size is rounded up to it instead.
    """

    place: int | None = None
    shift: int = 0
    multiple: int = 0

    def apply(self, point: Point) -> Point | None:
        """Return the neighbour; None where there is none, or where it is the point itself."""
        if self.place is None:
            return None if point.layout == CONTIGUOUS else Point(point.sizes)
        size = point.sizes[self.place]
        other = math.ceil(size / self.multiple) * self.multiple if self.multiple else size + self.shift
        return None if other < 1 or other == size else point.at(self.place, other)

    def say(self, dimensions: tuple[Dimension, ...], point: Point) -> str:
        """Say what to do instead."""
        if self.place is None:
            return "make the tensors contiguous"
        dimension, size = dimensions[self.place], point.sizes[self.place]
        name = dimension.name
        grow = f"{'raise' if dimension.is_attribute else 'pad'} {name} to"
        if self.multiple:
            return f"{grow} a multiple of {self.multiple}"
        return f"{grow} {size + 1:,}" if self.shift > 0 else f"keep {name} below {size:,}"


def remedies(place: int, size: int) -> Iterator[Remedy]:
    """Yield the ways to a neighbour in one dimension that does as much work or more, then to the one that does less."""
    yield Remedy(place, shift=1)
    for multiple in MULTIPLES[2:]:
        padding = -size % multiple
        if 1 < padding <= size * MOST_PADDING:
            yield Remedy(place, multiple=multiple)
    yield Remedy(place, shift=-1)


@dataclass(frozen=True)
class Proportion:
    """A bound that follows another dimension, at `share` times the size of dimension `of`.

    `above` says whether sizes above or below it show the finding, `beyond` whether the bound itself is above.
    """

    share: Fraction
    of: int
    above: bool
    beyond: bool

    @classmethod
    def between(cls, last: int, size: int, of: int, *, above: bool) -> Proportion:
        """Return the simplest one where, beside a dimension of some `size`, `last` is below and the next is above."""
        low, high = Fraction(last, size), Fraction(last + 1, size)
        denominator = 1
        while (numerator := math.ceil(low * denominator)) > high * denominator:
            denominator += 1
        share = Fraction(numerator, denominator)
        return cls(share, of, above, share == high)

    def first(self, size: int) -> int:
        """Return the first size above the bound beside one of the other dimension.

        >>> Proportion.between(343, 343, 0, above=True).first(16), Proportion.between(342, 343, 0, above=True).first(16)
        (17, 16)
        """
        bound = self.share * size
        return math.ceil(bound) if self.beyond else math.floor(bound) + 1

    def holds(self, size: int, sizes: Sequence[int]) -> bool:
        """Whether a size is on the side of the bound that shows the finding."""
        return (size >= self.first(sizes[self.of])) == self.above

    def say(self, name: str, partner: str) -> str:
        """Say it of two dimensions.

        >>> Proportion.between(686, 343, 0, above=True).say("m", "n")
        'm > 2 x n'
        """
        sign = (">=" if self.beyond else ">") if self.above else ("<" if self.beyond else "<=")
        return f"{name} {sign} {'' if self.share == 1 else f'{self.share} x '}{partner}"


@dataclass(frozen=True)
class Sizes:
    """The sizes of one dimension that show a finding: `low` to `high`, those of a residue, or powers of two.

    One that is `alone` has no other like it nearby.
    """

    low: int
    high: int
    modulus: int = 1
    residue: int = 0
    powers: bool = False
    alone: bool = False
    proportion: Proportion | None = None

    def holds(self, size: int, sizes: Sequence[int]) -> bool:
        """Whether a size is one of them, in a point of these sizes."""
        if self.proportion is not None:
            return self.proportion.holds(size, sizes)
        fits = size & (size - 1) == 0 if self.powers else size % self.modulus == self.residue
        return fits and self.low <= size <= self.high

    def members(self, low: int, high: int) -> list[int]:
        """Return the sizes between bounds that are alike, the smallest first."""
        if self.powers:
            return [1 << power for power in range(high.bit_length()) if low <= 1 << power <= high]
        start = low + (self.residue - low) % self.modulus
        return list(range(start, high + 1, self.modulus))


@dataclass(frozen=True)
class Region:
    """The points that show a finding: in one layout, sizes for each dimension."""

    sizes: tuple[Sizes, ...]
    layout: str = CONTIGUOUS

    def __contains__(self, point: Point) -> bool:
        return self.layout in (CONTIGUOUS, point.layout) and all(
            one.holds(size, point.sizes) for size, one in zip(point.sizes, self.sizes)
        )

    def say(self, dimensions: tuple[Dimension, ...]) -> str:
        """Say which sizes show it; a dimension that may have any explored size is left out."""
        words = [*self._layout(), *_describe_dimensions(self.sizes, dimensions)]
        return ", ".join(words) or "every size that was explored"

    def _layout(self) -> Iterable[str]:
        return [] if self.layout == CONTIGUOUS else [f"{self.layout} tensors"]


def _describe_dimensions(sizes: tuple[Sizes, ...], dimensions: tuple[Dimension, ...]) -> Iterator[str]:
    for bounds, dimension in zip(sizes, dimensions):
        name = dimension.name
        if bounds.proportion is not None:
            yield bounds.proportion.say(name, dimensions[bounds.proportion.of].name)
            continue
        if bounds.powers:
            yield f"{name} a power of two"
        elif bounds.modulus > 1:
            yield f"{name} % {bounds.modulus} == {bounds.residue}"
        least = bounds.low >= dimension.low + bounds.modulus
        most = bounds.high <= dimension.high - bounds.modulus
        if not dimension.free:
            continue
        if bounds.low == bounds.high and not bounds.powers and bounds.modulus == 1:
            yield f"{name} = {bounds.low:,}"
        elif least and most:
            yield f"{name} from {bounds.low:,} to {bounds.high:,}"
        elif least:
            yield f"{name} from {bounds.low:,} on"
        elif most:
            yield f"{name} up to {bounds.high:,}"
