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
from opperf.child.judging.sensitivity import Moves, count_terms, measure_drift, measure_moves
from opperf.child.judging.slots import Area, Calls, bind_slot, bind_tensors, mixtures, one_call
from opperf.child.judging.stand import check_numbers, outlined
from opperf.child.judging.symptoms import PLAIN, Mistake, symptom
from opperf.child.judging.ties import are_tied
from opperf.child.judging.tolerance import Difference, Expected, difference, roughly, settle, settle_least
from opperf.child.worker.inputs import of_elements
from opperf.domain.backend import Backend, HostValue
from opperf.domain.call import Work
from opperf.domain.case import Case
from opperf.domain.dataclass import dataclass
from opperf.domain.judging import extent, finite, tensors
from opperf.domain.message import replies, requests
from opperf.domain.tensor import FLOATS, ITEM_SIZES, TensorSpec
from opperf.domain.units import plural

#: Bytes of earlier inputs that are remembered, to tell a result that belongs to them.
MOST_REMEMBERED = 1 << 26
#: Slots that have values from the start: the others get theirs before they are used.
FIRST_SLOTS = 4
#: Slots whose results a wrong one is compared with.
MOST_OTHERS = 64
#: How many earlier inputs of a slot are mixed with its own, to tell a result that remembers some of them.
FEW_EARLIER = 3
#: What the inputs of a slot are called that are those of another but for a few elements, and how many.
VARY, FEW_CHANGED = "vary", 3
#: Values beyond those that somebody has declared: not every reference takes them.
LARGE = "large"
#: Values of which gross errors alone count: those, and such as the order of a sum decides about, where terms are alike,
#: sorted, or cancel each other.
ROUGH = {LARGE, "mixed", "sorted", "clustered", "constant_rows"}


@dataclass
class Sheet:
    """What is right of a slot: what the reference returns, and, once that was not enough to tell, more.

    `truth` is what it returns in float64, and `least` are bounds that hold whatever the inputs' roundoff does. A sum of
    its terms may `drift` by so many units.
    """

    own: Sequence[HostValue]
    truth: Sequence[Array] = ()
    drift: float = 0.0
    least: Expected | None = None
    expected: Expected | None = None

    @property
    def dtypes(self) -> list[str]:
        """The element types of the results."""
        return [dtype for _, _, dtype in self.own]

    @property
    def values(self) -> list[Array]:
        """What the reference returns, as numbers."""
        return [decode(*one) for one in self.own]


class Examiner:
    """Draws inputs for one trial of the reference, and inspects results."""

    def __init__(
        self,
        backend: Backend,
        names: Calls,
        request: requests.Examine,
        inputs: memoryview,
        results: memoryview,
        terms: dict[str, float] | None = None,
        make: Callable[[Case, int], Sequence[bytes] | None] | None = None,
    ) -> None:
        """Draw inputs into all slots, and call the reference once; `terms` outlives it, by the case's id.

        `make` makes the values of a problem, where its case does not say how.
        """
        self._make = make
        self._backend, self._names, self._trial = backend, names, request.trial
        self._area, self._copies = Area(inputs, request.geometry), results
        self._specs = [spec for _, spec in tensors(request.trial.case)]
        self._generator = np.random.default_rng(int.from_bytes(os.urandom(16), "little"))
        self._calls: dict[int, Callable[[], Any]] = {}
        self._sheets: dict[int, Sheet] = {}
        self._ways = {kind for spec in self._specs for kind in draws.kinds(spec)} | {VARY}
        #: How the values of each slot were drawn, and those of what is constant.
        self._kinds: dict[int, str] = {}
        self._constant_kind = request.kind if request.geometry.constant else ""
        #: The bytes that lay in the first slots, last first.
        self._before: dict[int, list[list[bytes]]] = {}
        self._remembered = 0
        self._wide = _in_type(request.trial.case, "float64", "complex128")
        self._terms = {} if terms is None else terms
        own = self._own_values()
        for i in request.geometry.constant:
            self._write(0, i, self._values_of(self._specs[i], request.kind) if own is None else own[i])
        for slot in range(min(FIRST_SLOTS, request.geometry.slots)):
            self._fill(slot, "plain")
        result = self._result(0)
        check_numbers(backend, result)
        example = backend.leaves(result)
        self.outlines = replies.Outlines(
            tuple(replace(outlined(backend, leaf), in_input=self._lies_in_input(leaf)) for leaf in example)
        )

    def answer(self, request: requests.Draw | requests.Inspect) -> replies.Agreement | replies.Inspection:
        """Draw, or inspect."""
        return self._draw(request) if isinstance(request, requests.Draw) else self._inspect(request)

    def _draw(self, request: requests.Draw) -> replies.Agreement:
        for slot, kind in zip(request.slots, request.kinds):
            self._remember(slot)
            self._sheets.pop(slot, None)
            self._fill(slot, kind)
        return replies.Agreement()

    def _remember(self, slot: int) -> None:
        self._remembered += self._area.geometry.stride
        if self._remembered <= MOST_REMEMBERED:
            self._before.setdefault(slot, []).insert(0, self._contents(slot))

    def _fill(self, slot: int, kind: str) -> None:
        """Write values into a slot; plain ones where the reference makes no finite numbers of large ones."""
        drawn_values = self._own_values()
        kind = kind if drawn_values is None and kind in self._ways else "plain"
        near = int(self._generator.integers(min(FIRST_SLOTS, self._area.geometry.slots))) if kind == VARY else 0
        self._kinds[slot] = self._kinds[near] if kind == VARY else kind
        for i, spec in enumerate(self._specs):
            if i in self._area.geometry.constant:
                continue
            if drawn_values is not None:
                self._write(slot, i, drawn_values[i])
            else:
                values = self._near_copy(near, i, spec) if kind == VARY else self._values_of(spec, kind)
                self._write(slot, i, values)
        if kind == LARGE:
            with suppress(Exception):  # there may be no result for them
                if all(np.isfinite(one).all() for one in self._sheet(slot).values):
                    return
            self._sheets.pop(slot, None)
            self._fill(slot, "plain")

    def _values_of(self, spec: TensorSpec, kind: str) -> Array:
        return draws.draw(spec, kind if kind in draws.kinds(spec) else "plain", self._generator)

    def _write(self, slot: int, place: int, values: Array) -> None:
        if self._specs[place].nbytes:
            self._area.part(slot, place, self._specs[place])[:] = values.tobytes()

    def _own_values(self) -> Sequence[Array] | None:
        """Return the bytes that a problem makes by itself; None where its case says how values are drawn."""
        make = self._make or (lambda case, seed: None)
        own = make(self._trial.case, int(self._generator.integers(1 << 31)))
        return None if own is None else [np.frombuffer(raw, np.uint8) for raw in own]

    def _near_copy(self, slot: int, place: int, spec: TensorSpec) -> Array:
        """Return the content of a slot but for a few elements: what looks at some to tell inputs apart is fooled."""
        stored = np.frombuffer(self._area.part(slot, place, spec), storage(spec.dtype))
        is_free = spec.literal is None and spec.values not in draws.IN_PLACE
        return draws.vary(stored, self._generator, FEW_CHANGED) if is_free else stored

    def _contents(self, slot: int) -> list[bytes]:
        """Return the bytes of the tensors of a slot."""
        return [bytes(self._area.part(slot, i, spec)) for i, spec in enumerate(self._specs)]

    def _arrays(self, slot: int) -> list[Array]:
        """Return the values of a slot, widened."""
        return self._widened(self._contents(slot))

    def _widened(self, contents: Sequence[bytes]) -> list[Array]:
        return [decode(raw, spec.shape, spec.dtype) for raw, spec in zip(contents, self._specs)]

    def _own(self, slot: int) -> list[Any]:
        """Return the reference's results of a slot in its own type."""
        return self._backend.leaves(self._result(slot))

    def _result(self, slot: int) -> Any:
        if slot not in self._calls:
            bound = bind_slot(self._backend, self._names, self._trial, self._area, slot)
            work = self._backend.forward(bound)
            self._scope, self._calls[slot] = work.scope, one_call(self._backend, work, bound)
        with self._scope():
            return self._calls[slot]()

    def _lies_in_input(self, leaf: Any) -> bool:
        area = np.frombuffer(self._area.memory, np.uint8)
        start: int = area.__array_interface__["data"][0]
        return self._backend.address(leaf) in range(start, start + area.size)

    def _exact(self, arrays: Sequence[Array]) -> list[Array]:
        """Return the reference's results of values in double precision."""
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

    def _sheet(self, slot: int) -> Sheet:
        """Return the sheet of a slot, with as much as was asked for since its values were drawn."""
        if slot not in self._sheets:
            self._sheets[slot] = Sheet([self._backend.to_host(leaf) for leaf in self._own(slot)])
        return self._sheets[slot]

    def _with_truth(self, slot: int) -> Sheet:
        """Return the sheet of a slot, with the results in float64 and the error that anybody is allowed."""
        sheet = self._sheet(slot)
        if sheet.least is None:
            arrays, exact = self._arrays(slot), self._exact_or(sheet.values)
            sheet.truth = [np.asarray(one) for one in exact(arrays)]
            key, dtypes = self._trial.case.id, [spec.dtype for spec in self._specs]
            if key not in self._terms:
                self._terms[key] = count_terms(exact, sheet.truth, arrays, dtypes, self._generator)
            sheet.drift = measure_drift(self._terms[key], arrays)
            sheet.least = settle_least(sheet.truth, sheet.values, sheet.dtypes, self._terms[key], sheet.drift)
        return sheet

    def _expectation(self, slot: int) -> Expected:
        """Return the expected results of a slot, bounds included; roundoffs of its inputs take as long as all else."""
        sheet = self._with_truth(slot)
        if sheet.expected is None:
            coarsest = max((roundoff(spec.dtype) for spec in self._specs), default=0.0)
            roundoffs = [roundoff(dtype) or coarsest for dtype in sheet.dtypes]
            exact = self._exact_or(sheet.values)
            moves = measure_moves(exact, sheet.truth, self._arrays(slot), roundoffs, self._generator)
            terms = self._terms[self._trial.case.id]
            every = Moves(tuple(sheet.truth), tuple(moves), tuple(roundoffs), terms, sheet.drift)
            expected = settle(every, sheet.values, sheet.dtypes)
            sheet.expected = roughly(expected) if ROUGH & {self._kinds[slot], self._constant_kind} else expected
        return sheet.expected

    def try_dummies(self) -> replies.Passing:
        """Return which results that nobody computed would pass for those of the first slot."""
        arrays, other_values = self._arrays(0), self._sheet(1).values
        half = None
        with suppress(Exception):  # not every reference has it
            half = self._in_case(_in_type(self._trial.case, "float16", "complex32"), arrays)
        expected = self._expectation(0)
        first, again = (self._values(self._own(0)) for _ in range(2))
        # What draws numbers in double precision too allows for anything: so results are held against each other.
        steady = not any(difference(one, expected, place) for place, one in enumerate(again))
        steady = steady and all(map(dummies.is_near, first, again))
        alike = [one.shape for one in other_values] == [one.shape for one in self._sheet(0).values]
        return replies.Passing(dummies.passing(expected, arrays, other_values, half), steady, alike)

    def _exact_or(self, computed: list[Array]) -> Callable[[Sequence[Array]], Sequence[Array]]:
        """Return a computation in double precision; where the reference cannot, its own results are all there is."""

        def exact(arrays: Sequence[Array]) -> Sequence[Array]:
            with suppress(Exception):
                results = self._exact(arrays)
                if [one.shape for one in results] == [one.shape for one in computed]:
                    return results
            return computed

        return exact

    def _inspect(self, request: requests.Inspect) -> replies.Inspection:
        sheet = self._sheet(request.slot)
        if len(request.outlines) != len(sheet.own):
            text = f"it returns {plural(len(request.outlines), 'tensor')}, and the reference {len(sheet.own)}"
            return replies.Inspection(text, "other_shape")
        for place, (outline, (_, shape, dtype)) in enumerate(zip(request.outlines, sheet.own)):
            if tuple(outline.shape) != tuple(shape):
                text = f"tensor {place} has the shape {list(outline.shape)}, and {list(shape)} of the reference"
                return replies.Inspection(text, "other_shape")
            if outline.dtype != dtype:
                text = f"tensor {place} is of {outline.dtype}, and of {dtype} in the reference"
                return replies.Inspection(text, "other_type")
        return self._compare(request.slot, sheet, list(self._read(request.outlines)))

    def _compare(self, slot: int, sheet: Sheet, results: Sequence[bytes]) -> replies.Inspection:
        """Compare results with as little as says that they are right: most are, and most by far."""
        if all(result == raw for result, (raw, _, _) in zip(results, sheet.own)):
            return replies.Inspection()
        values = [decode(result, shape, dtype) for result, (_, shape, dtype) in zip(results, sheet.own)]
        least = self._with_truth(slot).least
        if least is not None and not any(_wrong(values, least)):
            return replies.Inspection()
        for wrong in _wrong(values, self._expectation(slot)):
            result, right = values[wrong.place], sheet.values[wrong.place]
            if not are_tied(result, right, self._arrays(slot), self._specs):
                return self._diagnose(slot, wrong.place, result, wrong)
        return replies.Inspection()

    def _read(self, outlines: Sequence[replies.Outlined]) -> Iterator[bytes]:
        start = 0
        for outline in outlines:
            item = ITEM_SIZES[outline.dtype]
            low, size = extent(outline.shape, outline.strides, item)
            yield np.ndarray(outline.shape, np.dtype(f"V{item}"), self._copies, start - low, outline.strides).tobytes()
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
        expected = self._expectation(slot)
        mistake = Mistake.of(result, expected, place)
        if any(self._is_of(self._widened(earlier), mistake) for earlier in self._before.get(slot, ())):
            return "replays", ": it is the result of the values that lay there before"
        for other in range(min(MOST_OTHERS, self._area.geometry.slots)):
            if other != slot and self._is_of(self._arrays(other), mistake):
                return "replays", ": it is the result of other inputs"
        arrays = self._arrays(slot)
        if any(one.shape == result.shape and np.array_equal(one, result) for one in arrays):
            return "copies_an_input", ": it is an input"
        slug, why = symptom(result, expected.values[place], expected.bounds[place], expected.dtypes[place])
        if slug == PLAIN[0]:
            slug, why = self._replay(slot, mistake, arrays) or (slug, why)
        return slug, why

    def _replay(self, slot: int, mistake: Mistake, arrays: Sequence[Array]) -> tuple[str, str] | None:
        """Return the symptom of a result that belongs to inputs of another call, or in part to an earlier one."""
        names = [name for name, _ in tensors(self._trial.case)]
        earlier = [self._widened(contents) for contents in self._before.get(slot, ())[:FEW_EARLIER]]
        for old in earlier:
            for places in mixtures(len(arrays)):
                mixed = [(old if i in places else arrays)[i] for i in range(len(arrays))]
                if self._is_of(mixed, mistake):
                    parts = " and ".join(f"`{names[i]}`" for i in places)
                    return "replays", f": it is the result of these inputs with {parts} of an earlier call"
        others = [one for other, several in self._before.items() if other != slot for one in reversed(several)]
        if any(self._is_of(self._widened(contents), mistake) for contents in others[:MOST_OTHERS]):
            return "replays", ": it is the result of other inputs, of an earlier call"
        slots = [self._arrays(other) for other in range(min(FIRST_SLOTS, self._area.geometry.slots)) if other != slot]
        if any(self._is_of(one, mistake, in_part=True) for one in (*slots, *earlier)):
            return "replays", ": the wrong elements are those of the result of other inputs"
        return None

    def _is_of(self, arrays: Sequence[Array], mistake: Mistake, *, in_part: bool = False) -> bool:
        """Whether what is wrong with a result belongs to these inputs."""
        with suppress(Exception):
            return mistake.belongs_to(self._exact(arrays), in_part=in_part)
        return False


def _wrong(values: Sequence[Array], expected: Expected) -> Iterator[Difference]:
    """Yield the worst element of each tensor that has a wrong one."""
    for place, one in enumerate(values):
        if (wrong := difference(one, expected, place)) is not None:
            yield wrong


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
