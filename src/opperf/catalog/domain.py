"""What an argument may hold: the kinds of domains that the rows of `domain_table.py` are made of.

A domain turns the description of a tensor into one whose values the operator is defined for. What a case says already
stays, as far as it is inside: values given one by one always do, a range where the domain has it. Without a domain a
square root runs on NaNs, which takes twenty times as long, and an index out of range fails or ends the process.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Protocol, TypeAlias

from opperf.catalog.extent import At, Elements, Extent, Size
from opperf.domain.case import Case, tensors_of
from opperf.domain.dataclass import dataclass
from opperf.domain.tensor import FLOATS, MOST_LITERAL, SPARSE, SPD, TensorSpec, full_range, is_whole

Range: TypeAlias = tuple[float, float]

INFINITE = math.inf
#: Truth values in whole numbers, and those of probabilities.
BINARY = (0.0, 2.0)
#: Whole numbers above zero, as far as their type has them.
POSITIVE = (1.0, INFINITE)


class Domain(Protocol):
    """What an argument may hold."""

    def draw(self, tensor: TensorSpec, case: Case) -> TensorSpec:
        """Return the tensor with values inside."""


@dataclass(frozen=True)
class Between:
    """Numbers within bounds: `usual` are drawn where nothing is said, those `inside` are taken as they are said.

    `whole` is what whole numbers lie between, within their type, None where all of those will do; `zero` says whether
    the operator takes one, as a divisor of whole numbers is none.
    """

    usual: Range
    inside: Range
    whole: Range | None = None
    zero: bool = True

    def draw(self, tensor: TensorSpec, case: Case) -> TensorSpec:
        """Return the tensor with its range, or one inside."""
        if tensor.dtype == "bool" or tensor.dtype.startswith("complex"):
            return tensor
        usual = self.usual if tensor.is_float else self._whole(tensor.dtype)
        if usual is None or (tensor.range is not None and self._holds(tensor.range, fractions=tensor.is_float)):
            return tensor
        return replace(tensor, range=usual)

    def _whole(self, dtype: str) -> Range | None:
        """Return the bounds of whole numbers of a type."""
        if self.whole is None or not is_whole(dtype):
            return self.whole
        least, most = full_range(dtype)
        return max(self.whole[0], least), min(self.whole[1], most)

    def _holds(self, bounds: Range, *, fractions: bool) -> bool:
        """Whether numbers between these bounds, the upper one left out, are inside."""
        low, high = bounds[0], bounds[1] if fractions else bounds[1] - 1
        return self.inside[0] <= low <= high <= self.inside[1] and (self.zero or fractions or not low <= 0 <= high)


@dataclass(frozen=True)
class Whole:
    """What whole numbers lie between, where real ones may be any: exponents, or what a small power still holds."""

    bounds: Range

    def draw(self, tensor: TensorSpec, case: Case) -> TensorSpec:
        """Return the tensor with its bounds, where it is of whole numbers and says none."""
        if not is_whole(tensor.dtype) or tensor.range is not None:
            return tensor
        low, high = max(self.bounds[0], full_range(tensor.dtype)[0]), self.bounds[1]
        return replace(tensor, range=(low, high))


@dataclass(frozen=True)
class Below:
    """Whole numbers from `low` to below an extent; some operators count negative ones from the end.

    Where numbers of an operator are never fractions, as MXNet's indices, they may be of a floating type; no gradient
    flows to them.
    """

    extent: Extent
    low: int = 0
    negative: bool = False
    floating: bool = False

    def draw(self, tensor: TensorSpec, case: Case) -> TensorSpec:
        """Return the tensor with its bounds, as far as they are within the extent."""
        extent = self.extent.of(case)
        if tensor.dtype == "bool" or (tensor.is_float and not self.floating) or extent is None:
            return tensor
        if tensor.is_float and tensor.requires_grad is None:
            tensor = replace(tensor, requires_grad=False)
        # A fraction above the last index is one too large to some operators.
        most = max(extent - 1, self.low) if tensor.is_float else max(extent, self.low + 1)
        least = -extent if self.negative else self.low
        if tensor.range is None:
            return replace(tensor, range=(float(self.low), float(most)))
        low, high = tensor.range
        if least <= low and high <= most:
            return tensor
        low, high = max(low, least), min(high, most)
        return replace(tensor, range=(float(low), float(high)) if low < high else (float(self.low), float(most)))


@dataclass(frozen=True)
class Rising:
    """Numbers in order: offsets that begin at 0 and end within an extent; without one, bounds between usual values."""

    extent: Extent | None = None
    falling: bool = False
    low: int = 0

    def draw(self, tensor: TensorSpec, case: Case) -> TensorSpec:
        """Return the tensor sorted."""
        order = "reversed" if self.falling else "sorted"
        if self.extent is None:
            return tensor if tensor.dtype.startswith("complex") else replace(tensor, values=order)
        extent = self.extent.of(case)
        if extent is None:
            return tensor
        most = float(extent + (self.low and 1))
        high = most if tensor.range is None else min(most, max(tensor.range[1], self.low + 1.0))
        return replace(tensor, values=order, range=(float(self.low), high))


@dataclass(frozen=True)
class Parts:
    """Whole numbers that add up to an extent, the larger ones first."""

    extent: Extent

    def draw(self, tensor: TensorSpec, case: Case) -> TensorSpec:
        """Return the tensor with its numbers."""
        total, count = self.extent.of(case), tensor.elements
        if tensor.is_float or total is None or not 0 < count <= MOST_LITERAL:
            return tensor
        share, rest = divmod(total, tensor.shape[-1] if tensor.shape else 1)
        row = [share + (place < rest) for place in range(tensor.shape[-1] if tensor.shape else 1)]
        return replace(tensor, values="uniform", range=None, literal=tuple(row * (count // len(row))))


@dataclass(frozen=True)
class Lengths:
    """Lengths of pieces that make up an extent, in however many dimensions they stand: all alike, but for the rest."""

    extent: Extent

    def draw(self, tensor: TensorSpec, case: Case) -> TensorSpec:
        """Return the tensor with its lengths; of very many the rest is left out."""
        total, count = self.extent.of(case), tensor.elements
        if tensor.is_float or total is None or not count:
            return tensor
        share, rest = divmod(total, count)
        if count > MOST_LITERAL:
            return replace(tensor, values="uniform", range=(float(share), share + 1.0))
        lengths = tuple(share + (place < rest) for place in range(count))
        return replace(tensor, values="uniform", range=None, literal=lengths)


@dataclass(frozen=True)
class Edges:
    """Where pieces of an extent begin and the last one ends, from 0 on; of `ends` alone the 0 is left out."""

    extent: Extent
    ends: bool = False

    def draw(self, tensor: TensorSpec, case: Case) -> TensorSpec:
        """Return the tensor with its edges; very many rise to no more than the extent."""
        total, count = self.extent.of(case), tensor.elements
        if tensor.is_float or total is None or not count:
            return tensor
        if count > MOST_LITERAL:
            return replace(tensor, values="sorted", range=(0.0, total + 1.0))
        pieces = max(1, count - (not self.ends))
        edges = tuple((place + self.ends) * total // pieces for place in range(count))
        return replace(tensor, values="uniform", range=None, literal=edges)


@dataclass(frozen=True)
class Levels:
    """A list of edges, each level's pieces those of the next one: the last ends with an extent."""

    levels: At
    extent: Extent

    def each(self, case: Case) -> Iterator[Domain]:
        """Yield the domain of each item."""
        sizes = [tensor.elements for tensor in tensors_of(self.levels.argument(case))]
        return iter([*(Edges(Constant(size - 1)) for size in sizes[1:]), Edges(self.extent)])


@dataclass(frozen=True)
class Order:
    """A permutation: places in a dimension, the last one first, and again from the end where there are more."""

    extent: Extent

    def draw(self, tensor: TensorSpec, case: Case) -> TensorSpec:
        """Return the tensor with its places."""
        size = self.extent.of(case)
        if tensor.is_float or not size or not 0 < tensor.elements <= MOST_LITERAL:
            return tensor
        places = tuple(size - 1 - place % size for place in range(tensor.elements))
        return replace(tensor, values="uniform", range=None, literal=places)


@dataclass(frozen=True)
class Always:
    """One number."""

    value: float

    def draw(self, tensor: TensorSpec, case: Case) -> TensorSpec:
        """Return the tensor full of it."""
        return replace(tensor, values={0.0: "zeros", 1.0: "ones"}[self.value], range=None)


@dataclass(frozen=True)
class Full:
    """The whole of an extent, every time: lengths that leave nothing out."""

    extent: Extent

    def draw(self, tensor: TensorSpec, case: Case) -> TensorSpec:
        """Return the tensor with that number, or with bounds that it has within."""
        extent = self.extent.of(case)
        if extent is None:
            return tensor
        low, high = tensor.range or (float(extent), extent + 1.0)
        inside = low >= 1 and high <= extent + 1
        return tensor if inside and tensor.range else replace(tensor, range=(float(extent), extent + 1.0))


@dataclass(frozen=True)
class PartsOrFull:
    """Lengths of rows: of rows that are joined in one dimension they add up, of rows in two each is a whole one."""

    rows: At

    def draw(self, tensor: TensorSpec, case: Case) -> TensorSpec:
        """Return the tensor with its lengths."""
        rows = self.rows.tensor(case)
        if rows is None:
            return tensor
        domain = Parts(Elements(self.rows)) if len(rows.shape) == 1 else Full(Size(self.rows, -1))
        return domain.draw(tensor, case)


@dataclass(frozen=True)
class Definite:
    """Symmetric positive definite matrices."""

    def draw(self, tensor: TensorSpec, case: Case) -> TensorSpec:
        """Return the tensor with matrices of this kind, if it is square."""
        square = tensor.dtype in FLOATS and len(tensor.shape) > 1 and tensor.shape[-1] == tensor.shape[-2]
        return replace(tensor, values=SPD, range=None) if square else tensor


@dataclass(frozen=True)
class Base:
    """What may be raised to the power of another argument: anything to a whole number, else what is positive."""

    exponent: At
    positive: Between

    def draw(self, tensor: TensorSpec, case: Case) -> TensorSpec:
        """Return the tensor with values that the power is defined for."""
        exponent = self.exponent.number(case)
        several = self.exponent.tensor(case)
        if exponent is None and several is not None and not several.is_float:
            return tensor
        return tensor if exponent is not None and exponent == int(exponent) else self.positive.draw(tensor, case)


@dataclass(frozen=True)
class IndexList:
    """The list of indices that `x[i, j]` passes: each indexes the dimension of `x` at which it stands."""

    data: At

    def each(self, case: Case) -> Iterator[Domain]:
        """Yield the domain of each item."""
        data = self.data.tensor(case)
        sizes = () if data is None else data.shape
        return chain((Below(Constant(size), negative=True) for size in sizes), iter(lambda: Below(Constant(1)), None))


@dataclass(frozen=True)
class Constant:
    """A number that is known."""

    number: int

    def of(self, case: Case) -> int:
        """Return it."""
        return self.number


def is_open(tensor: TensorSpec) -> bool:
    """Whether values of a tensor are still to be drawn: it has no explicit, constant or mostly zero values."""
    return not tensor.is_given and bool(tensor.elements) and not tensor.values.startswith((SPARSE, "zeros", "ones"))


#: Bounds that several rows have.
ABOVE_ZERO = Between((0.1, 2.0), (0.0, INFINITE), POSITIVE)
FAR_FROM_ZERO = Between((0.5, 2.0), (-INFINITE, INFINITE), POSITIVE, zero=False)
