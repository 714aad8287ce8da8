"""Where the inputs of a judged case lie in memory."""

from __future__ import annotations

from itertools import pairwise

from tests.each import each

from opperf.domain.case import Case
from opperf.domain.judging import Geometry, area_size, geometry, tensors
from opperf.domain.tensor import TensorSpec

SHAPES = {"data": (4, 8), "weights": (300, 40), "bias": (40,)}
CASE = Case("mine", {name: TensorSpec(shape) for name, shape in SHAPES.items()})
ROOM = 1 << 20


def spans(case: Case, plan: Geometry) -> set[tuple[int, int]]:
    """Return where each tensor of each slot begins and ends."""
    specs = [spec for _, spec in tensors(case)]
    return {
        (plan.place(slot, i), plan.place(slot, i) + spec.nbytes)
        for slot in range(plan.slots)
        for i, spec in enumerate(specs)
    }


@each("constant", [(), ("weights",), ("data",), ("data", "bias"), ("data", "weights", "bias")])
def test_tensors_do_not_overlap_and_what_is_constant_lies_once(constant: tuple[str, ...]) -> None:
    plan = geometry(CASE, ROOM, 8, constant)
    every = sorted(spans(CASE, plan))
    assert len(every) == plan.slots * (3 - len(constant)) + len(constant)
    assert all(end <= start for (_, end), (start, _) in pairwise(every))
    assert every[-1][1] <= ROOM


@each("constant", [(), ("weights",), ("data", "weights", "bias")])
def test_the_area_of_a_case_that_is_large_has_room_for_it(constant: tuple[str, ...]) -> None:
    size = area_size(CASE, 1, constant)
    assert max(end for _, end in spans(CASE, geometry(CASE, 1, 8, constant))) <= size
    larger = Case("mine", {name: TensorSpec(tuple(n + 1 for n in shape)) for name, shape in SHAPES.items()})
    assert max(end for _, end in spans(larger, geometry(larger, 1, 8, constant))) <= size
