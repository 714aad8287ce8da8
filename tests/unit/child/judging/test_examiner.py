"""The examiner compares with as little as says that a result is right, and names what a wrong one is the result of."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opperf.child.backends.numpy.runtime import NumpyBackend
from opperf.child.judging.examiner import VARY, Examiner
from opperf.child.judging.slots import Area
from opperf.child.judging.stand import check_numbers
from opperf.child.worker.code import Plugins
from opperf.child.worker.names import Names
from opperf.domain.backend import Unsupported
from opperf.domain.case import Case
from opperf.domain.judging import geometry, tensors
from opperf.domain.message.replies import Inspection, Outlined
from opperf.domain.message.requests import Draw, Examine, Inspect
from opperf.domain.plan import Side, Trial
from opperf.domain.tensor import TensorSpec

SHAPE = (24, 40)
SOFTMAX = Case("softmax", {"data": TensorSpec(SHAPE)}, {"axis": -1})
ADD = Case("add", {"lhs": TensorSpec(SHAPE), "rhs": TensorSpec(SHAPE)})


class Counting(Examiner):
    """Counts what it evaluates in double precision."""

    evaluations = 0

    def _exact(self, arrays: Sequence[Any]) -> list[Any]:
        self.evaluations += 1
        return super()._exact(arrays)


class Problem:
    """A case on NumPy, with an examiner whose memory is at hand."""

    def __init__(self, case: Case, slots: int = 4) -> None:
        self.layout = geometry(case, 1 << 20, slots)
        memory = memoryview(bytearray(self.layout.slots * self.layout.stride))
        self._results = memoryview(bytearray(1 << 16))
        self._area, self._case = Area(memory, self.layout), case
        backend = NumpyBackend(Side("numpy"))
        request = Examine(Trial(case, Side("numpy"), "forward"), self.layout, 0, 0)
        self.examiner = Counting(backend, Names(backend, Path(), Plugins(Path(), ())), request, memory, self._results)

    def inputs(self, slot: int) -> list[Any]:
        """Return what lies in a slot."""
        specs = [spec for _, spec in tensors(self._case)]
        return [
            np.frombuffer(bytes(self._area.part(slot, i, spec)), spec.dtype).reshape(spec.shape)
            for i, spec in enumerate(specs)
        ]

    def draw(self, *slots: int) -> None:
        """Draw new values."""
        self.examiner.answer(Draw(slots, ("plain",) * len(slots)))

    def inspect(self, slot: int, function: Callable[..., Any]) -> Inspection:
        """Inspect what a function makes of a slot."""
        result = function(*self.inputs(slot)).astype(np.float32)
        self._results[: result.nbytes] = result.tobytes()
        answer = self.examiner.answer(Inspect(slot, (Outlined(result.shape, "float32", result.strides),)))
        assert isinstance(answer, Inspection)
        return answer


def softmax(data: Any) -> Any:
    """Return the softmax, in double precision."""
    shifted = np.exp(data.astype(float) - data.max(-1, keepdims=True))
    return shifted / shifted.sum(-1, keepdims=True)


@pytest.fixture
def problem() -> Problem:
    """Return a softmax."""
    return Problem(SOFTMAX)


def test_the_bytes_of_the_reference_are_right_without_a_look_at_the_truth() -> None:
    problem = Problem(ADD)
    assert not problem.inspect(1, np.add).wrong
    assert problem.examiner.evaluations == 0


def test_what_is_near_the_truth_takes_one_evaluation_of_it_once_the_terms_are_known(problem: Problem) -> None:
    assert not problem.inspect(1, softmax).wrong
    first = problem.examiner.evaluations
    assert not problem.inspect(2, softmax).wrong
    assert problem.examiner.evaluations == first + 1


def test_what_is_not_near_is_held_against_what_roundoffs_of_the_inputs_move(problem: Problem) -> None:
    problem.inspect(1, softmax)
    first = problem.examiner.evaluations
    assert problem.inspect(2, lambda data: softmax(data) * 1.001).slug == "precision"
    assert problem.examiner.evaluations > first + 1


def test_a_result_of_long_ago_is_told_wherever_it_lay(problem: Problem) -> None:
    old = softmax(*problem.inputs(3))
    problem.draw(3)
    problem.draw(3)
    assert problem.inspect(1, lambda _: old).slug == "replays"


def test_a_result_that_is_off_is_none_of_other_inputs_which_differ_in_a_few_elements() -> None:
    problem = Problem(Case("softmax", {"data": TensorSpec((512, 8))}, {"axis": -1}))
    problem.examiner.answer(Draw((0, 1, 2, 3), (VARY,) * 4))
    assert problem.inspect(2, lambda data: softmax(data) * 1.0005).slug == "precision"


def test_values_are_large_where_the_reference_makes_finite_numbers_of_them() -> None:
    for operator, is_large in (("softmax", True), ("exp", False)):
        problem = Problem(Case(operator, SOFTMAX.inputs, SOFTMAX.attributes if is_large else {}))
        problem.examiner.answer(Draw((1, 2), ("large", "plain")))
        assert [problem.inputs(slot)[0].max() > 1 for slot in (1, 2)] == [is_large, False]
        assert not problem.inspect(1, softmax if is_large else np.exp).wrong


def test_of_large_values_gross_errors_alone_count(problem: Problem) -> None:
    problem.examiner.answer(Draw((1, 2), ("large", "large")))
    assert not problem.inspect(1, lambda data: np.where(softmax(data) < 1e-6, 0, softmax(data))).wrong
    assert problem.inspect(1, lambda data: np.where(softmax(data) < 1e-2, 0, softmax(data))).wrong
    with np.errstate(all="ignore"):
        assert problem.inspect(2, lambda data: np.exp(data) / np.exp(data).sum(-1, keepdims=True)).wrong


@pytest.mark.parametrize("place", [0, 1])
def test_a_result_that_remembers_one_input_is_told_with_its_name(place: int) -> None:
    problem = Problem(ADD)
    old = problem.inputs(2)[place]
    problem.draw(2)
    inspection = problem.inspect(2, lambda *inputs: old + inputs[1 - place])
    assert inspection.slug == "replays"
    assert f"`{('lhs', 'rhs')[place]}`" in inspection.wrong


def test_a_result_that_is_old_in_part_is_told(problem: Problem) -> None:
    old, odd = softmax(*problem.inputs(2)), np.arange(SHAPE[0])[:, None] % 2 == 1
    inspection = problem.inspect(1, lambda data: np.where(odd, old, softmax(data)))
    assert inspection.slug == "replays"
    assert "the wrong elements are those of the result of other inputs" in inspection.wrong


def test_what_belongs_to_no_inputs_is_no_replay(problem: Problem) -> None:
    assert problem.inspect(1, lambda data: softmax(data)[::-1]).slug == "wrong_values"


def test_it_is_known_whether_results_of_the_reference_lie_in_an_input() -> None:
    reshape = Case("reshape", {"data": TensorSpec(SHAPE)}, {"shape": (40, 24)})
    for case, in_input in ((reshape, True), (ADD, False)):
        assert [one.in_input for one in Problem(case).examiner.outlines.tensors] == [in_input]


def test_numbers_of_numpy_lie_where_they_are() -> None:
    backend, results = NumpyBackend(Side("numpy")), [np.float32(3), np.float32(4), np.ones((), np.float32)]
    places = [backend.address(one) for one in results]
    assert [ctypes.c_float.from_address(place).value for place in places] == [3, 4, 1]


def test_a_reference_that_returns_a_number_beside_its_tensors_is_refused() -> None:
    backend = NumpyBackend(Side("numpy"))
    tensors_alone: list[object] = [(np.ones(3), np.float64(1)), [None, (np.ones(3),)]]
    for result in tensors_alone:
        check_numbers(backend, result)
    with_numbers: list[object] = [(np.ones(3), 1.0), {"loss": [True]}]
    for result in with_numbers:
        with pytest.raises(Unsupported, match="only tensors are compared"):
            check_numbers(backend, result)
