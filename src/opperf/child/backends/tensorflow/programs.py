"""Whole operators under `tf.function`, and under XLA: traced and compiled by a first call.

* Tensors are arguments of a program, never closed over: Grappler computes ahead what it can see. Everything else (axes,
  shapes, element types, numbers) is closed over, as in a user's program.
* AutoGraph is off: it rewrites Python code, and the functions here have no control flow that depends on tensors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from time import perf_counter
from typing import Any

import tensorflow as tf

from opperf.child.backends.common.values import function_of
from opperf.domain.backend import Unsupported
from opperf.domain.call import Bound, Work
from opperf.domain.measurement import compile_time

TENSORS = (tf.Tensor, tf.SparseTensor, tf.IndexedSlices)
#: What tracing raises where a function asks for values.
REFUSALS = (AttributeError, NotImplementedError, TypeError)
#: How XLA and TensorFlow say that nothing runs an operator, and the operator in it.
NO_XLA_KERNEL = re.compile(r"No registered '(\w+)' OpKernel for XLA")
NO_KERNEL = re.compile(r"(?:No OpKernel was registered to support Op '|Could not find device for node: {{node )(\w+)")
#: Where TensorFlow says that something happened, ahead of what happened.
PLACE = re.compile(r"^{{.*?}} ")
#: A function of gradients that only old programs find.
SYMBOLIC_GRADIENT = "SymbolicGradient"


def compiled(bound: Bound, mode: str) -> Work:
    """Return the call as a program, compiled by one call of it."""
    call, tensors = function_of_tensors(bound)
    function = program(call, mode)
    start = perf_counter()
    run(function, tensors, mode)
    return Work(function, tensors, {}, nullcontext, metrics=compile_time(perf_counter() - start))


def program(function: Callable[..., Any], mode: str) -> Callable[..., Any]:
    """Return a function of tensors as `tf.function` makes it."""
    result: Callable[..., Any] = tf.function(function, autograph=False, jit_compile=mode == "xla")
    return result


def run(function: Callable[..., Any], tensors: Sequence[Any], mode: str) -> Any:
    """Call a function for the first time; raises `Unsupported` for what TensorFlow or XLA cannot run."""
    try:
        return function(*tensors)
    except REFUSALS as error:
        if mode == "eager":
            raise
        why = f"it cannot be traced: {headline(error)}"
        raise Unsupported(why, slug="no_compiled_form", hint="`--mode eager`") from error
    except RuntimeError as error:
        if "not compatible with eager execution" not in str(error):
            raise
        why = "TensorFlow runs it in programs only"
        raise Unsupported(why, slug="no_eager_form", hint="`--mode compiled`") from error
    except tf.errors.OpError as error:
        lack = _lack(error, mode)
        if lack is None:
            raise
        raise lack from error


def _lack(error: Exception, mode: str) -> Unsupported | None:
    """Return the sentence of TensorFlow or XLA on what it lacks; None where the operator itself failed."""
    text = str(error)
    if match := NO_XLA_KERNEL.search(text):
        return Unsupported(f"XLA has no {match[1]}", slug="no_compiled_form", hint="`--mode compiled`")
    if match := NO_KERNEL.search(text):
        why = f"TensorFlow has no kernel of {match[1]} for these element types and this device"
        return Unsupported(why, slug="no_kernel", hint="choose another `--dtype` or `--device`")
    if isinstance(error, tf.errors.NotFoundError) and SYMBOLIC_GRADIENT in text:
        why = "TensorFlow does not find the gradient of a loop within a program"
        return Unsupported(why, slug="no_compiled_form", hint="`--mode eager`")
    if mode == "xla" and isinstance(error, (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError)):
        return Unsupported(f"XLA: {headline(error)}", slug="no_compiled_form", hint="`--mode compiled`")
    return None


def function_of_tensors(bound: Bound) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the call as a function of its tensors alone, and those tensors, also from within lists."""
    call_arguments = (bound.arguments, dict(bound.keywords))

    def rebuild(values: list[Any]) -> Any:
        positional, keywords = tf.nest.pack_sequence_as(call_arguments, values)
        return bound.function(*positional, **keywords)

    return function_of(tf.nest.flatten(call_arguments), lambda leaf: isinstance(leaf, TENSORS), rebuild)


def headline(error: Exception) -> str:
    """Return the first line of what TensorFlow says, without where it says that it happened."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return PLACE.sub("", lines[0] if lines else type(error).__name__).partition(" [Op:")[0][:200]
