"""Whether a trial fits into memory, decided from its description before anything is allocated.

What a trial needs is counted at the least: its inputs and outputs, copies of the inputs that it changes, with a
backward the cotangents and gradients as well, and what it takes to make the largest input. What the framework needs in
addition is not included.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from opperf.catalog import Operator
from opperf.child.measure.host import free_bytes
from opperf.child.worker.directions import MOST_COTANGENT
from opperf.child.worker.inputs import making_bytes
from opperf.domain.backend import Backend, Unsupported
from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.units import format_bytes

#: So little fits wherever a framework runs, and to ask how much is free takes a quarter of a millisecond.
SMALL = 1 << 20


def check_room(
    backend: Backend, case: Case, definition: Operator | None, direction: str, limit: int | None = None
) -> None:
    """Raise `Unsupported` for a trial that needs more memory than available, with both figures.

    `limit` are the bytes of the machine's memory that a trial may take where more are free.
    """
    on_device = backend.free_memory()
    parts = bytes_needed(case, definition, direction)
    if on_device is not None:
        parts.pop("making them")  # that happens in the machine's memory
    total = sum(parts.values())
    free = free_bytes() if on_device is None and total > SMALL else on_device
    if free is not None and total > free:
        raise Unsupported(
            f"{_needs(parts)}, but only {format_bytes(free)} is available",
            slug="short_of_memory",
            hint="choose a smaller size, or a narrower `--dtype`",
        )
    if limit is not None and on_device is None and total > limit:
        raise Unsupported(
            f"{_needs(parts)}, and `--memory-limit` is {format_bytes(limit)}",
            slug="short_of_memory",
            hint=f"`--memory-limit {total / 1e9:.1f}GB` lets it run",
        )


def _needs(parts: Mapping[str, int]) -> str:
    text = ", ".join(f"{name} {format_bytes(size)}" for name, size in parts.items() if size)
    return f"it needs at least {format_bytes(sum(parts.values()))} of memory ({text})"


def bytes_needed(case: Case, definition: Operator | None, direction: str) -> dict[str, int]:
    """Return the bytes that a trial takes, by what takes them; the outputs of an unknown operator are not counted."""
    making = max((making_bytes(tensor) for tensor in case.tensors()), default=0)
    outputs = _outputs(case, definition)
    parts = {"inputs": case.input_bytes, "making them": making, "outputs": sum(outputs)}
    if definition is not None and definition.mutates:
        parts["copies of what it changes"] = sum(tensor.nbytes for tensor in case.tensors(definition.mutates))
    if direction != "forward":
        parts["cotangents"] = sum(size for size in outputs if size <= MOST_COTANGENT)
        parts["gradients"] = _gradient_bytes(case, definition)
    return parts


def _outputs(case: Case, definition: Operator | None) -> list[int]:
    """Return the bytes of each output; none for inputs that the formulas refuse, as the framework will."""
    with suppress(InputError, LookupError, ValueError, ArithmeticError, AttributeError, TypeError):
        return [] if definition is None else [tensor.nbytes for tensor in definition.outputs(case)]
    return []


def _gradient_bytes(case: Case, definition: Operator | None) -> int:
    tensors = case.tensors() if definition is None else case.tensors(definition.differentiable)
    return sum(tensor.nbytes for tensor in tensors if tensor.is_float and tensor.requires_grad is not False)
