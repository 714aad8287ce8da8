"""The cases of one operator as points: a size for each of its dimensions, and how its tensors lie in memory.

An attribute that is a whole number (`k` of `topk`) is a dimension, too, where the user gives it a range.

Which dimensions must be equal is asked of the operator: sizes that are equal in its example are one dimension, unless
the operator also takes a case in which one of them differs.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from opperf.catalog import Operator
from opperf.catalog.valid_values import restrict
from opperf.domain.case import Case, map_tensors
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec, row_major
from opperf.parent.sources.random_cases import MOST_ELEMENTS, Place, Template, fits, is_dimension, numbers, with_numbers

#: How tensors lie: in the order of their indices; with the last two dimensions exchanged; with every second element.
CONTIGUOUS, TRANSPOSED, STRIDED = "contiguous", "transposed", "strided"
LAYOUTS = (CONTIGUOUS, TRANSPOSED, STRIDED)
#: What papers and programs call the dimensions of products.
LETTERS: Mapping[str, Mapping[str, str]] = {
    "matmul": {"lhs.0": "m", "lhs.1": "k", "rhs.1": "n"},
    "batch_matmul": {"lhs.0": "b", "lhs.1": "m", "lhs.2": "k", "rhs.2": "n"},
    "linear": {"data.0": "m", "data.1": "k", "weight.0": "n"},
}
#: Without bounds, a dimension of an example goes from this share of its size to this multiple.
LEAST_SHARE, MOST_MULTIPLE = 16, 4
#: By how much one size is changed to see whether it may differ from others.
NUDGE = 1


@dataclass(frozen=True)
class Dimension:
    """Sizes that are always equal: where they stand in a case, and between which bounds they are explored."""

    name: str
    places: tuple[Place, ...]
    low: int
    high: int

    @property
    def free(self) -> bool:
        """Whether it has more than one size."""
        return self.low < self.high

    @property
    def is_attribute(self) -> bool:
        """Whether it is an attribute, not a size of tensors."""
        return not any(map(is_dimension, self.places))

    def __str__(self) -> str:
        return f"{self.name}={self.low}..{self.high}" if self.free else f"{self.name}={self.low}"


@dataclass(frozen=True)
class Point:
    """A size for each dimension, in the space's order, and a layout."""

    sizes: tuple[int, ...]
    layout: str = CONTIGUOUS

    def at(self, place: int, size: int) -> Point:
        """Return the point with another size in one dimension."""
        return replace(self, sizes=(*self.sizes[:place], size, *self.sizes[place + 1 :]))


class Space:
    """The points of one operator: `case` makes each a case."""

    def __init__(self, base: Case, definition: Operator | None = None, *, by_default: bool = False) -> None:
        """Take an example, and the catalog's definition of its operator; `by_default` says that it has its inputs.

        The sizes of all of the catalog's size classes then say what follows what, and the bounds.
        """
        self.base, self._definition = base, definition
        self._template = Template(definition) if definition is not None and by_default else None
        self._dtype = next((tensor.dtype for tensor in base.tensors()), "float32")
        self.dimensions = tuple(self._groups())
        self.layouts: tuple[str, ...] = (CONTIGUOUS,)

    def _groups(self) -> Iterator[Dimension]:
        """Yield the dimensions by what is equal in the example, or in each size class of the catalog."""
        groups: dict[tuple[int, ...], list[Place]] = {}
        for place, size in numbers(self.base):
            values: tuple[int, ...] = (max(1, size // LEAST_SHARE), size * MOST_MULTIPLE)
            if self._template is not None:
                values = self._template.values(place)
            # What is a multiple of another dimension, or 1 in some class, follows from the template.
            follows = self._template is not None and len({*values}) > 1 and values not in self._template.variables
            if is_dimension(place) and not follows:
                groups.setdefault(values, []).append(place)
        for values, places in groups.items():
            yield Dimension(self._name(places[0]), tuple(places), min(values), max(values))

    def _name(self, place: Place) -> str:
        plain = ".".join(str(part) for part in place if part != "shape")
        return LETTERS.get(self.base.operator, {}).get(plain, plain)

    def split(self, accepts: Callable[[Case], bool]) -> None:
        """Make sizes dimensions of their own where the operator takes a case in which they alone differ."""
        apart: list[Dimension] = []
        for dimension in self.dimensions:
            alone = []
            if len(dimension.places) > 1:
                sizes = dict(numbers(self.base))
                for place in dimension.places:
                    case = self._check(with_numbers(self.base, {**sizes, place: sizes[place] + NUDGE}))
                    if case is not None and accepts(case):
                        alone.append(place)
            rest = [place for place in dimension.places if place not in alone]
            groups = filter(None, [rest, *([place] for place in alone)])
            apart += [replace(dimension, name=self._name(places[0]), places=tuple(places)) for places in groups]
        self.dimensions = tuple(apart)

    def bound(self, bounds: Mapping[str, tuple[int, int]]) -> None:
        """Take bounds by the names of dimensions, of any of their places, or of attributes that are whole numbers.

        Raises `InputError` for other names.
        """
        dimensions, attributes = list(self.dimensions), self._attributes()
        for name, (low, high) in bounds.items():
            at = next((i for i, one in enumerate(dimensions) if name in (one.name, *map(_plain, one.places))), None)
            if at is not None:
                dimensions[at] = replace(dimensions[at], low=low, high=high)
            elif name in attributes:
                dimensions.append(Dimension(name, attributes[name], low, high))
            else:
                raise InputError(
                    f"`--dims`: `{self.base.operator}` has no dimension `{name}`, and no such attribute with a number",
                    hint=f"it has {', '.join((*map(str, dimensions), *attributes))}; `--attribute {name}=1` adds one",
                    slug="unknown_dimension",
                )
        self.dimensions = tuple(dimensions)

    def _attributes(self) -> dict[str, tuple[Place, ...]]:
        """Return where attributes have whole numbers: those of a tuple are one (`kernel`), and each is (`kernel.0`)."""
        places: dict[str, tuple[Place, ...]] = {}
        for place, _ in numbers(self.base):
            if place[0] in self.base.attributes:
                for name in dict.fromkeys((str(place[0]), _plain(place))):
                    places[name] = (*places.get(name, ()), place)
        return places

    def case(self, point: Point) -> Case | None:
        """Return the case of a point; None where the operator's rules, or the limit of elements, refuse it."""
        sizes = {place: size for one, size in zip(self.dimensions, point.sizes) for place in one.places}
        base = self.base
        if self._template is not None:
            # What follows a dimension (a range of indices, a padded shape) follows the first place that has it.
            several = [(place, size) for place, size in sizes.items() if is_dimension(place)]
            first = {self._template.values(place): size for place, size in reversed(several)}
            values_of_axes = {values: first[values] for values in self._template.variables}
            base = restrict(self._template.case(values_of_axes, self._template.common).with_dtype(self._dtype))
        case = self._check(with_numbers(base, {**dict(numbers(base)), **sizes}))
        return case if case is None or point.layout == CONTIGUOUS else _laid_out(case, point.layout)

    def holds(self, point: Point) -> bool:
        """Whether a point lies within the bounds."""
        return all(one.low <= size <= one.high for one, size in zip(self.dimensions, point.sizes))

    def _check(self, case: Case) -> Case | None:
        if sum(tensor.elements for tensor in case.tensors()) > MOST_ELEMENTS:
            return None
        return case if self._definition is None or fits(self._definition, case) else None

    def work(self, case: Case) -> tuple[float, ...]:
        """Return how much work a case is, in one or more measures that only grow with it."""
        if self._definition is None:
            return (float(max(1, case.input_bytes)),)
        nbytes = self._definition.byte_count(case, "forward") or case.input_bytes
        return (float(max(1, nbytes)), float(max(1, self._definition.flops(case))))

    def draw(self, generator: random.Random) -> Point:
        """Return a random point, each size on a scale that is even or logarithmic."""
        sizes = tuple(draw_size(one, generator) for one in self.dimensions)
        return Point(sizes, CONTIGUOUS if generator.random() < 0.8 else generator.choice(self.layouts))


def draw_size(dimension: Dimension, generator: random.Random) -> int:
    """Return a random size, as often on an even scale as on a logarithmic one."""
    if generator.random() < 0.5:
        return generator.randint(dimension.low, dimension.high)
    size = math.exp(generator.uniform(math.log(dimension.low), math.log(dimension.high + 1)))
    return min(dimension.high, max(dimension.low, int(size)))


def read_dimensions(text: str) -> dict[str, tuple[int, int]]:
    """Read `--dims`; raises `InputError` that says which word was not understood.

    >>> read_dimensions("m=1..4096, k=256")
    {'m': (1, 4096), 'k': (256, 256)}
    """
    bounds = {}
    for word in filter(None, (word.strip() for word in text.split(","))):
        name, equals, values = (part.strip() for part in word.partition("="))
        low, dots, high = values.partition("..")
        if not (name and equals and low.isdecimal() and (high if dots else low).isdecimal()):
            raise InputError(f"`--dims`: found `{word}`, expected NAME=LOW..HIGH", hint="write `m=1..4096, k=256`")
        if name in bounds:
            raise InputError(f"`--dims`: `{name}` is there twice", hint="write one range for each dimension")
        bounds[name] = int(low), int(high if dots else low)
        if not 1 <= bounds[name][0] <= bounds[name][1]:
            raise InputError(
                f"`--dims`: `{word}` is not a range of sizes: expected 1 <= LOW <= HIGH",
                hint="write `m=1..4096, k=256`",
            )
    return bounds


def _plain(place: Place) -> str:
    return ".".join(str(part) for part in place if part != "shape")


def _laid_out(case: Case, layout: str) -> Case:
    """Return a case whose tensors of two dimensions or more lie otherwise in memory."""

    def change(tensor: TensorSpec) -> TensorSpec:
        if len(tensor.shape) < 2 or tensor.is_given:
            return tensor
        if layout == TRANSPOSED:
            *outer, rows, columns = tensor.shape
            strides = row_major((*outer, columns, rows))
            return replace(tensor, strides=(*strides[:-2], strides[-1], strides[-2]))
        return replace(tensor, strides=tuple(2 * step for step in row_major(tensor.shape)))

    return replace(case, inputs={name: map_tensors(value, change) for name, value in case.inputs.items()})


def steps(sizes: Sequence[int], low: int, high: int) -> list[int]:
    """Return the sizes that lie within bounds, each once, the smallest first."""
    return sorted({size for size in sizes if low <= size <= high})
