"""The examiner: draws what candidates compute with, and knows what should come out. No candidate's code is loaded here.

It writes into the area that candidates read, and gets copies of what they returned in memory that they do not have.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from opperf.child.judging import draws
from opperf.child.judging.slots import Area, bind_slot, bind_tensors
from opperf.child.judging.stand import outlined
from opperf.child.judging.tolerance import Difference, Expected, decode, difference, expect
from opperf.child.worker.names import Names
from opperf.domain.backend import Backend, Work
from opperf.domain.case import Case
from opperf.domain.judging import extent, tensors
from opperf.domain.message import replies, requests
from opperf.domain.tensor import FLOATS, ITEM_SIZES, TensorSpec

#: Bytes of earlier inputs that are remembered, to tell a result that belongs to them.
MOST_REMEMBERED = 1 << 26
#: Slots that have values from the start: the others get theirs before they are used.
FIRST_SLOTS = 4
#: Slots whose results a wrong one is compared with.
MOST_OTHERS = 64
#: In which types a candidate may have computed that is wrong for its own.
NARROWER = ("bfloat16", "float16", "float32")


class Examiner:
    """Draws inputs for one trial of the reference, and inspects results."""

    def __init__(
        self, backend: Backend, names: Names, request: requests.Examine, inputs: memoryview, results: memoryview
    ) -> None:
        """Draw inputs into all slots, and call the reference once."""
        self._backend, self._names, self._trial = backend, names, request.trial
        self._area, self._copies = Area(inputs, request.geometry), results
        self._specs = [spec for _, spec in tensors(request.trial.case)]
        self._generator = np.random.default_rng(int.from_bytes(os.urandom(16), "little"))
        self._works: dict[int, Work] = {}
        self._expected: dict[int, Expected] = {}
        #: What lay in the first slots, last first.
        self._before: dict[int, list[list[np.ndarray]]] = {}
        self._remembered = 0
        self._wide = _widened(request.trial.case)
        for slot in range(min(FIRST_SLOTS, request.geometry.slots)):
            self._fill(slot, "plain")
        example = self._own(0)
        self.outlines = replies.Outlines(tuple(outlined(backend, leaf) for leaf in example))

    def answer(self, request: requests.Draw | requests.Inspect) -> replies.Agreement | replies.Inspection:
        """Draw, or inspect."""
        return self._draw(request) if isinstance(request, requests.Draw) else self._inspect(request)

    def _draw(self, request: requests.Draw) -> replies.Agreement:
        for slot, kind in zip(request.slots, request.kinds):
            self._remember(slot)
            self._expected.pop(slot, None)
            self._fill(slot, kind)
        return replies.Agreement()

    def _remember(self, slot: int) -> None:
        self._remembered += self._area.geometry.stride
        if self._remembered <= MOST_REMEMBERED:
            self._before.setdefault(slot, []).insert(0, [array.copy() for array in self._arrays(slot)])

    def _fill(self, slot: int, kind: str) -> None:
        for i, spec in enumerate(self._specs):
            values = draws.draw(spec, kind if kind in draws.kinds(spec) else "plain", self._generator)
            part = self._area.part(slot, i, spec)
            part[:] = memoryview(np.ascontiguousarray(values)).cast("B") if spec.nbytes else b""

    def _arrays(self, slot: int) -> list[np.ndarray]:
        """Return the values of a slot, widened."""
        return [
            decode(bytes(self._area.part(slot, i, spec)), spec.shape, spec.dtype) for i, spec in enumerate(self._specs)
        ]

    def _own(self, slot: int) -> list[Any]:
        """Return what the reference returns of a slot in its own type."""
        if slot not in self._works:
            self._works[slot] = self._backend.forward(
                bind_slot(self._backend, self._names, self._trial, self._area, slot)
            )
        return self._backend.leaves(_call(self._works[slot]))

    def _exact(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return what the reference returns of values in double precision."""
        case = self._wide
        specs = [spec for _, spec in tensors(case)]
        bound = bind_tensors(
            self._backend, self._names, replace(self._trial, case=case), case, self._made(arrays, specs)
        )
        return self._values(self._backend.leaves(_call(self._backend.forward(bound))))

    def _made(self, arrays: Sequence[np.ndarray], specs: Sequence[TensorSpec]) -> Iterator[Any]:
        for array, spec in zip(arrays, specs):
            part = {"complex128": "float64", "complex64": "float32"}.get(spec.dtype, spec.dtype)
            raw = bytearray(np.ascontiguousarray(array).tobytes())
            yield self._backend.tensor(self._backend.host(raw, part), spec.shape, spec.dtype, None)

    def _values(self, leaves: Sequence[Any]) -> list[np.ndarray]:
        return [decode(*self._backend.to_host(leaf)) for leaf in leaves]

    def _expectation(self, slot: int) -> Expected:
        if slot not in self._expected:
            self._expected[slot] = self._expect(self._arrays(slot), self._own(slot))
        return self._expected[slot]

    def _expect(self, arrays: Sequence[np.ndarray], own: Sequence[Any]) -> Expected:
        values = self._values(own)
        dtypes = [self._backend.spec(leaf).dtype for leaf in own]
        return expect(
            self._exact_or(values), values, arrays, [spec.dtype for spec in self._specs], dtypes, self._generator
        )

    def _exact_or(self, own: list[np.ndarray]) -> Callable[[Sequence[np.ndarray]], Sequence[np.ndarray]]:
        """Return what computes in double precision; where the reference cannot, its own results are all there is."""

        def exact(arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
            with suppress(Exception):
                results = self._exact(arrays)
                if [one.shape for one in results] == [one.shape for one in own]:
                    return results
            return own

        return exact

    def _inspect(self, request: requests.Inspect) -> replies.Inspection:
        expected = self._expectation(request.slot)
        if len(request.outlines) != len(expected.values):
            text = f"it returns {len(request.outlines)} tensors, and the reference {len(expected.values)}"
            return replies.Inspection(text, "other_shape")
        found = []
        for place, (outline, values, dtype) in enumerate(zip(request.outlines, expected.values, expected.dtypes)):
            if tuple(outline.shape) != values.shape:
                text = f"tensor {place} has the shape {list(outline.shape)}, and {list(values.shape)} of the reference"
                return replies.Inspection(text, "other_shape")
            if outline.dtype != dtype:
                text = f"tensor {place} is of {outline.dtype}, and of {dtype} in the reference"
                return replies.Inspection(text, "other_type")
            found.append(outline)
        for place, values in enumerate(self._read(found)):
            wrong = difference(values, expected, place)
            if wrong is not None:
                return self._diagnose(request.slot, place, values, wrong)
        return replies.Inspection()

    def _read(self, outlines: Sequence[replies.Outlined]) -> Iterator[np.ndarray]:
        start = 0
        for one in outlines:
            item = ITEM_SIZES[one.dtype]
            low, size = extent(one.shape, one.strides, item)
            raw = np.ndarray(one.shape, np.dtype(f"V{item}"), self._copies, start - low, one.strides)
            yield decode(raw.tobytes(), one.shape, one.dtype)
            start += size

    def _diagnose(self, slot: int, place: int, found: np.ndarray, wrong: Difference) -> replies.Inspection:
        """Say what is wrong with a result, and what it looks like."""
        details: dict[str, object] = {
            "element": list(wrong.index),
            "found": _number(wrong.found),
            "expected": _number(wrong.expected),
            "allowed": float(wrong.allowed),
            "wrong": wrong.wrong,
            "elements": int(found.size),
        }
        text = (
            f"element {list(wrong.index)} of tensor {place} is {wrong.found:.7g}, expected {wrong.expected:.7g} "
            f"(within {wrong.allowed:.2g}); {wrong.wrong} of {found.size} are wrong"
        )
        slug, why = self._looks_like(slot, place, found)
        return replies.Inspection(f"{text}{why}", slug, details)

    def _looks_like(self, slot: int, place: int, found: np.ndarray) -> tuple[str, str]:
        if any(self._is_result_of(earlier, place, found) for earlier in self._before.get(slot, ())):
            return "replays", ": it is the result of what lay there before"
        for other in range(min(MOST_OTHERS, self._area.geometry.slots)):
            if other != slot and self._is_result_of(self._arrays(other), place, found):
                return "replays", ": it is the result of other inputs"
        expected = self._expectation(slot)
        bad = _wrong_ones(found, expected, place)
        first = int(np.argmax(bad.ravel()))
        if first > 0 and bad.size > 1 and bad.ravel()[first:].mean() > 0.9:
            return "computes_a_part", f": right up to element {first}, wrong from there on"
        with np.errstate(all="ignore"):
            error = np.abs(found - expected.values[place])
            scale = np.maximum(np.abs(expected.values[place]), expected.bounds[place])
            relative = float(np.quantile((error / scale)[np.isfinite(error)], 0.99)) if np.isfinite(error).any() else 1
        if relative < 2**-6:
            return "precision", f": its errors, {relative:.1g} of the values, are those of a narrower type"
        return "wrong_values", ""

    def _is_result_of(self, arrays: Sequence[np.ndarray], place: int, found: np.ndarray) -> bool:
        with suppress(Exception):
            own = self._exact(arrays)
            scale = np.maximum(np.abs(own[place]), np.finfo(np.float32).tiny)
            return bool((np.abs(own[place] - found) <= 1e-3 * scale).mean() > 0.99)
        return False


def _wrong_ones(found: np.ndarray, expected: Expected, place: int) -> np.ndarray:
    with np.errstate(all="ignore"):
        return ~(np.abs(found - expected.values[place]) <= expected.bounds[place])


def _number(value: Any) -> object:
    number = complex(value)
    return repr(value) if number.imag or number != number else float(number.real)


def _widened(case: Case) -> Case:
    """Return the case in double precision."""
    for dtype in {spec.dtype for _, spec in tensors(case)} & FLOATS:
        wide = "complex128" if dtype.startswith("complex") else "float64"
        case = case.with_dtype(wide, of=dtype)
    return case


def _call(work: Work) -> Any:
    with work.scope():
        return work.function(*work.make_arguments(), **work.keywords)
