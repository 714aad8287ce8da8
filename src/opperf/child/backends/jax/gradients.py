"""Backward in JAX: the function that `jax.vjp` returns, with what it remembers passed as arguments of a program.

The forward program returns the outputs and what the backward needs; the backward program takes that and the cotangents,
and returns every gradient. Both are jitted in either mode, since `jax.vjp` is not used operator by operator: on four
elements of tanh it takes 153 us, jitted 7. What is remembered is passed as flat arrays, since taking the vjp's own
object apart adds 0.7 us to each call.

Arrays never change, so a vjp may be called again and again.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import jax
import jax.numpy as jnp

from opperf.child.backends.jax.programs import PLANS, function_of_tensors, program
from opperf.domain.backend import Unsupported
from opperf.domain.call import Bound, Work
from opperf.domain.dataclass import dataclass


@dataclass(frozen=True)
class DifferentiableOperator:
    """An operator as a function of its differentiable tensors and of the rest of its tensors."""

    forward: Callable[..., tuple[tuple[Any, ...], Callable[..., Any]]]
    tensors: tuple[tuple[Any, ...], tuple[Any, ...]]

    @classmethod
    def of(cls, bound: Bound) -> DifferentiableOperator:
        """Part the tensors of a call; the differentiable ones are found by identity."""
        call, tensors = function_of_tensors(bound.function, bound.arguments, dict(bound.keywords))
        ids = {id(tensor) for tensor in bound.differentiable}
        places_of_choice = [i for i, tensor in enumerate(tensors) if id(tensor) in ids]
        rest = [i for i in range(len(tensors)) if i not in places_of_choice]

        def forward(moving: tuple[Any, ...], still: tuple[Any, ...]) -> tuple[tuple[Any, ...], Callable[..., Any]]:
            def outputs(*tensors: Any) -> tuple[Any, ...]:
                places = dict(zip([*places_of_choice, *rest], [*tensors, *still], strict=True))
                return _smooth(call(*(places[i] for i in range(len(places)))))

            try:
                results, pullback = jax.vjp(outputs, *moving)
            except NotImplementedError as error:
                raise Unsupported(
                    str(error).partition("\n")[0], slug="no_gradient", hint="measure it forward"
                ) from error
            return results, pullback

        return cls(forward, (tuple(tensors[i] for i in places_of_choice), tuple(tensors[i] for i in rest)))


def backward(bound: Bound, cotangents: Callable[[Any], Any], *, fresh: bool) -> Work:
    """Return the gradients from one forward, or with `fresh` from a new forward for each call."""
    operator = DifferentiableOperator.of(bound)
    forward = jax.jit(operator.forward)
    outputs, pullback = jax.block_until_ready(forward(*operator.tensors))
    heads = _heads(outputs, cotangents)
    residuals, structure = jax.tree_util.tree_flatten(pullback)

    def gradients(cotangent: tuple[Any, ...], *arrays: Any) -> Any:
        return jax.tree_util.tree_unflatten(structure, arrays)(cotangent)

    def arguments() -> tuple[Any, ...]:
        return (heads, *jax.block_until_ready(jax.tree_util.tree_leaves(forward(*operator.tensors)[1])))

    function, metrics = program(gradients, (heads, *residuals))
    return Work(
        function,
        (heads, *residuals),
        {},
        nullcontext,
        before=arguments if fresh else None,
        metrics=metrics,
        notes={"backward_method": f"jitted vjp, {'fresh forward before each call' if fresh else 'one forward kept'}"},
    )


def forward_backward(bound: Bound, cotangents: Callable[[Any], Any]) -> Work:
    """Return one program of the forward and its gradients.

    The program returns the outputs too, or XLA would leave out what only they need. They are dropped in Python, as in
    other frameworks.
    """
    operator = DifferentiableOperator.of(bound)
    shapes, _ = jax.eval_shape(operator.forward, *operator.tensors)
    heads = _heads(shapes, cotangents)

    def both(cotangent: tuple[Any, ...], moving: tuple[Any, ...], still: tuple[Any, ...]) -> Any:
        outputs, pullback = operator.forward(moving, still)
        return pullback(cotangent), outputs

    jitted, metrics = program(both, (heads, *operator.tensors))

    def gradients(cotangent: tuple[Any, ...], moving: tuple[Any, ...], still: tuple[Any, ...]) -> Any:
        return jitted(cotangent, moving, still)[0]

    PLANS[gradients] = PLANS[jitted]
    return Work(
        gradients,
        (heads, *operator.tensors),
        {},
        nullcontext,
        metrics=metrics,
        notes={"backward_method": "vjp within one jitted call that also returns the outputs"},
    )


def _smooth(result: Any) -> tuple[Any, ...]:
    """Return the outputs that can carry a gradient; the indices of a top-k cannot."""
    return tuple(leaf for leaf in jax.tree_util.tree_leaves(result) if _carries(leaf))


def _carries(leaf: Any) -> bool:
    """Whether an output is of real or complex numbers; some functions return a flag beside their arrays."""
    return bool(jnp.issubdtype(jnp.result_type(leaf), jnp.inexact))


def _heads(outputs: tuple[Any, ...], cotangents: Callable[[Any], Any]) -> tuple[Any, ...]:
    if not outputs:
        raise Unsupported("no output requires a gradient", slug="no_gradient", hint="measure it forward")
    return tuple(cotangents(output) for output in outputs)
