"""Whole operators under `tf.function`, and under XLA: traced and compiled by a first call.

* Tensors are arguments of a program, never closed over: Grappler computes ahead what it can see. Everything else (axes,
  shapes, element types, numbers) is closed over, as in a user's program.
* AutoGraph is off: it rewrites Python code, and the functions here have no control flow that depends on tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from time import perf_counter
from typing import Any

import tensorflow as tf

from opperf.domain.backend import Bound, Unsupported, Work
from opperf.domain.measurement import compile_time

TENSORS = (tf.Tensor, tf.SparseTensor, tf.IndexedSlices)
#: What tracing raises where a function asks for values, and what TensorFlow and XLA say of what they do not compile.
REFUSALS = (AttributeError, NotImplementedError, TypeError)


def compiled(bound: Bound, mode: str) -> Work:
    """Return the call as a program, compiled by one call of it."""
    call, tensors = over_tensors(bound)
    function = program(call, mode)
    start = perf_counter()
    run(function, tensors, mode)
    return Work(function, tensors, {}, nullcontext, metrics=compile_time(perf_counter() - start))


def program(function: Callable[..., Any], mode: str) -> Callable[..., Any]:
    """Return a function of tensors as `tf.function` makes it."""
    result: Callable[..., Any] = tf.function(function, autograph=False, jit_compile=mode == "xla")
    return result


def run(function: Callable[..., Any], tensors: tuple[Any, ...], mode: str) -> Any:
    """Call a program for the first time; raises `Unsupported` for what cannot be compiled."""
    try:
        return function(*tensors)
    except REFUSALS as error:
        why = f"it cannot be traced: {_headline(error)}"
        raise Unsupported(why, slug="no_compiled_form", hint="`--mode eager`") from error
    except (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError) as error:
        if mode != "xla":
            raise
        raise Unsupported(f"XLA: {_headline(error)}", slug="no_compiled_form", hint="`--mode compiled`") from error


def over_tensors(bound: Bound) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the call as a function of its tensors alone, and those tensors, also from within lists."""
    whole = (bound.arguments, dict(bound.keywords))
    leaves = tf.nest.flatten(whole)
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, TENSORS)]
    static = [None if i in places else leaf for i, leaf in enumerate(leaves)]

    def call(*tensors: Any) -> Any:
        values = list(static)
        for i, tensor in zip(places, tensors, strict=True):
            values[i] = tensor
        positional, keywords = tf.nest.pack_sequence_as(whole, values)
        return bound.function(*positional, **keywords)

    return call, tuple(leaves[i] for i in places)


def _headline(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:200]
