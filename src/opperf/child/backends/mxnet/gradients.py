"""Backward in MXNet: the C function that walks the graph, with head gradients made once.

Gradients are written, not added (`grad_req='write'`), into arrays that are attached to the differentiable inputs before
anything is timed; an attached integer input would make MXNet compute a gradient for it. What surrounds the C call is
one Python function that checks its status: about 0.1 us, and part of the time.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy
from mxnet import autograd, util
from mxnet.base import _LIB, MXNetError, c_handle_array, check_call

from opperf.child.backends.mxnet.registry import CHANGING
from opperf.child.backends.mxnet.target import Target
from opperf.domain.backend import Unsupported
from opperf.domain.call import Bound, Work
from opperf.domain.dataclass import dataclass

#: Finds the arrays in a result.
Leaves: TypeAlias = Callable[[Any], list[Any]]


@dataclass(frozen=True)
class AttachedGradients:
    """The gradients that a backward wrote, found only when they are looked at.

    MXNet may put another array in the place of the one attached: the head gradient itself, where that is the gradient.
    """

    tensors: tuple[Any, ...]

    @property
    def arrays(self) -> list[Any]:
        """Return the gradient of each tensor."""
        return [tensor.grad for tensor in self.tensors]


def attach(bound: Bound) -> None:
    """Give each differentiable input an array that its gradient is written to.

    Raises `Unsupported` for what has no gradient that MXNet survives.
    """
    name = getattr(bound.function, "name", getattr(bound.function, "__name__", ""))
    if name in CHANGING:
        raise Unsupported(
            "it writes into its inputs and has no gradient", slug="no_gradient", hint="measure it forward"
        )
    if name == "SequenceLast" and not bound.keywords.get("use_sequence_length"):
        raise Unsupported(
            "MXNet's gradient crashes the process without sequence lengths",
            slug="no_gradient",
            hint="pass `sequence_length` and `use_sequence_length=True`",
        )
    for tensor in bound.differentiable:
        with util.np_shape(0 in (len(tensor.shape), *tensor.shape)):  # else MXNet takes such a shape for unknown
            tensor.attach_grad(grad_req="write")


def backward(target: Target, leaves: Leaves, bound: Bound, cotangents: Callable[[Any], Any], *, fresh: bool) -> Work:
    """Return the gradients of one graph that is kept, or with `fresh` of a new graph for each call."""

    def graph() -> tuple[Any, ...]:
        outputs = _record(target, leaves)
        return c_handle_array(outputs), outputs  # the handles do not keep the arrays

    with target.scope()():
        heads, outputs = graph()
    walk = _walk(bound, [cotangents(output) for output in outputs], keep=not fresh)
    method = "a fresh forward before each call" if fresh else "one graph kept"
    return Work(
        walk,
        (heads, outputs),
        {},
        target.scope(),
        before=graph if fresh else None,
        metrics=target.metrics,
        notes={**target.notes, "backward_method": f"MXAutogradBackwardEx, {method}"},
    )


def forward_backward(target: Target, leaves: Leaves, bound: Bound, cotangents: Callable[[Any], Any]) -> Work:
    """Return one forward that records a graph and the gradients of it, as one call."""
    with target.scope()():
        outputs = _record(target, leaves)
    walk = _walk(bound, [cotangents(output) for output in outputs], keep=False)

    def both() -> Any:
        outputs = _record(target, leaves)
        return walk(c_handle_array(outputs), outputs)

    notes = {**target.notes, "backward_method": "MXAutogradBackwardEx, within the call"}
    return Work(both, (), {}, target.scope(), metrics=target.metrics, notes=notes)


def _record(target: Target, leaves: Leaves) -> list[Any]:
    """Return the floating outputs of one forward, whose graph is recorded as in training."""
    with autograd.record():
        result = target.function(*target.arguments, **target.keywords)
    outputs = [leaf for leaf in leaves(result) if numpy.dtype(leaf.dtype).kind == "f"]
    if not outputs:
        raise Unsupported("no output requires a gradient", slug="no_gradient", hint="measure it forward")
    return outputs


def _walk(bound: Bound, cotangents: list[Any], *, keep: bool) -> Callable[..., AttachedGradients]:
    """Return the function that is timed: it has MXNet write the gradients, and returns where they are."""
    gradients = AttachedGradients(bound.differentiable)
    count, seeds, nothing = len(cotangents), c_handle_array(cotangents), ctypes.c_void_p(0)
    retain, create, training = ctypes.c_int(keep), ctypes.c_int(0), ctypes.c_int(1)
    walk_graph = _LIB.MXAutogradBackwardEx

    def walk(heads: Any, outputs: Any, alive: Any = cotangents) -> AttachedGradients:
        status = walk_graph(count, heads, seeds, 0, nothing, retain, create, training, nothing, nothing)
        if status:
            _refuse(status)
        return gradients

    return walk


def _refuse(status: int) -> None:
    """Raise what MXNet says; an operator without a gradient is skipped, not failed."""
    try:
        check_call(status)
    except MXNetError as error:
        if "FGradient" in str(error):
            raise Unsupported("MXNet has no gradient of it", slug="no_gradient", hint="measure it forward") from error
        raise
