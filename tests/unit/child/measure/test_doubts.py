"""Which samples call for which warning."""

from __future__ import annotations

import resource
from collections.abc import Collection

import pytest
from tests.each import each

from opperf.child.measure.doubts import doubts, thread_doubts
from opperf.domain.measurement import Sample, Samples

PAGE = resource.getpagesize()


def samples(times: list[int], *, faults: int = 0, calls: int = 1, dirty: Collection[int] = ()) -> Samples:
    """Return samples of these nanoseconds; those at the places in `dirty` are disturbed."""
    return Samples(
        tuple(
            Sample(calls, time * calls, time * calls, faults=faults, clean=i not in dirty)
            for i, time in enumerate(times)
        )
    )


def slugs(result: Samples, output_bytes: int = 0) -> list[str]:
    """Return what is doubted."""
    return [doubt.slug for doubt in doubts(result, output_bytes)]


def test_steady_samples_are_not_doubted() -> None:
    assert slugs(samples([1000, 1001, 999] * 10)) == []


@pytest.mark.parametrize(("last", "doubted"), [(1040, []), (1060, ["drifting"]), (960, []), (940, ["getting_faster"])])
def test_a_last_third_that_differs_by_more_than_five_percent_has_drifted_or_got_faster(
    last: int, doubted: list[str]
) -> None:
    assert slugs(samples([1000] * 10 + [(1000 + last) // 2] * 10 + [last] * 10)) == doubted


def test_drift_says_by_how_much() -> None:
    (doubt,) = doubts(samples([1000] * 10 + [1050] * 10 + [1100] * 10), 0)
    assert "1.10 times" in doubt.message
    assert doubt.hint


def test_few_samples_say_nothing_of_drift_or_modes() -> None:
    assert slugs(samples([1000] * 10 + [2000] * 9)) == []


@pytest.mark.parametrize(("upper", "doubted"), [(1050, False), (1300, True)])
def test_two_groups_far_apart_are_two_modes(upper: int, doubted: bool) -> None:
    assert (slugs(samples([1000, upper] * 15)) == ["two_modes"]) is doubted


@pytest.mark.parametrize(("few", "doubted"), [(7, True), (3, False)])
def test_a_mode_holds_a_fifth_of_the_samples(few: int, doubted: bool) -> None:
    # The slow ones are spread evenly, or they would be a drift.
    times = [1300 if i % (30 // few) == 0 and i // (30 // few) < few else 1000 for i in range(30)]
    assert times.count(1300) == few
    assert (slugs(samples(times)) == ["two_modes"]) is doubted


def test_modes_are_told_in_a_unit_of_their_size() -> None:
    (warning,) = doubts(samples([1000, 2000] * 15), 0)
    assert warning.message == "the times fall into two groups, below 1.00 us and above 2.00 us"


def test_outliers_are_no_mode() -> None:
    times = [1000] * 40
    times[7] = times[19] = times[33] = 9000
    assert slugs(samples(times)) == []


def test_disturbed_samples_are_no_mode() -> None:
    times = [1000, 3000] * 20
    assert slugs(samples(times, dirty=set(range(1, 40, 2)))) == []


@pytest.mark.parametrize(("faults", "doubted"), [(50, False), (51, True)])
def test_faults_on_more_than_a_tenth_of_the_output_are_doubted(faults: int, doubted: bool) -> None:
    # Five calls a sample, an output of 100 pages: 50 faults are ten a call.
    result = samples([1000] * 10, faults=faults, calls=5)
    assert (slugs(result, output_bytes=100 * PAGE) == ["page_faults"]) is doubted


def test_an_output_under_a_page_is_not_doubted() -> None:
    assert slugs(samples([1000] * 10, faults=3), output_bytes=PAGE - 1) == []


def test_less_than_a_fault_a_call_is_not_doubted() -> None:
    assert slugs(samples([1000] * 10, faults=4, calls=5), output_bytes=PAGE) == []
    assert slugs(samples([1000] * 10, faults=5, calls=5), output_bytes=PAGE) == ["page_faults"]


def test_faults_of_disturbed_samples_are_left_out() -> None:
    quiet, busy = samples([1000] * 5), samples([1000] * 20, faults=1000, dirty=set(range(20)))
    assert slugs(Samples(quiet.samples + busy.samples), output_bytes=100 * PAGE) == []


def test_faults_are_looked_at_where_every_sample_is_disturbed() -> None:
    assert slugs(samples([1000] * 10, faults=50, dirty=set(range(10))), output_bytes=100 * PAGE) == ["page_faults"]


@each(
    ("asked", "seen", "doubted"),
    [(1, None, False), (1, 1.0, False), (1, 1.3, False), (1, 1.9, True), (4, 4.2, False), (4, 8.0, True)],
)
def test_more_cpus_at_work_than_asked_for_are_doubted(asked: int, seen: float | None, doubted: bool) -> None:
    assert ([doubt.slug for doubt in thread_doubts(asked, seen, 8)] == ["threads_not_honoured"]) is doubted


@each(("asked", "seen", "doubted"), [(2, 2.0, False), (3, 2.0, True), (64, 2.0, True), (64, None, False)])
def test_more_threads_than_cpus_are_doubted(asked: int, seen: float | None, doubted: bool) -> None:
    assert ([doubt.slug for doubt in thread_doubts(asked, seen, 2)] == ["too_many_threads"]) is doubted
