"""Which primitives a function runs: those that it calls by itself, and those of the programs that it calls.

The function runs, and what is called outside of every program is seen before it is computed (`calls.py`): so it may
read its arrays, wait for them, and keep a state outside of itself. Of a compiled function that is one primitive, whose
program holds what XLA is given before it fuses. What is known of operands is kept: bounds, and numbers that stand
alone. Places that a program computes lie within the array that they are places of.

A JAX that does not tell of such calls traces the function as a whole, whose values are not there while it runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from opperf.child.backends.common.values import bounds
from opperf.child.backends.jax import calls
from opperf.child.backends.jax.equations import Equation, equations, equations_of, is_own
from opperf.child.backends.jax.functions import KEYS, PREFIX, encode_parameter
from opperf.child.backends.jax.places import limits
from opperf.domain.backend import Unsupported
from opperf.domain.call import AbstractCapture, CapturedCall
from opperf.domain.case import Argument, Case
from opperf.domain.tensor import ITEM_SIZES, TensorSpec

#: What tracing raises where a function asks for a value. It waits for one as for an attribute, which is missing.
VALUE_ERRORS = (
    jax.errors.ConcretizationTypeError,
    jax.errors.NonConcreteBooleanIndexError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
    AttributeError,
)


def of_call(function: Callable[[], Any]) -> list[CapturedCall]:
    """Call a function and return every primitive that it runs, in forward and backward, in order."""
    if calls.CAN_WATCH:
        captured: list[CapturedCall] = []
        # At once: what a call is given may be gone when it returns.
        calls.watch(function, lambda one: captured.extend(map(capture_equation, equations_of(one))))
        return captured
    return [capture_equation(equation) for equation in equations(trace(function))]


def trace(function: Callable[[], Any]) -> Any:
    """Return the program of a function that takes nothing; raises `Unsupported` for one that asks for values."""

    def arrays() -> list[Any]:
        return [leaf for leaf in jax.tree_util.tree_leaves(function()) if isinstance(leaf, jax.Array)]

    try:
        return jax.make_jaxpr(arrays)()
    except VALUE_ERRORS as error:
        raise Unsupported(
            f"it reads an array or waits for one, which tracing does not allow: {str(error).partition(chr(10))[0]}",
            slug="no_capture",
            hint="return the array, and read it outside the function",
        ) from error


def of_shapes(load: Callable[[], Callable[[], Any]]) -> AbstractCapture:
    """Load a function and return every primitive of its second call, by shapes alone.

    The user's code is loaded and called while JAX traces, which computes nothing: its arrays are those of a program
    that is never run. Raises `Unsupported` for code that asks for values.
    """
    captured: list[CapturedCall] = []

    def whole() -> list[Any]:
        function = load()
        function()
        captured.extend(map(capture_equation, equations(trace(function))))
        return []

    trace(whole)
    return AbstractCapture(captured)


def capture_equation(equation: Equation) -> CapturedCall:
    """Return an equation as a case of its primitive, or why there is none."""
    name, place = str(equation.own.primitive.name), equation.place
    case, why = None, ""
    try:
        case = _case(name, equation)
    except Unsupported as error:
        why = str(error)
    return CapturedCall(name, case, why, ".".join(place.scopes), backward=place.backward, count=place.count)


def _case(name: str, equation: Equation) -> Case:
    if not is_own(equation.own.primitive):
        raise Unsupported("a primitive from outside JAX")
    kinds = [_aval(operand) for operand in equation.own.invars]
    bounds = limits(name, [kind.shape for kind in kinds], equation.own.params)
    inputs: dict[str, Argument] = {
        f"operand{i}": _spec(kind, None if isinstance(value, jax.core.Tracer) else value, bounds.get(i))
        for i, (kind, value) in enumerate(zip(kinds, equation.values))
    }
    attributes = {own: encode_parameter(value) for own, value in equation.own.params.items()}
    if any(map(_is_key, kinds)):
        attributes[KEYS] = tuple(kind.dtype._impl.name if _is_key(kind) else None for kind in kinds)
    return Case(f"jax:{PREFIX}{name}", inputs, attributes)


def _aval(operand: Any) -> Any:
    if not isinstance(operand.aval, jax.core.ShapedArray):
        raise Unsupported(f"an operand that is {type(operand.aval).__name__}")
    return operand.aval


def _is_key(kind: Any) -> bool:
    return bool(jax.dtypes.issubdtype(kind.dtype, jax.dtypes.prng_key))


def _spec(kind: Any, value: Any, limit: int | None) -> TensorSpec:
    """Return the description of an operand: a number that is known, else what is known of its values."""
    if _is_key(kind):
        below = jax.eval_shape(jax.random.key_data, jax.ShapeDtypeStruct(kind.shape, kind.dtype))
        return TensorSpec(tuple(below.shape), str(below.dtype))
    dtype, shape = str(kind.dtype), tuple(kind.shape)
    if dtype not in ITEM_SIZES:
        raise Unsupported(f"an array of {dtype}")
    if value is None:
        whole = jax.numpy.issubdtype(kind.dtype, jax.numpy.integer)
        return TensorSpec(shape, dtype, range=(0, limit) if limit is not None and whole else None)
    if shape == () and np.shape(value) == () and not dtype.startswith("complex"):
        return TensorSpec(shape, dtype, literal=(np.asarray(value).item(),))
    return TensorSpec(shape, dtype, range=bounds(np.asarray(value)))
