"""The neutral catalog: every operator that opperf defines, one file per family.

>>> operator("add").category
'elementwise_binary'
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from opperf.catalog.definition import DIRECTIONS, INT64, SIZES, Operator
from opperf.domain.errors import unknown

__all__ = ["DIRECTIONS", "FAMILIES", "INT64", "SIZES", "Operator", "catalog", "categories", "is_known", "operator"]

#: The files of this folder that declare operators, each of a few categories; `child/backends/<framework>/operators/`
#: has the same names. What a large family declares elsewhere, it takes in: `convolution` has that of `pooling`.
FAMILIES = (
    "elementwise",
    "reduction",
    "linalg",
    "convolution",
    "normalization",
    "activation",
    "attention",
    "recurrent",
    "shape",
    "indexing",
    "creation",
    "training",
    "image",
    "storage",
)


@cache
def catalog() -> dict[str, Operator]:
    """Return every operator by name, in the order of the families."""
    operators: dict[str, Operator] = {}
    for family in FAMILIES:
        for operator in import_module(f"opperf.catalog.{family}").OPERATORS:
            if operator.name in operators:
                raise ValueError(f"operator `{operator.name}` is declared twice")
            operators[operator.name] = operator
    return operators


@cache
def _aliases() -> dict[str, str]:
    return {alias: operator.name for operator in catalog().values() for alias in operator.aliases}


def operator(name: str) -> Operator:
    """Return the operator of that name or alias; raises `InputError` with near names."""
    names = catalog()
    canonical = _aliases().get(name, name)
    if canonical not in names:
        raise unknown("operator", name, [*names, *_aliases()], hint="`opperf operators` lists all of them")
    return names[canonical]


def is_known(name: str) -> bool:
    """Whether an operator has that name or alias."""
    return name in catalog() or name in _aliases()


def categories() -> tuple[str, ...]:
    """Return the categories, in the order of the families."""
    return tuple(dict.fromkeys(operator.category for operator in catalog().values()))
