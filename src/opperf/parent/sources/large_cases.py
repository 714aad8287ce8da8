"""Cases whose first input has more elements than 32 bits count: `--size int64`.

One dimension of the operator's small case is made so large, and with it all that follows it, by the constraints that
`random_cases` reads from the operator's size classes. Of several dimensions it is the one that asks for the least
memory.
"""

from __future__ import annotations

import math

from opperf.catalog import Operator
from opperf.domain.case import Case
from opperf.domain.tensor import ITEM_SIZES
from opperf.parent.sources.random_cases import Template, Values, fits

#: The first input has more elements than this.
MOST_32_BIT = (1 << 31) - 1
#: The first of an operator's size classes that are alike: the small one, where it is.
SMALL = 0


def large_case(definition: Operator) -> Case | None:
    """Return the case, None where no single dimension makes the first input so large."""
    template = Template(definition)
    if not list(definition.case("small").tensors()):
        return None
    grown = (_grow(template, values) for values in template.variables)
    fitting = [case for case in grown if case is not None and _indexed(case) and fits(definition, case)]
    return min(fitting, key=lambda case: _elements(definition, case), default=None)


def _grow(template: Template, values: Values) -> Case | None:
    """Return the small case with one variable as large as needed; None where the first input does not follow it."""
    small = {variable: variable[SMALL] for variable in template.variables}

    def case(size: int) -> Case:
        return template.case({**small, values: size}, SMALL)

    start, step = values[SMALL], template.step(values, SMALL)
    variable, doubled = _first(case(start)), _first(case(2 * start))
    if not variable or doubled <= variable:
        return None
    power = math.log2(doubled / variable)
    size = math.ceil(start * (MOST_32_BIT / variable) ** (1 / power) / step) * step
    while _first(case(size)) <= MOST_32_BIT:
        size += step
    return case(size)


def _first(case: Case) -> int:
    return next(case.tensors()).elements


def _elements(definition: Operator, case: Case) -> int:
    """Return how many elements inputs and outputs have."""
    return sum(tensor.elements for tensor in (*case.tensors(), *definition.outputs(case)))


def _indexed(case: Case) -> bool:
    """Whether the case's indices fit their element type."""
    ends = ((tensor.range[1], ITEM_SIZES[tensor.dtype]) for tensor in case.tensors() if tensor.range is not None)
    return all(end <= 1 << (8 * size - 1) for end, size in ends)
