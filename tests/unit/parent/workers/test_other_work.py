"""Whether two sides of a comparison do the same work, as far as their calls show it."""

from __future__ import annotations

import pytest

from opperf.domain.message.replies import Preparation
from opperf.parent.workers.other_work import other_work


def side(*results: str, order: str | None = None) -> Preparation:
    """Return what a side said when it prepared the trial."""
    return Preparation(1, {} if order is None else {"order_of_equals": order}, {}, results=results)


@pytest.mark.parametrize(
    ("base", "new"),
    [
        (side("float32 4"), side("float32 4")),
        (side(), side("float32 4")),  # a framework that does not show its results
        (side("float32 4", order="any"), side("float32 4", order="any")),
        (side("float32 4", order="any"), side("float32 4")),  # the user's own code
    ],
)
def test_sides_that_do_the_same_are_compared_without_a_word(base: Preparation, new: Preparation) -> None:
    assert other_work(base, new) == ()


@pytest.mark.parametrize(
    ("base", "new", "text"),
    [
        (("uint64 8",), ("uint32 8",), "uint64 8 on the base and uint32 8 on the new side"),
        (("float32 8x1",), ("float32 8",), "float32 8x1 on the base and float32 8 on the new side"),
        (("float32 8",), ("float32 8", "int64 8"), "nothing on the base and int64 8 on the new side"),
        (("bool 1",) * 5, ("int8 1",) * 5, "bool 1 on the base and int8 1 on the new side, and 2 more"),
    ],
)
def test_results_of_other_types_extents_or_number_are_told(
    base: tuple[str, ...], new: tuple[str, ...], text: str
) -> None:
    (warning,) = other_work(side(*base), side(*new))
    assert warning.slug == "different_results"
    assert warning.message.endswith(text)


def test_a_sort_that_keeps_the_order_of_equals_is_told_from_one_that_need_not() -> None:
    (warning,) = other_work(side("float32 4", order="any"), side("float32 4", order="kept"))
    assert warning.slug == "different_promises"
    assert "the base need not keep equal elements in their order, the new side keeps" in warning.message
