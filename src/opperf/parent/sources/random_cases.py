"""Random cases of an operator, drawn by Hypothesis: other shapes under the constraints of the operator.

The constraints are read from the operator's own size classes. Dimensions that are equal in every class are one
variable (the inner dimension of a product, the channels of a convolution); dimensions that never change are constants
(a kernel); what attributes and ranges of indices say of shapes follows its dimension; other attributes (axis, stride)
are those of one class, drawn too. So a family needs no second declaration, and the operator's own formulas refuse what
does not fit (a kernel larger than its input).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias

from opperf.catalog import SIZES, Operator
from opperf.domain.case import Argument, Case, ListOf, map_tensors
from opperf.domain.errors import InputError
from opperf.domain.tensor import ITEM_SIZES, TensorSpec, full_range, is_whole, positive_range

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


#: The most elements of a case, over all inputs.
MOST_ELEMENTS = 4_000_000
#: The steps of the logarithmic scale, from the smallest to the largest class, on which sizes are drawn.
STEPS = 240
#: Examples that are looked at for each case that is wanted, and some more, before fewer are accepted.
PATIENCE, EXTRA = 4, 40
#: Dimensions whose product an attribute may be, as in a flattened shape.
MOST_FACTORS = 3

#: Where a whole number stands in the arguments: the argument's name, then what leads to the number within it.
Place: TypeAlias = tuple[Any, ...]
#: The values of one place in each size class.
Values: TypeAlias = tuple[int, ...]


class Template:
    """The shape of an operator's cases: constants, variables, and what follows from them."""

    def __init__(self, definition: Operator) -> None:
        self._definition = definition
        common = definition.case("common")
        self._base = common
        shape = {place: None for place, _ in numbers(common)}
        cases = [definition.case(size) for size in SIZES if size in definition.sizes]
        self._alike = [case for case in cases if dict.fromkeys(place for place, _ in numbers(case)) == shape]
        self._places = {place: tuple(dict(numbers(case))[place] for case in self._alike) for place in shape}

    @cached_property
    def variables(self) -> tuple[Values, ...]:
        """The dimensions that vary and are no fixed multiple of another, each once, by their values in the classes."""
        varying = dict.fromkeys(
            values
            for place, values in self._places.items()
            if is_dimension(place) and _varies(values) and 1 not in values
        )
        return tuple(values for values in varying if not any(_multiple(values, other) for other in varying))

    def size_for(self, values: Values, place: int, size_class: int) -> int:
        """Return the size of a variable at a step of the logarithmic scale, with the options of one class."""
        low, high = min(values), max(values)
        size: float = low * (high / low) ** (place / STEPS)
        step = self.step(values, size_class)
        return max(math.ceil(low / step), round(size / step)) * step

    def step(self, values: Values, size_class: int) -> int:
        """Return the step between sizes: a multiple of attributes (groups, heads) that divide them in each class."""
        attributes = (sizes for place, sizes in self._places.items() if not is_dimension(place))
        dividing = [sizes for sizes in attributes if all(n > 1 and size % n == 0 for size, n in zip(values, sizes))]
        return math.lcm(*(sizes[size_class] for sizes in dividing))

    @property
    def classes(self) -> int:
        """How many size classes the template is made from."""
        return len(self._alike)

    @property
    def common(self) -> int:
        """The place of the common size class among them."""
        return self._alike.index(self._base)

    def values(self, place: Place) -> Values:
        """Return the numbers at a place, one for each size class."""
        return self._places[place]

    def case(self, sizes: Mapping[Values, int], size_class: int) -> Case:
        """Return the case with these sizes of its variables, and the options of one class."""
        return with_numbers(
            self._base,
            {place: self._number(place, values, sizes, size_class) for place, values in self._places.items()},
        )

    def with_shape(self, shape: tuple[int, ...]) -> Case | None:
        """Return the common case with every input in one shape, and what follows from that; None where none may be."""
        sizes: dict[Values, int] = {}
        for place, values in self._places.items():
            if place[0] in self._definition.inputs and is_dimension(place) and place[-1] < len(shape):
                sizes.setdefault(values, shape[place[-1]])
        case = self.case(sizes, self.common)
        if {tensor.shape for tensor in case.tensors()} == {shape}:
            return case
        return self._reshape(shape)

    def _reshape(self, shape: tuple[int, ...]) -> Case | None:
        """Return the common case with every input in a shape, where all are alike in every class and none has indices.

        What is computed element by element takes any number of dimensions.
        """
        alike = all(len({tensor.shape for tensor in case.tensors()}) == 1 for case in self._alike)
        if not alike or any(place[-1] == "range" and _varies(values) for place, values in self._places.items()):
            return None

        def change(tensor: TensorSpec) -> TensorSpec:
            return replace(tensor, shape=shape, strides=None)

        try:
            inputs = {name: map_tensors(value, change) for name, value in self._base.inputs.items()}
        except InputError:  # as of positive definite matrices that are not square
            return None
        return replace(self._base, inputs=inputs)

    def _number(self, place: Place, values: Values, sizes: Mapping[Values, int], size_class: int) -> int:
        """Return the number at a place: see `_follow`; what follows nothing is an option of the class."""
        if not _varies(values):
            return values[0]
        if values in sizes:
            return sizes[values]
        if is_dimension(place):
            factors = ((_multiple(values, variable), size) for variable, size in sizes.items())
            product = next((factor * size for factor, size in factors if factor), None)
            # Otherwise it is 1 in some class: broadcast, or equal to a dimension that is 1 there.
            alike = (size for variable, size in sizes.items() if variable[size_class] == values[size_class] != 1)
            return product or next(alike, values[size_class])
        return _follow(values, sizes) or values[size_class]


def _multiple(values: Values, of: Values) -> int | None:
    """Return the integer above one that multiplies one place's values to another's, or None."""
    factors = {Fraction(value, number) for value, number in zip(values, of)}
    factor = factors.pop()
    return int(factor) if not factors and factor.denominator == 1 and factor > 1 else None


def _follow(values: Values, sizes: Mapping[Values, int]) -> int | None:
    """Return an attribute by the dimensions that it follows: a share of one, or a product of some; None for none."""
    for variable, size in sizes.items():
        shares = {Fraction(value, dimension) for value, dimension in zip(values, variable)}
        if len(shares) == 1:
            return math.floor(shares.pop() * size)
    for count in range(2, MOST_FACTORS + 1):
        for factors in combinations(sizes, count):
            if all(value == math.prod(parts) for value, *parts in zip(values, *factors)):
                return math.prod(sizes[factor] for factor in factors)
    return None


def cases(definition: Operator, most_elements: int = MOST_ELEMENTS) -> SearchStrategy[Case]:
    """Return a strategy of an operator's cases; `most_elements` bounds the elements of all inputs together."""
    from hypothesis import strategies as st

    template = Template(definition)
    places = st.tuples(*(st.integers(0, STEPS) for _ in template.variables))

    def case_at(draw: tuple[Sequence[int], int]) -> Case:
        size_class = draw[1]
        sizes = {
            values: template.size_for(values, place, size_class) for values, place in zip(template.variables, draw[0])
        }
        return template.case(sizes, size_class)

    return (
        st.tuples(places, st.integers(0, template.classes - 1))
        .map(case_at)
        .filter(
            lambda case: sum(tensor.elements for tensor in case.tensors()) <= most_elements and fits(definition, case)
        )
    )


class _Enough(Exception):
    """There are as many cases as were asked for: what ends Hypothesis's search is an example that fails."""


def random_cases(definition: Operator, count: int, seed: int) -> list[Case]:
    """Return that many different cases, the same for a seed on any machine; fewer where there are no more."""
    from hypothesis import HealthCheck, Phase, settings
    from hypothesis import given as for_each
    from hypothesis import seed as seeded

    by_id: dict[str, Case] = {}

    @seeded(seed)
    @settings(
        max_examples=PATIENCE * count + EXTRA, database=None, deadline=None, phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck), report_multiple_bugs=False,
    )  # fmt: skip
    @for_each(cases(definition))
    def collect(case: Case) -> None:
        by_id.setdefault(case.id, case)
        if len(by_id) == count:
            raise _Enough

    with suppress(_Enough):
        collect()
    return list(by_id.values())


def fits(definition: Operator, case: Case) -> bool:
    """Whether the operator's own formulas accept the case, and no range of its values ends before it begins."""
    if any(tensor.range is not None and tensor.range[0] >= tensor.range[1] for tensor in case.tensors()):
        return False
    try:
        definition.outputs(case)
    except (InputError, LookupError, ValueError, ArithmeticError):
        return False
    return True


def _varies(values: Values) -> bool:
    return len(set(values)) > 1


def is_dimension(place: Place) -> bool:
    """Whether a place is in a shape."""
    return "shape" in place[1:]  # the first is the name of the argument, which may be `shape` too


def numbers(case: Case) -> Iterator[tuple[Place, int]]:
    """Yield every whole number of a case that may depend on its size, with its place."""
    for name, argument in {**case.inputs, **case.attributes}.items():
        yield from _numbers_in(argument, (name,))


def _numbers_in(argument: Argument, place: Place) -> Iterator[tuple[Place, int]]:
    if isinstance(argument, TensorSpec):
        yield from (((*place, "shape", i), size) for i, size in enumerate(argument.shape))
        if _is_bounded(argument):
            yield (*place, "range"), int(argument.range[1] if argument.range else 0)
    elif isinstance(argument, ListOf):
        for i, item in enumerate(argument.items):
            yield from _numbers_in(item, (*place, i))
    elif isinstance(argument, tuple):
        for i, item in enumerate(argument):
            yield from _numbers_in(item, (*place, i))
    elif isinstance(argument, int) and not isinstance(argument, bool):
        yield place, argument


def _is_bounded(tensor: TensorSpec) -> bool:
    """Whether whole numbers lie between bounds that may follow a size, as indices do: those of a type never do."""
    if tensor.range is None or not is_whole(tensor.dtype):
        return False
    return tensor.range not in (full_range(tensor.dtype), positive_range(tensor.dtype))


def with_numbers(case: Case, numbers: Mapping[Place, int]) -> Case:
    """Return a case with its whole numbers put in, one for each place that `numbers` yields."""
    return replace(
        case,
        inputs={name: _put(value, (name,), numbers) for name, value in case.inputs.items()},
        attributes={name: _put(value, (name,), numbers) for name, value in case.attributes.items()},
    )


def _put(argument: Argument, place: Place, numbers: Mapping[Place, int]) -> Argument:
    """Return an argument with its numbers put in."""
    if isinstance(argument, TensorSpec):
        places = [(*place, "shape", i) for i in range(len(argument.shape))]
        bounds = argument.range
        if bounds is not None and _is_bounded(argument):
            end = (*place, "range")
            bounds = (bounds[0], float(numbers[end]))
        return replace(argument, shape=tuple(numbers[dimension] for dimension in places), range=bounds)
    if isinstance(argument, ListOf):
        return ListOf(tuple(_put(item, (*place, i), numbers) for i, item in enumerate(argument.items)))
    if isinstance(argument, tuple):
        return tuple(_put(item, (*place, i), numbers) for i, item in enumerate(argument))
    return numbers.get(place, argument)


#: The first input has more elements than this.
MOST_32_BIT = (1 << 31) - 1
#: The first of an operator's size classes that are alike: the small one, where it is.
SMALL = 0


def large_case(definition: Operator) -> Case | None:
    """Return a case whose first input has more elements than 32 bits count; None where no single dimension does that.

    One dimension of the operator's small case is made so large, and with it all that follows it. Of several dimensions
    it is the one that asks for the least memory.
    """
    template = Template(definition)
    if not list(definition.case("small").tensors()):
        return None
    growth = (_grow(template, values) for values in template.variables)
    fitting = [case for case in growth if case is not None and _indices_fit(case) and fits(definition, case)]
    return min(fitting, key=lambda case: _elements(definition, case), default=None)


def _grow(template: Template, values: Values) -> Case | None:
    """Return the small case with one variable as large as needed; None where the first input does not follow it."""
    small = {variable: variable[SMALL] for variable in template.variables}

    def case(size: int) -> Case:
        return template.case({**small, values: size}, SMALL)

    start, step = values[SMALL], template.step(values, SMALL)
    variable, twice = _first(case(start)), _first(case(2 * start))
    if not variable or twice <= variable:
        return None
    power = math.log2(twice / variable)
    size = math.ceil(start * (MOST_32_BIT / variable) ** (1 / power) / step) * step
    while _first(case(size)) <= MOST_32_BIT:
        size += step
    return case(size)


def _first(case: Case) -> int:
    return next(case.tensors()).elements


def _elements(definition: Operator, case: Case) -> int:
    """Return how many elements inputs and outputs have."""
    return sum(tensor.elements for tensor in (*case.tensors(), *definition.outputs(case)))


def _indices_fit(case: Case) -> bool:
    """Whether the case's indices fit their element type."""
    ends = ((tensor.range[1], ITEM_SIZES[tensor.dtype]) for tensor in case.tensors() if tensor.range is not None)
    return all(end <= 1 << (8 * size - 1) for end, size in ends)
