"""What a candidate's process says of what ran is cut to what people read."""

from __future__ import annotations

from opperf.domain.explanation import Event, Explanation
from opperf.parent.measuring.judge.what_ran import LONGEST_NAME, MOST_NAMES, shortened


def test_each_name_stands_once_in_the_order_of_the_call() -> None:
    said = Explanation((Event("b", "operator", 1, 1.0), Event("a", "operator", 1, 5.0), Event("b", "operator", 1, 2.0)))
    assert [(one.name, one.calls, one.seconds) for one in shortened(said).events] == [("b", 2, 3.0), ("a", 1, 5.0)]
    assert shortened(said).notes == ()


def test_of_many_names_those_with_most_time_are_told_and_long_ones_are_cut() -> None:
    events = [Event(f"{i}{'x' * 1000}", "operator", 1, float(i)) for i in range(100)]
    short = shortened(Explanation(tuple(events), ("y" * 1000,) * 100))
    assert [one.seconds for one in short.events] == [float(i) for i in range(100 - MOST_NAMES, 100)]
    assert short.notes[0] == f"{100 - MOST_NAMES} more names ran"
    assert len(short.notes) == MOST_NAMES + 1
    assert max(len(text) for text in (*short.notes, *(one.name for one in short.events))) == LONGEST_NAME
