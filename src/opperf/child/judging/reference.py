"""Operators of the catalog in float64, on any inputs, and what other implementations of them are allowed to differ by.

The reference computes a case once more on inputs that are off by a roundoff. Its own results in the element type are
not asked for: what frameworks compute differs more than that, and each is allowed as much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from opperf.catalog import catalog
from opperf.child.backends.binding import Call
from opperf.child.backends.numpy.reference.runtime import ReferenceBackend
from opperf.child.judging.elements import Array, decode, roundoff
from opperf.child.judging.sensitivity import Moves, measure
from opperf.child.judging.tolerance import SINGLE, allow, difference
from opperf.child.worker import arguments
from opperf.child.worker.correctness import ROUGH, WrongResult, check_shapes, compare, leeway, may_round, read
from opperf.domain.backend import HostValue
from opperf.domain.case import Case
from opperf.domain.dataclass import dataclass
from opperf.domain.device import ROUNDED
from opperf.domain.message import replies
from opperf.domain.message.requests import Compare
from opperf.domain.plan import Side, Trial
from opperf.domain.tensor import STRING


class Inputs(ReferenceBackend):
    """The reference's backend, which keeps the inputs that it makes, or takes others `instead` of them, in order."""

    def __init__(self, side: Side) -> None:
        super().__init__(side)
        self.arrays: list[tuple[Array, str]] = []
        self.instead: list[Array] | None = None

    def tensor(self, host: Any, shape: Sequence[int], dtype: str, strides: Sequence[int] | None) -> Any:
        """Return an input."""
        if self.instead is not None:
            return self.instead.pop(0)
        array = super().tensor(host, shape, dtype, strides)
        self.arrays.append((array.copy(), dtype))
        return array


@dataclass(frozen=True)
class Problem:
    """A case of the catalog as a function of its tensors, the inputs that it has by its seed, and their types."""

    exact: Callable[[Sequence[Array]], list[Array]]
    inputs: tuple[Array, ...]
    dtypes: tuple[str, ...]


def problem(case: Case, seed: int, side: Side) -> Problem:
    """Return the problem that a case of the catalog is; raises what the reference raises."""
    backend, definition = Inputs(side), catalog()[case.operator]
    call = backend.bindings()[case.operator]
    if not isinstance(call, Call):
        raise LookupError(case.operator)
    count = len(definition.outputs(case))

    def evaluate() -> list[Array]:
        bound = arguments.bind(case, call, definition, backend, seed)
        with np.errstate(all="ignore"):
            results = backend.leaves(bound.function(*bound.arguments, **bound.keywords))
        return [np.asarray(one if call.layout is None else call.layout.neutral(one)) for one in results[:count]]

    def exact(inputs: Sequence[Array]) -> list[Array]:
        backend.instead = [array.copy() for array in inputs]
        return evaluate()

    evaluate()
    return Problem(exact, tuple(array for array, _ in backend.arrays), tuple(dtype for _, dtype in backend.arrays))


class Comparison:
    """Compares results with the reference, element by element. What a case may differ by serves all sides of a command.

    Layers of libraries, which the reference does not have, are compared as children without NumPy compare.
    """

    def __init__(self, side: Side) -> None:
        self._side = side
        self._last: tuple[object, Moves] | None = None

    def __call__(self, request: Compare) -> replies.Agreement:
        """Raise `WrongResult` where a result is further from the reference than arithmetic in its type may be."""
        results, expected = read(request.results), read(request.expected)
        in_catalog = request.trial.case.operator in catalog()
        if not in_catalog or any(one[2] == STRING for one in (*results, *expected)):
            return compare(request)
        check_shapes(results, expected, request.against)
        self.check(request.trial, request.seed, results, request.against)
        return replies.Agreement()

    def check(self, trial: Trial, seed: int, results: Sequence[HostValue], against: str) -> None:
        """Raise `WrongResult` where a result of the right shapes, of an operator of the catalog, is too far off."""
        times = ROUGH if catalog()[trial.case.operator].rough else 1
        limits = allow(self._moves(trial, seed), [one[2] for one in results], times, leeway(trial))
        for place, one in enumerate(results):
            if (wrong := difference(decode(*one), limits, place)) is not None:
                raise WrongResult(f"element {wrong.number} of tensor {place} {wrong.sentence(against)}")

    def _moves(self, trial: Trial, seed: int) -> Moves:
        """Return the truth of a case, and how far a roundoff moves it; that of the last case is kept."""
        key = trial.case.id, may_round(trial), seed
        if self._last is None or self._last[0] != key:
            posed, generator = problem(trial.case, seed, self._side), np.random.default_rng(seed)
            outputs = catalog()[trial.case.operator].outputs(trial.case)
            roundoffs = [working_roundoff(tensor.dtype, rounds=may_round(trial)) for tensor in outputs]
            self._last = key, measure(posed.exact, posed.inputs, posed.dtypes, roundoffs, generator)
        return self._last[1]


def working_roundoff(dtype: str, *, rounds: bool = False) -> float:
    """Return the roundoff that frameworks compute with: parts of what is in float64 are single precision.

    Of gelu in MXNet, attention in JAX. Where a device `rounds`, products of float32 are those of TF32.
    """
    if rounds and dtype in ROUNDED:
        return roundoff("float16")
    return max(roundoff(dtype), SINGLE) if roundoff(dtype) else 0.0
