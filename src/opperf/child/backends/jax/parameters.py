"""Parameters of JAX's primitives as arguments of a case, and back.

Numbers, tuples and element types stand for themselves. What else occurs is written as Python would make it:

    Precision.HIGHEST
    GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), ...)
    Primitive('ge')             one primitive that another is given
    Jaxpr('add')                a function of two numbers: what a scatter does where places meet
    PRNGImpl('threefry2x32')    how random numbers are made

Nothing of it is evaluated: names are looked up among JAX's own words, and what they hold are literals.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import Jaxpr, Primitive

from opperf.child.backends.jax.equations import is_own, primitives, words
from opperf.domain.backend import Unsupported
from opperf.domain.case import Argument, DType, ListOf
from opperf.domain.tensor import ITEM_SIZES

#: Functions of two numbers that primitives are given, by the primitive that each of them is.
COMBINING: Mapping[str, Callable[..., Any]] = {
    "add": jax.lax.add,
    "sub": jax.lax.sub,
    "mul": jax.lax.mul,
    "min": jax.lax.min,
    "max": jax.lax.max,
}


def encoded(value: Any) -> Argument:
    """Return a parameter as an argument; raises `Unsupported` for one that no case holds."""
    if value is None or type(value) in (bool, int, float, str):
        return value  # type: ignore[no-any-return]
    if isinstance(value, np.generic):
        return encoded(value.item())
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return DType(_element_type(value))
    if _is_one_device(value):
        return None  # the one that is measured on
    if type(value) is tuple:
        return tuple(map(encoded, value))
    if type(value) is list:
        return ListOf(tuple(map(encoded, value)))
    written = _write(value)
    if written is None:
        raise Unsupported(f"a parameter that is {type(value).__name__}")
    return written


def _is_one_device(value: Any) -> bool:
    """Whether a value names a device, or says that an array is on one as a whole."""
    if isinstance(value, jax.sharding.NamedSharding):
        return bool(value.mesh.empty)
    return isinstance(value, (jax.Device, jax.sharding.SingleDeviceSharding))


def _element_type(value: Any) -> str:
    name = str(np.dtype(value).name)
    if name not in ITEM_SIZES:
        raise Unsupported(f"elements of {name}")
    return name


def _write(value: Any) -> str | None:
    """Return how a value is written that is one of JAX's words; None for another."""
    kind = type(value)
    if isinstance(value, Primitive) and is_own(value):
        return f"Primitive({value.name!r})"
    if isinstance(value, Jaxpr):
        return f"Jaxpr({_operation(value)!r})"
    if kind.__name__ == "PRNGImpl":
        return f"PRNGImpl({value.name!r})"
    if words().get(kind.__name__) is not kind:
        return None
    if isinstance(value, enum.Enum):
        return f"{kind.__name__}.{value.name}"
    return f"{kind.__name__}({', '.join(f'{name}={_literal(getattr(value, name))}' for name in value._fields)})"


def _literal(value: Any) -> str:
    """Return how a field of a named tuple is written; raises `Unsupported` for what is no literal."""
    text = repr(encoded(value))
    try:
        if ast.literal_eval(text) == value:
            return text
    except (ValueError, SyntaxError):
        pass
    raise Unsupported(f"a parameter that holds {type(value).__name__}")


def _operation(function: Jaxpr) -> str:
    """Return the primitive that a function of two numbers is; raises `Unsupported` for another."""
    if len(function.eqns) == 1:
        (only,) = function.eqns
        whole = [*only.invars, *only.outvars] == [*function.invars, *function.outvars]
        if whole and only.primitive.name in COMBINING:
            return str(only.primitive.name)
    raise Unsupported("a parameter that is a function")


def decoded(value: Any, operands: Sequence[Any]) -> Any:
    """Return a parameter as a primitive takes it; a function of two numbers is made for those of the first operand."""
    if isinstance(value, tuple):
        return tuple(decoded(item, operands) for item in value)
    if not isinstance(value, str):
        return value
    kind, _, name = value.partition(".")
    word = words().get(kind)
    if word is not None and issubclass(word, enum.Enum) and name in word.__members__:
        return word[name]
    try:
        call = ast.parse(value, mode="eval").body
    except SyntaxError:
        return value
    return _construct(call, operands) if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else value


def _construct(call: ast.Call, operands: Sequence[Any]) -> Any:
    """Return what a word makes of literals; raises `LookupError` for a word that JAX does not have."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    arguments = [ast.literal_eval(argument) for argument in call.args]
    if name == "Primitive":
        return primitives()[arguments[0]]
    if name == "Jaxpr":
        number = jax.ShapeDtypeStruct((), operands[0].dtype)
        return jax.make_jaxpr(COMBINING[arguments[0]])(number, number).jaxpr
    if name == "PRNGImpl":
        return jax.eval_shape(lambda: jax.random.key(0, impl=arguments[0])).dtype._impl
    return words()[name](*arguments, **{str(one.arg): ast.literal_eval(one.value) for one in call.keywords})
