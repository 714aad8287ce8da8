"""What ran in a call: alike events together, and the typical one of several calls."""

from __future__ import annotations

from opperf.domain.explanation import Event, Explanation, together, typical


def one(seconds: float | None, calls: float = 1, by: str | None = None) -> Event:
    """Return an event of that time."""
    return Event("mm", "operator", calls, seconds, by)


def test_an_explanation_is_read_back_as_it_was_written() -> None:
    told = Explanation((one(1e-3, by="mkl"), one(None)), ("BLAS mkl",))
    assert Explanation.from_json(told.to_json()) == told


def test_keys_of_later_versions_are_passed_over() -> None:
    assert Event.from_json({**one(1.0).to_json(), "device": 0}) == one(1.0)


def test_implementations_of_one_name_stay_apart() -> None:
    assert together([one(1.0, by="a"), one(2.0, by="b"), one(3.0, by="a")]) == [one(4.0, 2, "a"), one(2.0, by="b")]


def test_a_sum_with_an_unknown_time_is_unknown() -> None:
    assert together([one(1.0), one(None)]) == [one(None, 2)]


def test_the_typical_time_of_an_event_is_its_median_over_calls() -> None:
    calls = [Explanation((one(seconds),)) for seconds in (1.0, 50.0, 2.0)]
    assert typical(calls).events == (one(2.0),)


def test_what_runs_twice_in_a_call_has_both_times_in_it() -> None:
    assert typical([Explanation((one(1.0), one(2.0)))] * 3).events == (one(3.0, 2),)


def test_what_runs_in_one_call_of_two_counts_half() -> None:
    (event,) = typical([Explanation((one(1.0),)), Explanation(())]).events
    assert event == one(0.5, 0.5)


def test_notes_are_those_of_the_first_call() -> None:
    assert typical([Explanation((), ("a",)), Explanation((), ("a",))]).notes == ("a",)
