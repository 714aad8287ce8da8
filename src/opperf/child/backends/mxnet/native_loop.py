"""MXNet without the interpreter: the calls that Python makes of MXNet's C API, recorded once and made from C."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mxnet as mx
from mxnet.base import _LIB, NDArrayHandle, check_call

from opperf.child.backends.mxnet.capture import stand_in
from opperf.domain.backend import Unsupported
from opperf.domain.call import Work
from opperf.domain.extension import build


class Link(ctypes.Structure):
    """An input that an earlier step computed."""

    _fields_ = (("place", ctypes.c_int), ("value", ctypes.c_int))


class Step(ctypes.Structure):
    """One call of the C API, as `native_loop.c` has it."""

    _fields_ = (
        ("op", ctypes.c_void_p),
        ("inputs", ctypes.c_int),
        ("arrays", ctypes.POINTER(ctypes.c_void_p)),
        ("targets", ctypes.c_int),
        ("outputs", ctypes.POINTER(ctypes.c_void_p)),
        ("parameters", ctypes.c_int),
        ("keys", ctypes.POINTER(ctypes.c_char_p)),
        ("values", ctypes.POINTER(ctypes.c_char_p)),
        ("links", ctypes.c_int),
        ("link", ctypes.POINTER(Link)),
    )


def library(folder: Path) -> ctypes.CDLL:
    """Return the compiled loop; it is the same for every version of MXNet."""
    loops = ctypes.CDLL(str(build(Path(__file__).with_suffix(".c"), folder)))
    steps = (ctypes.POINTER(Step), ctypes.c_int, ctypes.POINTER(ctypes.c_void_p))
    loops.opperf_once.argtypes = (ctypes.c_void_p, *steps)
    loops.opperf_run.argtypes = (ctypes.c_void_p, ctypes.c_void_p, *steps, ctypes.c_longlong)
    return loops


class Loop:
    """Calls a piece of work from C."""

    def __init__(self, loops: ctypes.CDLL, work: Work) -> None:
        """Record one call of the work; raises `Unsupported`."""
        self._loops = loops
        self._invoke, self._release, self._nothing = (
            ctypes.cast(function, ctypes.c_void_p)
            for function in (_LIB.MXImperativeInvokeEx, _LIB.MXNDArrayFree, loops.opperf_nothing)
        )
        recorder = Recorder()
        arguments = work.make_arguments()
        with stand_in(_LIB, "MXImperativeInvokeEx", recorder.invoking):
            result = work.function(*arguments, **work.keywords)
        self._leaves = _arrays(result)
        self._results = [recorder.number(leaf) for leaf in self._leaves]
        # Inputs that the call itself made are gone when it returns.
        self._alive = {
            array.handle.value: array for array in gc.get_objects() if isinstance(array, mx.nd.NDArray) and array.handle
        }
        if not recorder.steps:
            raise Unsupported("it calls no operator by MXNet's C API", slug="not_native")
        if not recorder.constants <= self._alive.keys() or None in self._results:
            raise Unsupported("it does more between its operators than to call them", slug="not_native")
        self._hold = recorder.hold
        self._steps = (Step * len(recorder.steps))(*recorder.steps)
        self._new = (ctypes.c_void_p * max(1, recorder.total))()

    def bind(self, arguments: tuple[Any, ...]) -> None:
        """Take the arguments of the next calls, which are the same arrays as those of the first."""

    def run(self, calls: int) -> None:
        """Make that many calls."""
        steps = (self._steps, len(self._steps), self._new)
        check_call(self._loops.opperf_run(self._invoke, self._release, *steps, calls))

    def around(self, calls: int) -> None:
        """Do what surrounds that many calls, and make none."""
        self._loops.opperf_run(self._nothing, self._release, self._steps, len(self._steps), self._new, calls)

    def result(self) -> Sequence[Any]:
        """Make one call, and return the arrays of its result."""
        total = self._loops.opperf_once(self._invoke, self._steps, len(self._steps), self._new)
        kinds = {number: type(leaf) for leaf, number in zip(self._leaves, self._results)}
        new = [kinds.get(i, mx.nd.NDArray)(NDArrayHandle(self._new[i])) for i in range(max(total, -1 - total))]
        check_call(-1 if total < 0 else 0)
        return [
            leaf if number is None or number < 0 else new[number] for leaf, number in zip(self._leaves, self._results)
        ]


class Recorder:
    """Keeps every call that Python makes of MXNet's C API, and where its arrays come from."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        #: Arrays that no step made, by their handles.
        self.constants: set[int] = set()
        #: How many arrays all steps made, and what their memory is that steps point to.
        self.total = 0
        self.hold: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._written: set[int] = set()

    def invoking(self, invoke: Any) -> Any:
        """Return a function that calls an operator, and keeps the call."""

        def watch(handle: Any, count: Any, inputs: Any, output_count: Any, outputs: Any, *attributes: Any) -> Any:
            arrays = [inputs[i] for i in range(count.value)]
            targets = [outputs._obj[i] for i in range(output_count._obj.value)]
            number, keys, values, _ = attributes
            status = invoke(handle, count, inputs, output_count, outputs, *attributes)
            if not status:
                words = [
                    (ctypes.c_char_p * number.value)(*(text[i] for i in range(number.value))) for text in (keys, values)
                ]
                self._keep(handle.value, arrays, targets, words)
                if not targets:
                    for i in range(output_count._obj.value):
                        self._numbers[outputs._obj[i]] = self.total
                        self.total += 1
            return status

        return watch

    def _keep(self, op: int, arrays: Sequence[int], targets: Sequence[int], words: Sequence[Any]) -> None:
        if any(handle in self._numbers for handle in targets):
            raise Unsupported("it writes into an array that it made", slug="not_native")
        links = [Link(place, self._numbers[one]) for place, one in enumerate(arrays) if one in self._numbers]
        self.constants |= {*arrays, *targets} - self._numbers.keys()
        self._written |= set(targets)
        inputs = (ctypes.c_void_p * max(1, len(arrays)))(*arrays)
        pointers = (ctypes.c_void_p * max(1, len(targets)))(*targets)
        chain = (Link * max(1, len(links)))(*links)
        self.hold.append((inputs, pointers, chain, *words))
        step = Step(op, len(arrays), inputs, len(targets), pointers, len(words[0]), *words, len(links), chain)
        self.steps.append(step)

    def number(self, leaf: Any) -> int | None:
        """Return which of the results an array is: -1 for one that is written into, None for neither."""
        handle = leaf.handle.value
        return self._numbers.get(handle, -1 if handle in self._written else None)


def _arrays(value: Any) -> list[Any]:
    if isinstance(value, mx.nd.NDArray):
        return [value]
    return [array for item in value for array in _arrays(item)] if isinstance(value, (tuple, list)) else []
