"""What a comparison says of code bound by memory where other programs took much of the machine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from opperf.domain.case import Case
from opperf.domain.peaks import MOVE, Rate
from opperf.domain.plan import Side
from opperf.domain.tensor import TensorSpec
from opperf.parent.analysis.crowd import crowd_warnings
from opperf.parent.documents.comparison import Comparison, Verdict
from opperf.parent.documents.load import Load

CROWD, IDLE = Load(4.0, 3.0, 2), Load(1.1, 0.1, 2)
CACHE = 1 << 20
#: 8 MB that take 1 ms: 8 GB/s.
STREAMS = Comparison(
    Case("mine.py:triad", {"b": TensorSpec((1_000_000,)), "c": TensorSpec((1_000_000,))}),
    "forward",
    Side("numpy"),
    Side("numpy"),
    Verdict("slower", 1.13, (1.1, 1.16), "both stages agree", 10),
    base_time=1e-3,
    new_time=1.13e-3,
)
#: The same bytes move as fast as 100 GB/s here.
FAST = Rate(MOVE, "copy", "float32", 16_000_000, 1e11, "numpy", "cpu", 1, "2026-11-26")


def slugs(one: Comparison, load: Load | None = CROWD, rates: tuple[Rate, ...] = ()) -> list[str]:
    """Return what a comparison is warned of."""
    return [warning.slug for warning in crowd_warnings(one, load, CACHE, rates)]


def test_a_change_of_code_that_moves_bytes_on_a_crowded_machine_may_come_out_too_large() -> None:
    (warning,) = crowd_warnings(STREAMS, CROWD, CACHE, ())
    assert warning.slug == "beside_streams"
    assert warning.message.startswith("the load average was 4.0 on 2 CPUs: the change may be 2 times smaller")


@pytest.mark.parametrize("load", [IDLE, None])
def test_nothing_is_said_where_nobody_else_took_much_of_the_machine(load: Load | None) -> None:
    assert slugs(STREAMS, load) == []


@pytest.mark.parametrize(
    "one",
    [
        replace(STREAMS, base_time=0.1),
        replace(STREAMS, base_time=None),
        replace(STREAMS, case=Case("mine.py:triad", {"b": TensorSpec((1000,))}), base_time=1e-7),
        replace(STREAMS, verdict=replace(STREAMS.verdict, verdict="same")),
        replace(STREAMS, clock="instructions"),
        replace(STREAMS, new=Side("torch", device="cuda:0")),
    ],
    ids=["it computes", "no time", "it fits its own cache", "no change", "counted", "a GPU"],
)
def test_nothing_is_said_of_what_neighbours_that_stream_do_not_change(one: Comparison) -> None:
    assert slugs(one) == []


def test_what_is_far_below_the_measured_bandwidth_is_not_bound_by_memory() -> None:
    assert slugs(STREAMS, rates=(replace(FAST, rate=1e10),)) == ["beside_streams"]
    assert slugs(STREAMS, rates=(FAST,)) == []


def test_what_a_call_allocates_counts_and_so_does_the_formula_of_an_operator() -> None:
    small = replace(STREAMS, case=Case("mine.py:triad", {"b": TensorSpec((1000,))}))
    assert slugs(replace(small, memory={"peak": (8e6, 8e6), "same": True})) == ["beside_streams"]
    add = Case("add", {"lhs": TensorSpec((200_000,)), "rhs": TensorSpec((200_000,))})
    assert slugs(replace(STREAMS, case=add, base_time=8e-4)) == ["beside_streams"]
