"""The neutral catalog: every operator that opperf defines, one file per family.

>>> operator("add").category
'elementwise_binary'
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    "serving",
)


class _Catalog(Mapping[str, Operator]):
    """The operators by name. A family is imported when it is looked through, since a child needs few of them."""

    def __getitem__(self, name: str) -> Operator:
        for family in FAMILIES if ":" not in name else ():  # a framework's own operators stand in no family
            if name in (operators := _operators(family)):
                return operators[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (name for family in FAMILIES for name in _operators(family))

    def __len__(self) -> int:
        return sum(len(_operators(family)) for family in FAMILIES)


@cache
def _operators(family: str) -> dict[str, Operator]:
    return {operator.name: operator for operator in import_module(f"opperf.catalog.{family}").OPERATORS}


_CATALOG = _Catalog()


def catalog() -> Mapping[str, Operator]:
    """Return every operator by name, in the order of the families."""
    return _CATALOG


@cache
def _aliases() -> dict[str, str]:
    return {alias: operator.name for operator in catalog().values() for alias in operator.aliases}


def operator(name: str) -> Operator:
    """Return the operator of that name or alias; raises `InputError` with near names."""
    operators = catalog()
    definition = operators.get(name) or operators.get(_aliases().get(name, ""))
    if definition is None:
        raise unknown("operator", name, [*operators, *_aliases()], hint="`opperf operators` lists all of them")
    return definition


def is_known(name: str) -> bool:
    """Whether an operator has that name or alias."""
    return name in catalog() or name in _aliases()


def categories() -> tuple[str, ...]:
    """Return the categories, in the order of the families."""
    return tuple(dict.fromkeys(operator.category for operator in catalog().values()))
