"""How spans of a thread lie within each other."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from opperf.domain.profile.event import Event, lanes, own_times, parents, track

EVENTS = st.lists(
    st.builds(
        lambda begin, duration, thread: Event("add", "operator", begin, duration, 1, thread),
        st.integers(0, 12),
        st.integers(0, 12),
        st.sampled_from(["main", "other"]),
    ),
    max_size=10,
)


def spans(*times: tuple[int, int]) -> list[Event]:
    """Return spans of one thread that begin and end at these times."""
    return [Event("add", "operator", begin, end - begin, 1, "main") for begin, end in times]


def test_what_a_call_took_by_itself_is_its_time_without_its_callees() -> None:
    events = spans((0, 100), (10, 40), (20, 30), (50, 60), (100, 120))
    assert parents(events) == [None, 0, 1, 0, None]
    assert own_times(events) == [60, 20, 10, 10, 20]


def test_of_two_spans_that_begin_together_the_longer_one_is_outside() -> None:
    assert lanes(spans((0, 5), (0, 10))) == [(0, 1), (0, 0)]


def test_a_span_that_partly_overlaps_another_is_in_a_lane_of_its_own_until_that_is_over() -> None:
    assert lanes(spans((0, 10), (5, 15), (6, 8), (10, 12))) == [(0, 0), (1, 0), (0, 1), (0, 0)]
    assert [track("main", lane) for lane in (0, 1, 2)] == ["main", "main (2)", "main (3)"]


@given(EVENTS)
def test_spans_of_one_lane_lie_within_each_other_or_apart(events: list[Event]) -> None:
    by_lane: dict[tuple[str, int], list[Event]] = defaultdict(list)
    for event, (lane, _) in zip(events, lanes(events), strict=True):
        by_lane[event.thread, lane].append(event)
    for together in by_lane.values():
        for one, other in combinations(together, 2):
            apart = one.end <= other.begin or other.end <= one.begin
            within = (one.begin <= other.begin and other.end <= one.end) or (
                other.begin <= one.begin and one.end <= other.end
            )
            assert apart or within


@given(EVENTS)
def test_threads_whose_spans_never_partly_overlap_have_one_lane(events: list[Event]) -> None:
    inside = [Event("add", "operator", place, 40 - 2 * place, 1, event.thread) for place, event in enumerate(events)]
    assert {lane for lane, _ in lanes(inside)} <= {0}
    for thread in ("main", "other"):
        depths = [depth for event, (_, depth) in zip(inside, lanes(inside), strict=True) if event.thread == thread]
        assert depths == list(range(len(depths)))
