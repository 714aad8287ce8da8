"""Which part of a span its process ran."""

from __future__ import annotations

from dataclasses import replace

import pytest

from opperf.domain.profile.chrome import from_trace, to_trace
from opperf.domain.profile.columns import columns, table
from opperf.domain.profile.event import Event, Profile, Slice, Stretch, merge
from opperf.domain.profile.repetition import courses
from opperf.domain.profile.rows import PEAK, Processor, rows

CALL = Event("sqrt", "operator", 0, 10, 1, "main")


def share(begin: int, duration: int, *slices: Slice) -> float:
    return Processor(slices).share(replace(CALL, begin=begin, duration=duration))


def test_slices_that_overlap_add_up() -> None:
    waiting, running = Slice(0, 90, 1, 0, 90), Slice(80, 100, 1, 10, 0)
    assert share(0, 80, waiting, running) == 0.0
    assert share(80, 20, waiting, running) == 0.5
    assert share(95, 5, waiting, running) == 1.0


def test_a_moment_has_the_share_of_its_slice() -> None:
    assert share(50, 0, Slice(0, 100, 1, 25, 75)) == 0.25


@pytest.mark.parametrize("begin", [-500, 500])
def test_outside_of_all_slices_and_in_other_processes_nothing_is_known_to_have_waited(begin: int) -> None:
    assert share(begin, 10, Slice(0, 100, 1, 25, 75)) == 1.0
    assert share(0, 10, Slice(0, 100, 2, 25, 75)) == 1.0
    assert Processor([Slice(0, 100, 1, 25, 75)]).share(replace(CALL, device=7)) == 1.0


def disturbed() -> Profile:
    """A profile of which one call stood still for most of its time."""
    calls = [replace(CALL, begin=10 * i) for i in range(9)]
    long = replace(CALL, name="exp", begin=100, duration=900)
    return Profile((*calls, long), slices=(Slice(0, 100, 1, 100, 0), Slice(100, 1000, 1, 90, 810)))


def test_a_row_tells_what_of_its_time_its_process_waited() -> None:
    exp, sqrt = rows(disturbed())
    assert (exp.name, exp.disturbed, sqrt.disturbed) == ("exp", True, False)
    assert [exp.waited, sqrt.waited] == pytest.approx([810e-9, 0.0])
    assert [exp.share, exp.cpu_share, sqrt.cpu_share] == pytest.approx([900 / 990, 90 / 180, 90 / 180])


def test_where_nobody_counted_nothing_is_said() -> None:
    (row, _) = rows(replace(disturbed(), slices=()))
    assert (row.waited, row.cpu_share, row.disturbed) == (None, None, False)


def test_shares_of_the_cpu_stand_beside_those_of_time_where_they_differ() -> None:
    assert "CPU share" in table(disturbed())
    assert "disturbed" in table(disturbed())
    quiet = replace(disturbed(), slices=(Slice(0, 1000, 1, 1000, 0),))
    assert "CPU share" not in table(quiet)
    assert "CPU share" not in [column.title for column in columns("name", rows(quiet))]


def test_slices_are_written_and_read_with_the_profile() -> None:
    profile = merge([disturbed(), Profile(slices=(Slice(5, 6, 2, 1, 0),))])
    assert from_trace(to_trace(profile), "file") == profile


def test_the_times_that_were_watched_are_written_and_read_and_no_step_is_before_the_others_for_their_gaps() -> None:
    steps = [Event(f"step {i}", "step", begin, 10, 1, "main") for i, begin in enumerate((20, 1000))]
    spans = (Event("sqrt", "operator", 0, 5, 1, "main"), *steps)
    profile = Profile(spans, processes={1: {}}, stretches=(Stretch(-1, 30, 1), Stretch(1000, 1010, 1)))
    assert from_trace(to_trace(profile), "file") == profile
    (course,) = courses(profile)
    assert (course.initialisation, course.share) == (20e-9, 20 / 40)
    assert profile.watched(0, 1010, 2) == 1010  # a process of which nothing is known


def test_rates_stand_beside_the_peak_that_all_processes_share() -> None:
    call = replace(CALL, duration=1000, flops=10_000)
    (row,) = rows(Profile((call,), processes={1: {PEAK: 1e11}}))
    assert row.peak_share == pytest.approx(0.1)
    (row,) = rows(Profile((call,), processes={1: {PEAK: 1e11}, 2: {}}))
    assert row.peak_share is None
