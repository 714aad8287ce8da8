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

from opperf.child.judging import draws, dummies
from opperf.child.judging.elements import Array, decode, encode, roundoff, storage
from opperf.child.judging.slots import Area, bind_slot, bind_tensors, one_call
from opperf.child.judging.stand import outlined
from opperf.child.judging.tolerance import (
    Difference,
    Expected,
    Moves,
    count_terms,
    difference,
    measure_moves,
    settle,
)
from opperf.child.worker.inputs import of_elements
from opperf.child.worker.names import Names
from opperf.domain.backend import Backend, Work
from opperf.domain.case import Case
from opperf.domain.judging import extent, finite, tensors
from opperf.domain.message import replies, requests
from opperf.domain.tensor import FLOATS, ITEM_SIZES, TensorSpec

#: Bytes of earlier inputs that are remembered, to tell a result that belongs to them.
MOST_REMEMBERED = 1 << 26
#: Slots that have values from the start: the others get theirs before they are used.
FIRST_SLOTS = 4
#: Slots whose results a wrong one is compared with.
MOST_OTHERS = 64
#: What the inputs of a slot are called that are those of another but for a few elements, and how many.
VARY, FEW_CHANGED = "vary", 3


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
        self._calls: dict[int, Callable[[], Any]] = {}
        self._expected: dict[int, Expected] = {}
        #: What lay in the first slots, last first.
        self._before: dict[int, list[list[Array]]] = {}
        self._remembered = 0
        self._wide = _in_type(request.trial.case, "float64", "complex128")
        #: How many inputs an element of the result depends on, once that was looked at.
        self._terms: float | None = None
        for i in request.geometry.constant:
            self._write(0, i, self._values_of(self._specs[i], request.kind))
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
        near = self._generator.integers(min(FIRST_SLOTS, self._area.geometry.slots)) if kind == VARY else 0
        for i, spec in enumerate(self._specs):
            if i not in self._area.geometry.constant:
                values = self._near_copy(int(near), i, spec) if kind == VARY else self._values_of(spec, kind)
                self._write(slot, i, values)

    def _values_of(self, spec: TensorSpec, kind: str) -> Array:
        return draws.draw(spec, kind if kind in draws.kinds(spec) else "plain", self._generator)

    def _write(self, slot: int, place: int, values: Array) -> None:
        if self._specs[place].nbytes:
            self._area.part(slot, place, self._specs[place])[:] = values.tobytes()

    def _near_copy(self, slot: int, place: int, spec: TensorSpec) -> Array:
        """Return what lies in a slot but for a few elements: what looks at some to tell inputs apart is fooled."""
        stored = np.frombuffer(self._area.part(slot, place, spec), storage(spec.dtype))
        return draws.vary(stored, self._generator, FEW_CHANGED) if spec.literal is None else stored

    def _arrays(self, slot: int) -> list[Array]:
        """Return the values of a slot, widened."""
        return [
            decode(bytes(self._area.part(slot, i, spec)), spec.shape, spec.dtype) for i, spec in enumerate(self._specs)
        ]

    def _own(self, slot: int) -> list[Any]:
        """Return what the reference returns of a slot in its own type."""
        if slot not in self._calls:
            bound = bind_slot(self._backend, self._names, self._trial, self._area, slot)
            work = self._backend.forward(bound)
            self._scope, self._calls[slot] = work.scope, one_call(self._backend, work, bound)
        with self._scope():
            return self._backend.leaves(self._calls[slot]())

    def _exact(self, arrays: Sequence[Array]) -> list[Array]:
        """Return what the reference returns of values in double precision."""
        return self._in_case(self._wide, arrays)

    def _in_case(self, case: Case, arrays: Sequence[Array]) -> list[Array]:
        specs = [spec for _, spec in tensors(case)]
        trial = replace(self._trial, case=case)
        bound = bind_tensors(self._backend, self._names, trial, case, self._make_tensors(arrays, specs))
        return self._values(self._backend.leaves(_call(self._backend.forward(bound))))

    def _make_tensors(self, arrays: Sequence[Array], specs: Sequence[TensorSpec]) -> Iterator[Any]:
        for array, spec in zip(arrays, specs):
            yield of_elements(self._backend, replace(spec, strides=None), bytearray(encode(array, spec.dtype)))

    def _values(self, leaves: Sequence[Any]) -> list[Array]:
        return [decode(*self._backend.to_host(leaf)) for leaf in leaves]

    def _expectation(self, slot: int) -> Expected:
        if slot not in self._expected:
            self._expected[slot] = self._expect(self._arrays(slot), self._own(slot))
        return self._expected[slot]

    def _expect(self, arrays: Sequence[Array], own: Sequence[Any]) -> Expected:
        values = self._values(own)
        dtypes = [self._backend.spec(leaf).dtype for leaf in own]
        inputs = [spec.dtype for spec in self._specs]
        coarsest = max(map(roundoff, inputs), default=0.0)
        roundoffs = [roundoff(dtype) or coarsest for dtype in dtypes]
        exact = self._exact_or(values)
        truth = [np.asarray(one) for one in exact(arrays)]
        if self._terms is None:
            self._terms = count_terms(exact, truth, arrays, inputs, self._generator)
        moves = measure_moves(exact, truth, arrays, roundoffs, self._generator)
        return settle(Moves(tuple(truth), tuple(moves), tuple(roundoffs), self._terms), values, dtypes)

    def try_dummies(self) -> replies.Passing:
        """Return which results that nobody computed would pass for those of the first slot."""
        arrays, other = self._arrays(0), self._values(self._own(1))
        half = None
        with suppress(Exception):  # not every reference has it
            half = self._in_case(_in_type(self._trial.case, "float16", "complex32"), arrays)
        expected = self._expectation(0)
        again = self._values(self._own(0))
        steady = not any(difference(one, expected, place) for place, one in enumerate(again))
        return replies.Passing(dummies.passing(expected, arrays, other, half), steady)

    def _exact_or(self, own: list[Array]) -> Callable[[Sequence[Array]], Sequence[Array]]:
        """Return what computes in double precision; where the reference cannot, its own results are all there is."""

        def exact(arrays: Sequence[Array]) -> Sequence[Array]:
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
        result = []
        for place, (outline, values, dtype) in enumerate(zip(request.outlines, expected.values, expected.dtypes)):
            if tuple(outline.shape) != values.shape:
                text = f"tensor {place} has the shape {list(outline.shape)}, and {list(values.shape)} of the reference"
                return replies.Inspection(text, "other_shape")
            if outline.dtype != dtype:
                text = f"tensor {place} is of {outline.dtype}, and of {dtype} in the reference"
                return replies.Inspection(text, "other_type")
            result.append(outline)
        for place, values in enumerate(self._read(result)):
            wrong = difference(values, expected, place)
            if wrong is not None:
                return self._diagnose(request.slot, place, values, wrong)
        return replies.Inspection()

    def _read(self, outlines: Sequence[replies.Outlined]) -> Iterator[Array]:
        start = 0
        for one in outlines:
            item = ITEM_SIZES[one.dtype]
            low, size = extent(one.shape, one.strides, item)
            raw = np.ndarray(one.shape, np.dtype(f"V{item}"), self._copies, start - low, one.strides)
            yield decode(raw.tobytes(), one.shape, one.dtype)
            start += size

    def _diagnose(self, slot: int, place: int, result: Array, wrong: Difference) -> replies.Inspection:
        """Say what is wrong with a result, and what it looks like."""
        details: dict[str, object] = {
            "element": list(wrong.index),
            "found": _number(wrong.value),
            "expected": _number(wrong.expected),
            "allowed": _number(wrong.allowed),
            "wrong": wrong.wrong,
            "elements": wrong.elements,
        }
        text = (
            f"element {list(wrong.index)} of tensor {place} is {wrong.value:.7g}, expected {wrong.expected:.7g} "
            f"(within {wrong.allowed:.2g}); {wrong.wrong} of {wrong.elements} are wrong"
        )
        slug, why = self._looks_like(slot, place, result)
        return replies.Inspection(f"{text}{why}", slug, details)

    def _looks_like(self, slot: int, place: int, result: Array) -> tuple[str, str]:
        if any(self._is_result_of(earlier, place, result) for earlier in self._before.get(slot, ())):
            return "replays", ": it is the result of what lay there before"
        for other in range(min(MOST_OTHERS, self._area.geometry.slots)):
            if other != slot and self._is_result_of(self._arrays(other), place, result):
                return "replays", ": it is the result of other inputs"
        expected = self._expectation(slot)
        if any(one.shape == result.shape and np.array_equal(one, result) for one in self._arrays(slot)):
            return "copies_an_input", ": it is an input"
        bad = _wrong_ones(result, expected, place)
        first = int(np.argmax(bad.ravel()))
        if first > 0 and bad.size > 1 and bad.ravel()[first:].mean() > 0.9:
            return "computes_a_part", f": right up to element {first}, wrong from there on"
        with np.errstate(all="ignore"):
            error = np.abs(result - expected.values[place])
            size = np.abs(expected.values[place])
            scale = np.maximum(size, np.maximum(expected.bounds[place], np.nanmedian(size)))
            relative = float(np.quantile((error / scale)[np.isfinite(error)], 0.99)) if np.isfinite(error).any() else 1
        if relative < 2**-6:
            return "precision", f": its errors, {relative:.1g} of the values, are those of a narrower type"
        return "wrong_values", ""

    def _is_result_of(self, arrays: Sequence[Array], place: int, result: Array) -> bool:
        with suppress(Exception):
            own = self._exact(arrays)
            scale = np.maximum(np.abs(own[place]), np.finfo(np.float32).tiny)
            return bool((np.abs(own[place] - result) <= 1e-3 * scale).mean() > 0.99)
        return False


def _wrong_ones(result: Array, expected: Expected, place: int) -> Array:
    with np.errstate(all="ignore"):
        return ~(np.abs(result - expected.values[place]) <= expected.bounds[place])


def _number(value: Any) -> object:
    number = complex(value)
    return repr(value) if number.imag else finite(float(number.real))


def _in_type(case: Case, real: str, complex_type: str) -> Case:
    """Return a case in another floating type."""
    for dtype in {spec.dtype for _, spec in tensors(case)} & FLOATS:
        case = case.with_dtype(complex_type if dtype.startswith("complex") else real, of=dtype)
    return case


def _call(work: Work) -> Any:
    with work.scope():
        return work.function(*work.make_arguments(), **work.keywords)
