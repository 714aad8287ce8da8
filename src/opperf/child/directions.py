"""From a bound call to a piece of work in one direction, checked before anything is timed.

A backward pass on a graph that is kept must give the same gradients at every call. Some operators silently do not
(MXNet's Dropout loses its mask after the first), so the gradients of the first three calls are compared. Where they
differ, each call gets a forward of its own, untimed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from opperf.backend import Bound, Unsupported, Work
from opperf.child import inputs
from opperf.operators import Operator
from opperf.units import format_bytes

if TYPE_CHECKING:
    from opperf.backend import Backend

#: Calls of a backward whose gradients must agree.
CHECKED_CALLS = 3
#: An output of more bytes is its own cotangent: another would take as much memory again, and twice that to be made.
MOST_COTANGENT = 1 << 30


@dataclass(frozen=True)
class Ready:
    """Work that has run and was found sound, and the bytes that one call of it returns."""

    work: Work
    output_bytes: int


def ready(
    backend: Backend, bound: Bound, direction: str, operator: Operator | None, seed: str, *, random: bool = False
) -> Ready:
    """Return the work of a direction after a first call; raises `Unsupported` where there is none to trust.

    `random` says that results may differ from call to call, as the operator's definition can say too.
    """
    if direction == "forward":
        work = _restoring(backend, bound, backend.forward(bound), operator)
        return Ready(work, _bytes(backend, call_once(backend, work)))
    if not bound.differentiable:
        raise Unsupported("no input of this case has a gradient", slug="no_gradient", hint="measure it forward")

    notes: dict[str, str] = {}

    def cotangents(output: Any) -> Any:
        if backend.spec(output).nbytes > MOST_COTANGENT:
            notes["cotangent"] = f"the output itself, which is over {format_bytes(MOST_COTANGENT)}"
            return output
        return inputs.tensor(backend, backend.spec(output), f"{seed}/cotangent")

    if direction == "forward_backward":
        work = _restoring(backend, bound, backend.forward_backward(bound, cotangents), operator)
        found = Ready(work, _bytes(backend, call_once(backend, work)))
    else:
        found = _backward(backend, bound, cotangents, random=random or (operator is not None and operator.random))
    return replace(found, work=replace(found.work, notes={**found.work.notes, **notes}))


def call_once(backend: Backend, work: Work) -> Any:
    """Make one call, wait for it, and return its result."""
    with work.scope():
        arguments = work.arguments if work.before is None else work.before()
        result = work.function(*arguments, **work.keywords)
        backend.wait([result])
    return result


def _backward(backend: Backend, bound: Bound, cotangents: Callable[[Any], Any], *, random: bool) -> Ready:
    work = backend.backward(bound, cotangents, fresh=False)
    gradients = _agreeing(backend, work)
    if gradients is None:
        work = backend.backward(bound, cotangents, fresh=True)
        gradients = _agreeing(backend, work) if not random else call_once(backend, work)
    if gradients is None:
        raise Unsupported(
            "the gradients of the first three calls differ, with a graph that is kept and with a fresh one",
            slug="unsteady_gradients",
            hint="measure `--direction forward_backward` instead",
        )
    return Ready(work, _bytes(backend, gradients))


def _agreeing(backend: Backend, work: Work) -> Any | None:
    """Return the gradients when every checked call gives the same ones."""
    first = call_once(backend, work)
    kept = [backend.to_host(gradient) for gradient in backend.leaves(first)]
    for _ in range(CHECKED_CALLS - 1):
        again = backend.leaves(call_once(backend, work))
        if not backend.same(kept, [backend.to_host(gradient) for gradient in again]):
            return None
    return first


def _restoring(backend: Backend, bound: Bound, work: Work, operator: Operator | None) -> Work:
    """Put mutated inputs back before each call, where the operator's declaration asks for that."""
    if not bound.mutated or operator is None:
        return work
    names = ", ".join(operator.mutates)
    if not operator.restore:
        changing = f"{names}: left to change, the time does not depend on them"
        return replace(work, notes={**work.notes, "mutates": changing})
    restore = backend.snapshot(bound.mutated)
    arguments = work.arguments

    def before() -> tuple[Any, ...]:
        restore()
        return arguments

    return replace(work, before=before, notes={**work.notes, "mutates": f"{names}: restored before each call"})


def _bytes(backend: Backend, result: Any) -> int:
    return sum(backend.spec(tensor).nbytes for tensor in backend.leaves(result))
