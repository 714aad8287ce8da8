"""From the inputs of MXNet's opperf, a dictionary of shapes and attributes, to the arguments of a call.

    {"lhs": (1024, 1024), "rhs": (1024, 1024), "dtype": "float64", "initializer": nd.normal, "run_backward": False}

A shape becomes an array where the operator takes one: MXNet's registry says so, and for functions that are not in it
the names that the registry knows. Your own arrays are copied, except for `out`. `args`, `args0`, `args1`... go by
position. `initializer` (or `lhs_initializer`) fills arrays instead of opperf's seeded values; `run_backward` and
`dtype` hold for their dictionary alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cache
from typing import Any

import mxnet as mx
import numpy

from opperf.child.backends.mxnet import discovery, registry
from opperf.compat.in_process import InProcess
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.tensor import FLOATS, TensorSpec, parse_dtype

#: Array arguments of NumPy-named functions, of MXNet's Python functions and of losses, besides those in the registry.
ARRAYS = frozenset(
    ["x", "x1", "x2", "a", "b", "m", "v", "y", "arr", "ary", "array", "condition", "pred", "label", "out", "input"]
)
INITIALIZER = "_initializer"


@dataclass(frozen=True)
class CallArguments:
    """The arguments of one call; `differentiable` are the arrays that a gradient may flow to."""

    positional: tuple[Any, ...]
    keywords: Mapping[str, Any]
    differentiable: tuple[Any, ...]


@dataclass(frozen=True)
class Signature:
    """What is known of an operator's arguments: which take arrays, and an example of each where a rule has one.

    `many` is the one that takes any number of arrays.
    """

    arrays: frozenset[str]
    others: frozenset[str]
    examples: Mapping[str, TensorSpec] = field(default_factory=dict)
    many: str | None = None

    @classmethod
    def of(cls, function: Any) -> Signature:
        """Return that of a function: what the registry says of its name, else what Python says."""
        name = registered_name(function)
        if name is None:
            return cls(_array_names(), frozenset(_parameters(function)) - _array_names())
        signature = registry.signature(name)
        cases = discovery.examples(signature.path, "common")
        examples = {own: value for case in cases for own, value in case.inputs.items()}
        specs = {own: value for own, value in examples.items() if isinstance(value, TensorSpec)}
        many = signature.arrays[-1] if signature.many else None
        others = frozenset(own for own, _ in signature.attributes)
        return cls(frozenset(signature.arrays) | {"out"}, others, specs, many)


def default_arrays(function: Callable[..., Any], size: tuple[int, ...]) -> dict[str, Any]:
    """Return the default arrays of a function, each of one size.

    Those that an operator takes only where an attribute asks for them are left out; of any number there are two.
    """
    name = registered_name(function)
    if name is None:
        arrays = {own: one.default for own, one in _parameters(function).items() if own in _array_names() - {"out"}}
        return {own: size for own, default in arrays.items() if default in (None, inspect.Parameter.empty)}
    signature = registry.signature(name)
    if signature.many:
        return {signature.arrays[-1]: [size, size]}
    (case,) = discovery.examples(signature.path, "common") or (None,)
    return {own: size for own in signature.arrays if case is None or own in case.inputs}


def argument_names(function: Callable[..., Any]) -> frozenset[str]:
    """Return the names of a function's arguments."""
    name = registered_name(function)
    if name is None:
        return frozenset(_parameters(function))
    signature = registry.signature(name)
    return frozenset(signature.arrays) | {own for own, _ in signature.attributes} | {"out"}


def registered_name(function: Any) -> str | None:
    """Return the name by which MXNet's registry knows a function; None where Python stands around the operator."""
    name = getattr(function, "__name__", "")
    places = {name: (mx.nd, mx.nd._internal), f"_npx_{name}": (mx.npx,)}
    for module_name, modules in places.items():
        if module_name in registry.names() and any(getattr(one, name, None) is function for one in modules):
            return module_name
    return None


@cache
def _array_names() -> frozenset[str]:
    """Return every name that MXNet's registry has for an array."""
    return ARRAYS.union(*(registry.signature(name).arrays for name in registry.names()))


def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Return the parameters that a call goes by: a decorator's own (`np.matmul` has such), where it names any."""
    try:
        outer, inner = (inspect.signature(function, follow_wrapped=one).parameters for one in (False, True))
    except (TypeError, ValueError):  # what is written in C may tell none
        return {}
    rest = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return inner if all(one.kind in rest for one in outer.values()) else outer


class Maker:
    """Makes the arrays of one dictionary."""

    def __init__(self, here: InProcess, context: Any, dtype: str, arguments_of: Mapping[str, Any]) -> None:
        self._here = here
        self._context = context
        self._dtype = dtype
        self._inputs = arguments_of
        self.differentiable: list[Any] = []

    def array(self, name: str, value: Any, example: TensorSpec | None = None) -> Any:
        """Return the array described by a value: a shape, its elements, or the array itself."""
        if isinstance(value, mx.nd.NDArray):
            # A copy: gradients and updates must not change the script's own arrays.
            return value if name == "out" else self._note(value.as_in_context(self._context).copy(), True)
        if isinstance(value, (list, numpy.ndarray)):
            return self._note(mx.nd.array(value, ctx=self._context, dtype=self._dtype), name != "out")
        initializer = self._inputs.get(f"{name}{INITIALIZER}", self._inputs.get("initializer"))
        if initializer is not None:
            array = _initialize(initializer, value, self._context, self._dtype)
            return self._note(array, name != "out")
        spec = replace(example or TensorSpec(()), shape=tuple(value), dtype=self._dtype)
        return self._note(self._here.tensor(spec, name), spec.requires_grad is not False and name != "out")

    def _note(self, array: Any, differentiable: bool) -> Any:
        if differentiable and numpy.dtype(array.dtype).name in FLOATS:
            self.differentiable.append(array)
        return array


def arguments_of(
    function: Any,
    inputs: Mapping[str, Any],
    here: InProcess,
    context: Any,
    *,
    dtype: str,
    signature: Signature | None = None,
) -> CallArguments:
    """Return the arguments described by a dictionary; raises `InputError`."""
    signature = signature or Signature.of(function)
    own_dtype = inputs.get("dtype") if "dtype" not in signature.others else None
    make = Maker(here, context, _dtype(own_dtype or dtype), inputs)
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    for name, value in inputs.items():
        if _is_said(name, inputs) or (name == "dtype" and own_dtype is not None):
            continue
        if name.startswith("args") or (name == signature.many and isinstance(value, list)):
            several = [value] if is_shape(value) or isinstance(value, mx.nd.NDArray) else value
            positional += [
                make.array(f"{name}[{i}]", one, signature.examples.get(name)) for i, one in enumerate(several)
            ]
        elif isinstance(value, (mx.nd.NDArray, numpy.ndarray)) or (name in signature.arrays and _is_array(name, value)):
            keywords[name] = make.array(name, value, signature.examples.get(name))
        else:
            keywords[name] = value
    # MXNet has no gradient of what writes into arrays that exist, and recording some of it ends the process.
    writes = "out" in keywords or registered_name(function) in registry.CHANGING
    differentiable = () if writes else tuple(make.differentiable)
    return CallArguments(tuple(positional), keywords, differentiable)


def _dtype(value: Any) -> str:
    """Return the name of an element type: a name, or what NumPy takes for a type."""
    return parse_dtype(value if isinstance(value, str) else numpy.dtype(value).name)


def is_shape(value: Any) -> bool:
    """Whether a value is a shape: a tuple of whole numbers."""
    return isinstance(value, tuple) and all(isinstance(size, int) and not isinstance(size, bool) for size in value)


def show(value: Any) -> Any:
    """Return an input as a row shows it: arrays and functions as short texts, which JSON can hold.

    >>> shown({"data": (2, 3), "axis": 0})
    {'data': (2, 3), 'axis': 0}
    """
    if isinstance(value, Mapping):
        return {name: show(one) for name, one in value.items()}
    if isinstance(value, mx.nd.NDArray):
        return f"<NDArray {'x'.join(map(str, value.shape))} @{value.context}>"
    if isinstance(value, numpy.ndarray):
        return value.tolist()
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    return value


def _is_said(name: str, inputs: Mapping[str, Any]) -> bool:
    """Whether a key is not an argument of the operator."""
    return name in ("run_backward", "initializer") or (
        name.endswith(INITIALIZER) and name.removesuffix(INITIALIZER) in inputs
    )


def _is_array(name: str, value: Any) -> bool:
    """Whether the value of an array's argument is to be made into one; a number is passed as it is."""
    if isinstance(value, list) and value and all(isinstance(one, tuple) for one in value):
        raise InputError(
            f"`{name}` is a list of shapes, expected one shape",
            hint="give `inputs` one dictionary for each shape",
            slug="bad_inputs",
        )
    return is_shape(value) or isinstance(value, list)


def _initialize(initializer: Callable[..., Any], shape: tuple[int, ...], context: Any, dtype: str) -> Any:
    """Return the values of an initializer of MXNet; those of random numbers make floats, which are then converted."""
    if dtype in ("float16", "float32", "float64"):
        return initializer(shape=shape, ctx=context, dtype=dtype)
    return initializer(shape=shape, ctx=context, dtype="float32").astype(dtype)
