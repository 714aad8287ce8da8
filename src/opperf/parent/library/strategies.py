"""Hypothesis strategies of operators' cases, for tests of your own operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opperf.catalog import operator
from opperf.parent.sources.random_cases import MOST_ELEMENTS
from opperf.parent.sources.random_cases import cases as cases_of

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from opperf.domain.case import Case


def cases(name: str, most_elements: int = MOST_ELEMENTS) -> SearchStrategy[Case]:
    """Return a strategy of valid cases of a neutral operator, other shapes each.

    `most_elements` bounds the elements of all inputs together. Raises `InputError` for an unknown name.

    >>> from hypothesis import find
    >>> found = find(cases("matmul"), lambda case: case.tensor("lhs").shape[0] > 1000)
    >>> found.tensor("lhs").shape[1] == found.tensor("rhs").shape[0]
    True
    """
    return cases_of(operator(name), most_elements)
