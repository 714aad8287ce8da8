"""The slots of a shared area as arguments of a call: tensors that lie in it, copied nowhere."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any, Protocol

from opperf.catalog import catalog
from opperf.child.backends.binding import Call
from opperf.child.worker import arguments
from opperf.domain.backend import Backend
from opperf.domain.call import Bound, Work
from opperf.domain.case import Argument, Case, Device, DType, ListOf
from opperf.domain.judging import Geometry, tensors
from opperf.domain.plan import Trial
from opperf.domain.tensor import TensorSpec


class Calls(Protocol):
    """What says how trials are called: names of a framework, or a problem."""

    def call(self, trial: Trial) -> Call:
        """Return how to call the operator of a trial."""


class Tensors(Protocol):
    """What has the inputs of a case as tensors, slot by slot."""

    def tensors(self, backend: Backend, case: Case, slot: int) -> Iterator[Any]:
        """Yield the tensors of a slot."""


class Area:
    """A mapping of shared memory, and where the inputs of a case lie in it, slot by slot."""

    def __init__(self, memory: memoryview, geometry: Geometry) -> None:
        self.memory, self.geometry = memory, geometry
        self._same: dict[int, Any] = {}

    def tensors(self, backend: Backend, case: Case, slot: int) -> Iterator[Any]:
        """Yield the tensors of a slot; those that are constant are the same objects in each."""
        for i, (_, spec) in enumerate(tensors(case)):
            if i in self._same:
                yield self._same[i]
                continue
            tensor = backend.share(self.part(slot, i, spec), spec)
            if i in self.geometry.constant:
                self._same[i] = tensor
            yield tensor

    def part(self, slot: int, tensor: int, spec: TensorSpec) -> memoryview:
        """Return the bytes of a tensor of a slot."""
        start = self.geometry.place(slot, tensor)
        return self.memory[start : start + spec.nbytes]


def mapping(descriptor: int, *, writable: bool = False, private: bool = False) -> memoryview:
    """Return the bytes of shared memory; what is written into a `private` mapping nobody else sees."""
    access = mmap.PROT_READ | (mmap.PROT_WRITE if writable or private else 0)
    flags = mmap.MAP_PRIVATE if private else mmap.MAP_SHARED
    return memoryview(mmap.mmap(descriptor, os.fstat(descriptor).st_size, flags, access))


def bind_slot(backend: Backend, names: Calls, trial: Trial, area: Tensors, slot: int) -> Bound:
    """Return the call of a trial on the tensors that lie in a slot."""
    return bind_tensors(backend, names, trial, trial.case, area.tensors(backend, trial.case, slot))


def bind_tensors(backend: Backend, names: Calls, trial: Trial, case: Case, parts: Iterator[Any]) -> Bound:
    """Return the call of a trial with these tensors as those of a case, in order."""
    every = (*case.inputs.items(), *case.attributes.items())
    values = {name: _value(backend, argument, parts) for name, argument in every}
    return arguments.bind(case, names.call(trial), catalog().get(case.operator), backend, 0, values)


def mixtures(count: int) -> Iterable[tuple[int, ...]]:
    """Return which of so many inputs a call may have of another slot, and the others of its own: one, or all but one.

    >>> [*mixtures(3)], [*mixtures(2)], [*mixtures(1)]
    ([(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)], [(0,), (1,)], [])
    """
    every = range(count)
    parts = (*combinations(every, 1), *combinations(every, max(count - 1, 0)))
    return dict.fromkeys(part for part in parts if 0 < len(part) < count)


def one_call(backend: Backend, work: Work, bound: Bound) -> Callable[[], Any]:
    """Return the call of a slot. What it is declared to change is copied first: nobody may write into the area."""
    if not bound.mutated:
        return partial(work.function, *bound.arguments, **bound.keywords)
    changing = [id(bound.values[name]) for name in bound.mutated]

    def call() -> Any:
        copies = {place: backend.clone(value) for place, value in _changed(bound, changing)}
        arguments = [copies.get(id(value), value) for value in bound.arguments]
        keywords = {name: copies.get(id(value), value) for name, value in bound.keywords.items()}
        return work.function(*arguments, **keywords)

    return call


def _changed(bound: Bound, changing: Sequence[int]) -> Iterator[tuple[int, Any]]:
    for value in (*bound.arguments, *bound.keywords.values()):
        if id(value) in changing:
            yield id(value), value


def _value(backend: Backend, argument: Argument, parts: Iterator[Any]) -> object:
    """Return an argument with the next tensors wherever it has one."""
    if isinstance(argument, TensorSpec):
        return next(parts)
    if isinstance(argument, ListOf):
        return [_value(backend, item, parts) for item in argument.items]
    if isinstance(argument, tuple):
        return tuple(_value(backend, item, parts) for item in argument)
    if isinstance(argument, DType):
        return backend.dtype(argument.name)
    if isinstance(argument, Device):
        return backend.side.device if argument.name == "default" else argument.name
    return argument
