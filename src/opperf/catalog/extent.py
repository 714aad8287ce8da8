"""What an argument of a case is, and numbers that follow from others: sizes, counts and bounds of domains."""

from __future__ import annotations

import math
from typing import Protocol

from opperf.domain.case import Argument, Case, tensors_of
from opperf.domain.dataclass import dataclass
from opperf.domain.tensor import ITEM_SIZES, TensorSpec


@dataclass(frozen=True)
class At:
    """An argument of a call: by one of the names that frameworks have for it, else by its place among the inputs.

    Without a place it is there by name or not at all.
    """

    place: int | None
    names: tuple[str, ...] = ()

    def name(self, case: Case) -> str | None:
        """Return the name of the argument in a case; None where it has none."""
        for name in self.names:
            if name in case.inputs or name in case.attributes:
                return name
        inputs = list(case.inputs)
        return inputs[self.place] if self.place is not None and self.place < len(inputs) else None

    def argument(self, case: Case) -> Argument:
        """Return the argument; None where a case has none."""
        name = self.name(case)
        return None if name is None else case[name]

    def tensor(self, case: Case) -> TensorSpec | None:
        """Return the tensor, of a list the first; None where there is none."""
        return next(tensors_of(self.argument(case)), None)

    def number(self, case: Case) -> float | None:
        """Return the number, also one that MXNet writes as text or that stands alone in a tensor; else None."""
        value = self.argument(case)
        if isinstance(value, TensorSpec) and value.literal is not None and len(value.literal) == 1:
            value = value.literal[0]
        if isinstance(value, str):
            try:
                return float(value)
            except ValueError:
                return None
        return float(value) if isinstance(value, (int, float)) else None


class Extent(Protocol):
    """The number of something in a call."""

    def of(self, case: Case) -> int | None:
        """Return the number; None where a case does not tell it."""


@dataclass(frozen=True)
class Size:
    """The size of a tensor along a dimension: a fixed one, or the one that another argument names."""

    tensor: At
    dimension: int | At = 0
    #: The dimension where the argument that names it is left out.
    otherwise: int = 0

    def of(self, case: Case) -> int | None:
        """Return the size; a tensor without dimensions has one element."""
        tensor = self.tensor.tensor(case)
        if tensor is None:
            return None
        dimension = self.dimension
        if isinstance(dimension, At):
            argument = dimension.argument(case)
            number = dimension.number(case) if isinstance(argument, (int, str)) else None
            dimension = self.otherwise if number is None else int(number)
        if not tensor.shape:
            return 1
        inside = -len(tensor.shape) <= dimension < len(tensor.shape)
        return tensor.shape[dimension] if inside else None


@dataclass(frozen=True)
class Classes:
    """How many classes scores have: the second dimension of a batch, the only one of a sample."""

    scores: At

    def of(self, case: Case) -> int | None:
        """Return the number."""
        tensor = self.scores.tensor(case)
        return None if tensor is None or not tensor.shape else tensor.shape[min(1, len(tensor.shape) - 1)]


@dataclass(frozen=True)
class Elements:
    """How many elements a tensor has, or its last dimensions."""

    tensor: At
    last: int | None = None

    def of(self, case: Case) -> int | None:
        """Return the number."""
        tensor = self.tensor.tensor(case)
        if tensor is None:
            return None
        return math.prod(tensor.shape if self.last is None else tensor.shape[-self.last :])


@dataclass(frozen=True)
class Bits:
    """How many bits the elements of a tensor have beside a sign: it cannot be shifted by more."""

    tensor: At

    def of(self, case: Case) -> int | None:
        """Return the number."""
        tensor = self.tensor.tensor(case)
        return None if tensor is None else 8 * ITEM_SIZES[tensor.dtype] - 1


@dataclass(frozen=True)
class Either:
    """The first of several sizes that a case determines."""

    extents: tuple[Extent, ...]

    def of(self, case: Case) -> int | None:
        """Return the number."""
        return next((extent_size for extent in self.extents if (extent_size := extent.of(case)) is not None), None)


@dataclass(frozen=True)
class Times:
    """The product of several numbers, as places on pages are of pages and places on each."""

    extents: tuple[Extent, ...]

    def of(self, case: Case) -> int | None:
        """Return the number; None where a case does not tell one of them."""
        numbers = [number for extent in self.extents if (number := extent.of(case)) is not None]
        return math.prod(numbers) if len(numbers) == len(self.extents) else None


@dataclass(frozen=True)
class Leading:
    """How many rows a tensor has whose first two dimensions are one, as the padded form of rows of several lengths."""

    tensor: At

    def of(self, case: Case) -> int | None:
        """Return the number."""
        tensor = self.tensor.tensor(case)
        return None if tensor is None else math.prod(tensor.shape[:2])


@dataclass(frozen=True)
class Least:
    """The smallest size of a tensor, or of a shape that is an attribute: places in each dimension stay below it."""

    shaped: At

    def of(self, case: Case) -> int | None:
        """Return the size."""
        argument = self.shaped.argument(case)
        sizes = argument.shape if isinstance(argument, TensorSpec) else argument
        whole = isinstance(sizes, tuple) and all(isinstance(size, int) for size in sizes)
        return min((int(str(size)) for size in sizes), default=1) if whole and isinstance(sizes, tuple) else None


@dataclass(frozen=True)
class Product:
    """The product of the sizes in an attribute."""

    shape: At

    def of(self, case: Case) -> int | None:
        """Return the number."""
        argument = self.shape.argument(case)
        items = getattr(argument, "items", argument)
        sizes = [size for size in items if isinstance(size, int)] if isinstance(items, tuple) else []
        return math.prod(sizes) if sizes else None


@dataclass(frozen=True)
class Entry:
    """The size in an attribute that another argument names, as the shape of what an index chose from."""

    sizes: At
    dimension: At

    def of(self, case: Case) -> int | None:
        """Return the size."""
        argument, dimension = self.sizes.argument(case), self.dimension.number(case)
        sizes = getattr(argument, "items", argument)
        if not isinstance(sizes, tuple) or dimension is None or not -len(sizes) <= dimension < len(sizes):
            return None
        size = sizes[int(dimension)]
        return size if isinstance(size, int) else None


@dataclass(frozen=True)
class Number:
    """A number that is an argument itself."""

    value: At

    def of(self, case: Case) -> int | None:
        """Return the number where it counts something."""
        number = self.value.number(case)
        return int(number) if number is not None and number >= 1 else None
