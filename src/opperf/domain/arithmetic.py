"""Arithmetic in data: expressions of numbers and names, computed without running any code."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

#: Beyond it a number is no size of anything, and takes long to compute.
MOST = 1 << 62
_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class NoNumber(ValueError):
    """An expression that is more than arithmetic, or has no result."""


def compute(text: str, values: Mapping[str, int]) -> int | float | bool:
    """Return the value of an expression in names; raises `NoNumber`.

    >>> compute("b * (s + 1) // 2", {"b": 4, "s": 7}), compute("h == k * 4", {"h": 8, "k": 2})
    (16, True)
    """
    try:
        return evaluate(ast.parse(text.strip(), mode="eval").body, values)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise NoNumber(str(error)) from error


def evaluate(node: ast.expr, values: Mapping[str, int]) -> int | float | bool:
    """Return the value of an expression that is parsed; raises `NoNumber`."""
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            return value
        case ast.Name(id=name) if name in values:
            return values[name]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=inner):
            value = evaluate(inner, values)
            return -value if isinstance(sign, ast.USub) else value
        case ast.BinOp(left=left, op=how, right=right) if type(how) in _BINARY:
            return _combine(type(how), evaluate(left, values), evaluate(right, values))
        case ast.Compare(left=first, ops=ops, comparators=others) if all(type(one) in _COMPARISONS for one in ops):
            row = [evaluate(one, values) for one in (first, *others)]
            return all(_COMPARISONS[type(how)](a, b) for how, a, b in zip(ops, row, row[1:]))
        case ast.BoolOp(op=how, values=parts):
            truths = [bool(evaluate(one, values)) for one in parts]
            return all(truths) if isinstance(how, ast.And) else any(truths)
    raise NoNumber(f"`{ast.unparse(node)[:80]}` is no arithmetic of known names")


def _combine(how: type[ast.operator], left: float, right: float) -> int | float:
    if how is ast.Pow and (abs(left) > 1 << 16 or abs(right) > 62):
        raise NoNumber("a power is too large")
    try:
        result: int | float = _BINARY[how](left, right)
    except (ArithmeticError, TypeError) as error:
        raise NoNumber(str(error)) from error
    if isinstance(result, complex) or abs(result) > MOST:
        raise NoNumber("the result is too large")
    return result
