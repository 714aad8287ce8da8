"""Backward in PyTorch: the engine called directly on a graph that is kept, with cotangents made once.

`Tensor.backward` adds into `.grad`, which costs 404 us where the gradient itself takes 167; `torch.autograd.grad` adds
8 us of checks to every call. Neither is in the time.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch

from opperf.domain.backend import Backend, Unsupported
from opperf.domain.call import Bound, Work

#: run_backward(outputs, cotangents, keep_graph, create_graph, inputs, allow_unreachable, accumulate_grad)
run_backward = torch.autograd.Variable._execution_engine.run_backward
#: What PyTorch says of a tensor whose gradient is wanted and that a call writes into.
WRITES_A_LEAF = "a leaf Variable that requires grad is being used in an in-place operation"


def backward(backend: Backend, bound: Bound, cotangents: Callable[[Any], Any], *, fresh: bool) -> Work:
    """Return the gradients of one graph that is kept, or with `fresh` of a new graph for each call."""
    leaves = _leaves(bound)

    def graph() -> tuple[Any, ...]:
        return _outputs(backend, bound)

    outputs = graph()
    heads = tuple(cotangents(output) for output in outputs)
    rest = (heads, not fresh, False, leaves, True, False)
    if fresh:
        return Work(
            run_backward,
            (outputs, *rest),
            {},
            nullcontext,
            before=lambda: (graph(), *rest),
            notes={"backward_method": "engine, fresh forward before each call"},
        )
    return Work(run_backward, (outputs, *rest), {}, nullcontext, notes={"backward_method": "engine, one graph kept"})


def forward_backward(backend: Backend, bound: Bound, cotangents: Callable[[Any], Any]) -> Work:
    """Return one forward that records a graph and the gradients of it, as one call."""
    leaves = _leaves(bound)
    heads = tuple(cotangents(output) for output in _outputs(backend, bound))

    def both() -> Any:
        return run_backward(_outputs(backend, bound), heads, False, False, leaves, True, False)

    return Work(both, (), {}, nullcontext, notes={"backward_method": "engine, within the call"})


def _leaves(bound: Bound) -> tuple[Any, ...]:
    for tensor in bound.differentiable:
        tensor.requires_grad_(True)
    return bound.differentiable


def _outputs(backend: Backend, bound: Bound) -> tuple[Any, ...]:
    try:
        result = bound.function(*bound.arguments, **bound.keywords)
    except RuntimeError as error:
        if WRITES_A_LEAF not in str(error):
            raise
        message = "it writes into its input, so PyTorch refuses to compute the gradient"
        raise Unsupported(message, slug="no_gradient", hint="measure it forward") from error
    outputs = tuple(leaf for leaf in backend.leaves(result) if leaf.requires_grad)
    if not outputs:
        raise Unsupported("no output requires a gradient", slug="no_gradient", hint="measure it forward")
    if any(type(output.grad_fn).__name__ == "NotImplemented" for output in outputs):
        raise Unsupported("PyTorch has no gradient for it", slug="no_gradient", hint="measure it forward")
    return outputs
