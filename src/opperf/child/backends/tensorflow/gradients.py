"""Backward in TensorFlow: `GradientTape.gradient` of a tape that is kept, with cotangents made once.

In the compiled modes the tape is around a `tf.function`, whose gradient is a program too. A forward and its gradients
are one program there, tape and all.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from time import perf_counter
from typing import Any

import tensorflow as tf

from opperf.child.backends.tensorflow import programs
from opperf.domain.backend import Backend, Unsupported
from opperf.domain.call import Bound, Work
from opperf.domain.measurement import compile_time

WITH_ONEDNN = "measure it forward, or set TF_ENABLE_ONEDNN_OPTS=1"
#: What TensorFlow's own kernels for CPUs say of gradients of convolutions that they lack; oneDNN has them.
NOT_ON_A_CPU = ("are not supported on CPU", "CPU implementations do not yet support")


def backward(backend: Backend, bound: Bound, cotangents: Callable[[Any], Any], *, fresh: bool) -> Work:
    """Return the gradients of one tape that is kept, or with `fresh` of a new tape for each call."""
    mode, start = backend.side.mode, perf_counter()
    call, tensors = programs.function_of_tensors(bound)
    if mode != "eager":
        call = programs.program(call, mode)
    sources = _sources(bound)

    def record() -> tuple[Any, list[Any]]:
        with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
            tape.watch(sources)
            outputs = _smooth(backend, call(*tensors))
        return tape, outputs

    def gradients(tape: Any, outputs: list[Any]) -> Any:
        return tape.gradient(outputs, sources, output_gradients=heads)

    tape, outputs = _first(record, (), mode)
    heads = [cotangents(output) for output in outputs]
    _check(_first(gradients, (tape, outputs), mode))
    return Work(
        gradients,
        (tape, outputs),
        {},
        nullcontext,
        before=record if fresh else None,
        metrics={} if mode == "eager" else compile_time(perf_counter() - start),
        notes={
            "backward_method": f"GradientTape.gradient, {'a fresh tape for each call' if fresh else 'one tape kept'}"
        },
    )


def forward_backward(backend: Backend, bound: Bound, cotangents: Callable[[Any], Any]) -> Work:
    """Return one forward on a tape and its gradients, as one call."""
    mode = backend.side.mode
    call, tensors = programs.function_of_tensors(bound)
    heads = [cotangents(output) for output in _smooth(backend, _first(call, tensors, "eager"))]
    ids = {id(tensor) for tensor in _sources(bound)}
    places = [i for i, tensor in enumerate(tensors) if id(tensor) in ids]
    weights = [source for source in _sources(bound) if isinstance(source, tf.Variable)]  # of a layer, which holds them

    def both(tensors: tuple[Any, ...], heads: list[Any]) -> Any:
        sources = [*(tensors[i] for i in places), *weights]
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(sources)
            outputs = _smooth(backend, call(*tensors))
        return tape.gradient(outputs, sources, output_gradients=heads)

    work = Work(both, (tensors, heads), {}, nullcontext, notes={"backward_method": "GradientTape, within the call"})
    if mode == "eager":
        _check(_first(both, (tensors, heads), mode))
        return work
    function, start = programs.program(both, mode), perf_counter()
    _check(_first(function, (tensors, heads), mode))
    return replace(work, function=function, metrics=compile_time(perf_counter() - start))


def _sources(bound: Bound) -> list[Any]:
    return list(bound.differentiable)


def _smooth(backend: Backend, result: Any) -> list[Any]:
    """Return the outputs that can carry a gradient; the indices of a top-k cannot."""
    outputs = [leaf for leaf in backend.leaves(result) if leaf.dtype.is_floating or leaf.dtype.is_complex]
    if not outputs:
        raise Unsupported("no output requires a gradient", slug="no_gradient", hint="measure it forward")
    return outputs


def _first(function: Callable[..., Any], arguments: tuple[Any, ...], mode: str) -> Any:
    """Make a first call; raises `Unsupported` where TensorFlow has no gradient, or XLA does not compile it."""
    try:
        return programs.run(function, arguments, mode)
    except (LookupError, NotImplementedError) as error:
        message = f"TensorFlow has no gradient for it: {error}"
        raise Unsupported(message, slug="no_gradient", hint="measure it forward") from error
    except (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError) as error:
        if not any(words in str(error) for words in NOT_ON_A_CPU):
            raise
        message = f"TensorFlow has no gradient for it on this CPU: {programs.headline(error)}"
        raise Unsupported(message, slug="no_gradient", hint=WITH_ONEDNN) from error


def _check(gradients: Any) -> None:
    """Raise `Unsupported` where no gradient flows."""
    if all(gradient is None for gradient in gradients):
        raise Unsupported("no gradient flows to its inputs", slug="no_gradient", hint="measure it forward")
