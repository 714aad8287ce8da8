"""Compiled mode: what `HybridBlock.hybridize(static_alloc=True, static_shape=True)` runs, without the block around it.

The operator's symbolic form becomes a CachedOp. A Gluon block adds its own Python (hooks, flattening) to every call of
that; here only the cached graph is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any

import mxnet as mx

from opperf.child.backends.mxnet import blocks
from opperf.child.backends.mxnet.spelling import Composition
from opperf.child.backends.mxnet.target import Target
from opperf.domain.backend import Unsupported
from opperf.domain.measurement import compile_time

FLAGS = (("static_alloc", True), ("static_shape", True))
#: Modules with eager functions, and those with the symbolic ones of the same names.
FACES = (
    ("nd", "sym"),
    ("nd.contrib", "sym.contrib"),
    ("nd.linalg", "sym.linalg"),
    ("nd.random", "sym.random"),
    ("nd.sparse", "sym.sparse"),
    ("nd.image", "sym.image"),
    ("nd._internal", "sym._internal"),
    ("np", "sym.np"),
    ("np.random", "sym.np.random"),
    ("np.linalg", "sym.np.linalg"),
    ("npx", "sym.npx"),
)
#: Eager functions that choose between an array and a number, and the operator for two arrays.
TWO_ARRAYS = {
    "add": "broadcast_add",
    "subtract": "broadcast_sub",
    "multiply": "broadcast_mul",
    "divide": "broadcast_div",
    "true_divide": "broadcast_div",
    "modulo": "broadcast_mod",
    "equal": "broadcast_equal",
    "not_equal": "broadcast_not_equal",
    "greater": "broadcast_greater",
    "greater_equal": "broadcast_greater_equal",
    "lesser": "broadcast_lesser",
    "lesser_equal": "broadcast_lesser_equal",
}


def compiled(target: Target) -> Target:
    """Return a target that calls the cached graph of this one; raises `Unsupported` where there is no symbolic form."""
    start = perf_counter()
    arrays: list[Any] = []

    def variable(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(variable(item) for item in value)
        if not isinstance(value, mx.nd.NDArray):
            return value
        arrays.append(value)
        symbol = mx.sym.var(f"input_{len(arrays)}", stype=value.stype)
        return symbol.as_np_ndarray() if target.numpy else symbol

    arguments = [variable(value) for value in target.arguments]
    if any(isinstance(value, mx.nd.NDArray) for value in target.keywords.values()):
        raise Unsupported("the compiled mode of MXNet does not write into its inputs", slug="no_compiled_form")
    if not arrays:
        raise Unsupported("the compiled mode of MXNet needs an input tensor", slug="no_compiled_form")
    try:
        graph = _symbolic(target.function)(*arguments, **target.keywords)
    except (TypeError, AttributeError, NotImplementedError) as error:
        raise Unsupported(f"MXNet cannot compile this: {error}", slug="no_compiled_form") from error
    if isinstance(graph, (list, tuple)):
        graph = mx.sym.Group(list(_flat(graph)))
    by_name = {f"input_{i}": array for i, array in enumerate(arrays, 1)}
    if isinstance(target.function, mx.gluon.HybridBlock):
        by_name |= blocks.parameters(target.function)
    try:
        call = mx.nd.CachedOp(graph, FLAGS)
    except mx.MXNetError as error:  # an operator that has no gradient, as `histogram`, makes no graph
        reason = str(error).strip().splitlines()[-1]
        raise Unsupported(f"MXNet cannot compile this: {reason}", slug="no_compiled_form") from error
    inputs = tuple(by_name[name] for name in graph.list_inputs())
    call(*inputs)
    mx.nd.waitall()
    return replace(target, function=call, arguments=inputs, keywords={}, metrics=compile_time(perf_counter() - start))


def _flat(results: Any) -> Iterator[Any]:
    """Yield the results of a call, those in lists of states too."""
    for result in results:
        yield from _flat(result) if isinstance(result, (list, tuple)) else (result,)


def _symbolic(function: Any) -> Callable[..., Any]:
    if isinstance(function, Composition):
        composition = function.function
        return lambda *arguments, **keywords: composition(mx.sym, *arguments, **keywords)
    if isinstance(function, mx.gluon.HybridBlock):  # it takes symbols too
        return function  # type: ignore[no-any-return]
    for eager, symbolic in FACES:
        face = _module(symbolic)
        for name in _names(_module(eager), function):
            candidate = getattr(face, TWO_ARRAYS.get(name, name) if eager == "nd" else name, None)
            if candidate is not None:
                symbol: Callable[..., Any] = candidate
                return symbol
    name = getattr(function, "__name__", str(function))
    raise Unsupported(f"MXNet has no symbolic form of `{name}`, which compiling needs", slug="no_compiled_form")


def _names(module: Any, function: Any) -> Iterator[str]:
    """Yield the names of a function in a module, its own first."""
    if getattr(module, own := getattr(function, "__name__", ""), None) is function:
        yield own
    yield from (name for name in dir(module) if getattr(module, name) is function and name != own)


def _module(path: str) -> Any:
    module: Any = mx
    for word in path.split("."):
        module = getattr(module, word, None)
    return module
