"""Where a candidate stands: its function is called on inputs that lie in memory of the parent, which it cannot change.

Nothing here is believed. The process holds no reference, no expected value, no seed and no clock, and all that it can
say is that its calls are done: the parent reads what they returned out of the process itself, when that is frozen.
"""

from __future__ import annotations

import gc
from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import repeat
from typing import Any

from opperf.child.judging.carrier import Carrier
from opperf.child.judging.slots import Area, Calls, bind_slot, mapping, one_call
from opperf.child.worker.names import Names
from opperf.domain.backend import Backend, Unsupported
from opperf.domain.message import replies, requests
from opperf.domain.tensor import ITEM_SIZES, row_major


class Stand:
    """Serves the turns of one candidate, or of the reference that is timed beside it."""

    def __init__(self, backend: Backend, names: Names, request: requests.Stand) -> None:
        """Load what is called, and make its arguments on each slot."""
        self._backend = backend
        calls = names if request.standing is None else _calls_of(backend, names, request)
        area = Area(mapping(request.inputs, private=request.writable), request.geometry)
        #: What brings inputs to a device, and results back.
        self._carrier = None if backend.side.device == "cpu" else Carrier(backend, area)
        places = self._carrier or area
        bounds = [bind_slot(backend, calls, request.trial, places, slot) for slot in range(request.geometry.slots)]
        work = backend.forward(bounds[0])
        self._scope: Callable[[], Any] = work.scope
        self._slots = [one_call(backend, work, bound) for bound in bounds]
        self._answers = mapping(request.answers, writable=True).cast("Q")
        self._calls: Sequence[Callable[[], Any]] = ()
        self._lined_up: Sequence[int] = ()
        self._repeat = 1
        self._results: list[Any] = []
        self._example: Any = None
        #: A result of an earlier turn: nobody may write into it.
        self._retained: Any = None
        gc.freeze()  # what lives by now stays: collections before each turn need not look at it

    def line_up(self, request: requests.LineUp) -> replies.Agreement:
        """Choose what is called when the word comes; let go of what was returned before, but for one that is kept."""
        if request.keep is not None:
            self._retained = self._results[request.keep]
        self._results = []
        if self._carrier is not None:
            self._carrier.clear()
        self._repeat, self._lined_up = request.repeat, request.slots
        self._calls = [self._slots[slot] for slot in request.slots]
        if request.empty:
            example = self._example
            self._calls = [partial(_empty, example) for _ in request.slots]
        self._answers[0] = 0
        gc.collect()
        return replies.Agreement()

    def go(self) -> replies.Agreement:
        """Make the calls, and write down where their results lie."""
        results = self._results
        gc.disable()
        with self._scope():
            if self._carrier is not None:
                self._carrier.load(self._lined_up)
            if self._repeat > 1:
                for call in self._calls:
                    for _ in repeat(None, self._repeat - 1):
                        call()
                    results.append(call())
            else:
                for call in self._calls:
                    results.append(call())
        self._tell_places(results)
        gc.enable()
        return replies.Agreement()

    def _tell_places(self, results: list[Any]) -> None:
        # Each step in here is one that who patches this process can leave out.
        plain = self._backend.addresses(results) if self._carrier is None else ()
        places = array("Q", plain or self._addresses(results))
        self._answers[1 : len(places) + 1] = memoryview(places)
        self._answers[0] = len(places)

    def _addresses(self, results: list[Any]) -> Iterator[int]:
        if self._carrier is not None:
            yield from self._carrier.unload(results)
            return
        address = self._backend.address
        for place, result in enumerate(results):
            leaves = self._backend.leaves(result)
            addresses = [*map(address, leaves)]
            if 0 in addresses:  # who reads memory reads what lies there: what is left to do is part of the call
                results[place] = leaves = [*map(self._backend.resolved, leaves)]
                addresses = [*map(address, leaves)]
            yield from addresses

    def outline(self) -> replies.Outlines:
        """Say how the tensors of the last result lie."""
        if self._results:
            self._example = self._results[-1]
        leaves = self._backend.leaves(self._example)
        kind = "" if leaves else type(self._example).__name__
        return replies.Outlines(tuple(outlined(self._backend, leaf) for leaf in leaves), kind)


def _calls_of(backend: Backend, names: Names, request: requests.Stand) -> Calls:
    from opperf.child.judging.problems.posing import Told  # who stands before an operator does not wait for it

    return Told(backend, names.folder, request)


def outlined(backend: Backend, leaf: object) -> replies.Outlined:
    """Return how one tensor lies, or its copy on the host, and whose class it is of."""
    spec, cls = backend.spec(leaf), type(leaf)
    item = ITEM_SIZES[spec.dtype]
    on_host = backend.side.device == "cpu"
    strides = backend.byte_strides(leaf) if on_host else [item * step for step in row_major(spec.shape)]
    home = str(cls.__module__).partition(".")[0]
    kind = "" if home in (backend.name, "opperf", "builtins") else cls.__name__
    return replies.Outlined(tuple(spec.shape), spec.dtype, tuple(strides), kind)


def check_numbers(backend: Backend, result: object) -> None:
    """Raise `Unsupported` for a number in a result that is no tensor: nobody would compare it."""
    if isinstance(result, (tuple, list, dict)):
        for item in result.values() if isinstance(result, dict) else result:
            check_numbers(backend, item)
    elif isinstance(result, (bool, int, float, complex)) and not backend.leaves(result):
        raise Unsupported(
            f"it returns a number (`{type(result).__name__}`), and only tensors are compared",
            slug="returns_a_number",
            hint="return it as a tensor",
        )


def _empty(example: object) -> object:
    return example
