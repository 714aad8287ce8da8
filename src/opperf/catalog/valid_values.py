"""Gives the arguments of a case values that its operator is defined for, by the rows of `domain_table.py`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import TypeAlias

from opperf.catalog.domain import Domain, IndexList, Levels, is_open
from opperf.catalog.domain_table import ROWS, Row
from opperf.domain.case import Argument, Case, ListOf, map_tensors
from opperf.domain.code import is_code
from opperf.domain.registry import split_implementation
from opperf.domain.tensor import SPARSE, TensorSpec, full_range, is_whole

#: How names of functions begin that have other parameters, or parameters in another order, than the operator.
FUNCTIONAL = "functional."
#: Distributions that lie between bounds.
DRAWN = ("uniform", "normal", "sorted", "reversed")
#: The bounds of whole numbers that are places or counts of one knows not what, and how those are called.
SMALL = (0.0, 10.0)
_PLACE = re.compile(
    r"(^|_)(index|indices|idx|ids?|offsets?|lengths?|labels?|targets?|perm|permute|permutation|segments?|repeats|counts?"
    r"|shapes?|sizes?|axis|axes|dims?|positions?|pivots|zero_points?|num|strides?|splits?)(\d*$|_)"
)
#: What frameworks put before the name of an operator that computes the same.
PREFIXES = ("_foreach_", "special_", "linalg_", "_npi_", "_npx_", "_np_", "broadcast_", "elemwise_", "_contrib_")


_By: TypeAlias = Mapping[str, tuple[Row, ...]]


@cache
def _rows() -> _By:
    names = dict.fromkeys(name for row in ROWS for name in row.operators)
    return {name: tuple(row for row in ROWS if name in row.operators) for name in names}


def base_name(operator: str) -> str:
    """Return the name that the spellings of an operator share.

    >>> [base_name(name) for name in ("torch:aten::_foreach_sqrt_.default", "mxnet:nd.log", "onnxruntime:Acosh")]
    ['sqrt', 'log', 'acosh']
    >>> base_name("torch:torch.nn.functional.embedding"), base_name("torch:aten::linalg_cholesky")
    ('functional.embedding', 'cholesky')
    """
    path = split_implementation(operator)[1]
    name = path.rpartition("::")[2].partition(".")[0] if "::" in path else path.rpartition(".")[2]
    name = name.lower()
    for prefix in PREFIXES:
        name = name.removeprefix(prefix)
    name = name.strip("_")
    identity = f"{FUNCTIONAL}{name}"
    return identity if FUNCTIONAL in path and identity in _rows() else name


def restrict(case: Case) -> Case:
    """Return a case each of whose arguments holds values that the operator is defined for, as far as the table knows.

    Whole numbers of which neither the case nor the table says anything get the bounds of their type: a handful of
    values would make sorting, hashing and branches faster than they are, and no table would say so.

    >>> restrict(Case("torch:aten::sqrt", {"self": TensorSpec((2,))})).inputs["self"].range
    (0.1, 2.0)
    >>> restrict(Case("torch:aten::pow", {"self": TensorSpec((2,))}, {"exponent": 2})).inputs["self"].range is None
    True
    """
    rows = () if is_code(case.operator) else _rows().get(base_name(case.operator), ())
    for row in rows:
        name = row.argument.name(case)
        if name is not None:
            values = {name: _draw(row.domain, case[name], case)}
            if name in case.inputs:
                case = replace(case, inputs={**case.inputs, **values})
            else:
                case = replace(case, attributes={**case.attributes, **values})
    is_native = is_code(case.operator) or split_implementation(case.operator)[0] is None
    return replace(
        case,
        inputs={name: _say_bounds(value, name, is_native) for name, value in case.inputs.items()},
        attributes={name: _say_bounds(value, name, is_native) for name, value in case.attributes.items()},
    )


def _say_bounds(value: Argument, name: str, is_native: bool) -> Argument:
    """Return an argument whose whole numbers are drawn from bounds with those of their type, where it has none.

    What a framework's operator calls an index or a count, and no row knows the extent of, stays small.
    """

    def change(tensor: TensorSpec) -> TensorSpec:
        bounded = tensor.values in DRAWN or tensor.values.startswith(SPARSE)
        if not (bounded and is_whole(tensor.dtype) and tensor.range is None and tensor.elements):
            return tensor
        small = not is_native and _PLACE.search(name.lower())
        return replace(tensor, range=SMALL if small else full_range(tensor.dtype))

    return map_tensors(value, change)


def unbounded(case: Case) -> tuple[str, ...]:
    """Return the inputs whose integers are all of their type.

    >>> unbounded(restrict(Case("mine:pick", {"data": TensorSpec((2,)), "places": TensorSpec((2,), "int64")})))
    ('places',)
    """

    def is_wide(tensor: TensorSpec) -> bool:
        return is_whole(tensor.dtype) and tensor.range == full_range(tensor.dtype)

    return tuple(name for name in case.inputs if any(map(is_wide, case.tensors([name]))))


def _draw(domain: Domain | IndexList | Levels, argument: Argument, case: Case) -> Argument:
    if isinstance(domain, (IndexList, Levels)):
        if not isinstance(argument, ListOf):
            return argument
        pairs = zip(argument.items, domain.each(case))
        return ListOf(tuple(_draw(each, item, case) for item, each in pairs))

    def change(tensor: TensorSpec) -> TensorSpec:
        return domain.draw(tensor, case) if is_open(tensor) else tensor

    return map_tensors(argument, change)
