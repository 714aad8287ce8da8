"""How far a comparison is, and how long the rest may take."""

from __future__ import annotations

import pytest

from opperf.domain.case import Case
from opperf.domain.plan import Side, Trial
from opperf.parent.documents.comparison import PairValue, Verdict
from opperf.parent.measuring import pace
from opperf.parent.measuring.contest import Contest
from opperf.parent.measuring.pace import LINE_EVERY, Pace


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


def test_each_pair_is_told_with_what_is_left_as_soon_as_a_pair_was_measured() -> None:
    lines: list[str] = []
    pace = Pace(lines.append)
    pace.begin([contest("add"), contest("exp")], 1, 5, again=False)
    pace.begin([contest("add", 2, seconds=4.0), contest("exp", 1, seconds=10.0)], 3, 5, again=False)
    pace.begin([contest("add", 5, 8, seconds=500.0)], 1, 3, again=True)
    assert lines == [
        "pair 1 of 5: 2 comparisons",
        "pair 3 of 5: 2 comparisons, up to about 46 s more",
        "confirming: pair 1 of 3: 1 comparison, up to about 5 min more",
    ]


def test_what_is_decided_takes_no_more_and_several_at_once_take_less() -> None:
    lines: list[str] = []
    open_one, decided = contest("add", 1, seconds=10.0), contest("exp", 1, seconds=10.0)
    decided.verdict = Verdict("same", 1.0, (0.99, 1.01), "", 1)
    Pace(lines.append, jobs=2).begin([open_one, decided], 2, 5, again=False)
    assert lines == ["pair 2 of 5: 2 comparisons, up to about 20 s more"]


def test_a_long_pair_is_told_of_now_and_then(clock: Clock) -> None:
    lines: list[str] = []
    several = [contest(f"op_{place}") for place in range(4)]
    pace = Pace(lines.append)
    pace.begin(several, 1, 5, again=False)
    for one in several:
        pace.next(one)
        one.stage1.append(PairValue(None, None, None))
        one.seconds += LINE_EVERY / 2
        clock.now += LINE_EVERY / 2
    assert lines[1:] == ["pair 1 of 5: 2 of 4 comparisons measured, now op_2 forward, up to about 90 s more"]
