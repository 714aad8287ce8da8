"""How far a comparison is, and how long the rest may take."""

from __future__ import annotations

import math

import pytest

from opperf.domain.case import Case
from opperf.domain.plan import Side, Trial
from opperf.parent.documents.comparison import PairValue, Verdict
from opperf.parent.measuring import pace
from opperf.parent.measuring.contest import Contest
from opperf.parent.measuring.pace import Pace, first_answer
from opperf.parent.measuring.progress import LINE_EVERY, Silent


class Clock:
    """Time that passes when it is told to."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of every pace."""
    own = Clock()
    monkeypatch.setattr(pace, "time", own)
    return own


def contest(name: str, pairs: int = 0, planned: int = 5, seconds: float = 0.0) -> Contest:
    """Return a contest that has some pairs of those that are planned."""
    trial = Trial(Case(name), Side("null"), "forward")
    values = [PairValue(None, None, None)] * pairs
    return Contest(trial, trial, trial, stage1=values, planned=planned, seconds=seconds)


def pace_of(lines: list[str], *contests: Contest) -> Pace:
    """Return the pace of contests, which says its lines there."""
    pace = Pace(lines.append)
    pace.contests = contests
    return pace


def test_each_pair_is_told_with_what_is_left_as_soon_as_a_pair_was_measured() -> None:
    lines: list[str] = []
    pace = pace_of(lines, contest("add"), contest("exp"))
    pace.begin(pace.contests, 1, 5, again=False)
    pace.contests = [contest("add", 2, seconds=4.0), contest("exp", 1, seconds=10.0)]
    pace.begin(pace.contests, 3, 5, again=False)
    pace.contests = [contest("add", 5, 8, seconds=500.0)]
    pace.begin(pace.contests, 1, 3, again=True)
    assert lines == [
        "pair 1 of 5: 2 comparisons",
        "pair 3 of 5: 2 comparisons, about 36 s to pair 5, up to 46 s more",
        "confirming: pair 1 of 3: 1 comparison, up to about 5 min more",
    ]


def test_what_is_decided_takes_no_more_and_several_at_once_take_less() -> None:
    lines: list[str] = []
    open_one, decided = contest("add", 1, seconds=10.0), contest("exp", 1, seconds=10.0)
    decided.verdict = Verdict("same", 1.0, (0.99, 1.01), "", 1)
    pace = pace_of(lines, open_one, decided)
    pace.jobs = 2
    pace.begin(pace.contests, 2, 5, again=False)
    assert lines == ["pair 2 of 5: 2 comparisons, up to about 20 s more"]


def test_a_long_pair_is_told_of_now_and_then(clock: Clock) -> None:
    lines: list[str] = []
    several = [contest(f"op_{place}") for place in range(4)]
    pace = pace_of(lines, *several)
    pace.begin(several, 1, 5, again=False)
    for one in several:
        pace.next(one)
        one.stage1.append(PairValue(None, None, None))
        one.seconds += LINE_EVERY / 2
        clock.now += LINE_EVERY / 2
    assert lines[1:] == ["pair 1 of 5: 2 of 4 comparisons measured, now op_2 forward, up to about 90 s more"]


class Shown(Silent):
    """Progress with a bar, which notes what that shows."""

    def __init__(self) -> None:
        self.states: list[tuple[str, int, int, str]] = []

    def compare(self, what: str, count: int, total: int, left: str) -> bool:
        self.states.append((what, count, total, left))
        return True


def test_a_bar_counts_the_pairs_of_all_comparisons_and_takes_the_place_of_lines(clock: Clock) -> None:
    lines: list[str] = []
    decided, waits = contest("exp", 3, seconds=6.0), contest("tanh", 1, seconds=10.0)
    decided.verdict = Verdict("same", 1.0, (0.99, 1.01), "", 3)
    pace, progress = pace_of(lines, contest("add", 2, seconds=4.0), decided, waits), Shown()
    pace.progress = progress
    pace.begin([pace.contests[0]], 3, 5, again=False)
    clock.now += 2 * LINE_EVERY
    pace.next(pace.contests[0])
    assert progress.states == [
        ("pair 3 of 5: 1 comparison", 6, 13, "about 6 s to pair 5, up to 46 s"),
        ("pair 3 of 5: add forward", 6, 13, "about 6 s to pair 5, up to 46 s"),
    ]
    assert lines == []


def test_no_time_is_said_while_only_the_first_was_measured_which_pays_for_the_start() -> None:
    lines: list[str] = []
    pace = pace_of(lines, contest("add", 1, planned=8, seconds=90.0), contest("exp", planned=8))
    pace.begin(pace.contests, 1, 3, again=False)
    pace.contests = [pace.contests[0], contest("exp", 1, planned=8, seconds=2.0)]
    pace.begin(pace.contests, 2, 3, again=False)
    assert lines == [
        "pair 1 of 3: 2 comparisons",
        "pair 2 of 3: 2 comparisons, about 3 min to pair 3, up to 11 min more",
    ]


def test_many_comparisons_have_a_first_answer_that_names_the_largest_differences() -> None:
    def far(name: str, ratio: float) -> Contest:
        one = contest(name)
        one.stage1 += [PairValue(math.log(ratio), None, None)] * 3
        return one

    several = [far("add", 1.01) for _ in range(18)] + [far("exp", 1.3), far("sort", 0.5)]
    assert first_answer(several[:19], lambda _: 0.05) is None
    assert first_answer(several, lambda _: 0.05) == (
        "not confirmed yet: 2 of 20 comparisons beyond the tolerance, the most: sort 0.50, exp 1.30"
    )
    assert first_answer(several, lambda _: 1.0) == "not confirmed yet: 0 of 20 comparisons beyond the tolerance"
