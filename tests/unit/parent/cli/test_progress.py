"""What is told while a command plans, and when planning is stopped."""

from __future__ import annotations

import sys
from typing import cast

import pytest

from opperf.domain.case import Case
from opperf.domain.measurement import Outcome
from opperf.domain.plan import Side, Trial
from opperf.parent.cli import progress
from opperf.parent.cli.progress import Bar
from opperf.parent.measuring.progress import LINE_EVERY, planning


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of every bar."""
    own = Clock()
    monkeypatch.setattr(progress, "time", own)
    return own


def test_planning_is_told_at_once_and_then_now_and_again(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    bar = Bar()
    for count in range(4):
        bar.plan("torch", count, 3 if count else 0)
        clock.now += LINE_EVERY / 2
    assert capsys.readouterr().err.splitlines() == [
        "planning: listing the operators of torch",
        "planning: asked torch for the cases of 2 of 3 operators",
    ]


def test_work_that_measures_nothing_says_how_far_it_is_and_how_long_the_rest_takes(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    bar = Bar()
    for count in range(4):
        bar.step("importing files", count, 10)
        clock.now += LINE_EVERY / 2
    assert capsys.readouterr().err == "importing files: 2 of 10, about 40 s left\n"


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit(143)])
def test_planning_that_is_stopped_says_so_and_is_stopped(
    stop: BaseException, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(type(stop)) as left, planning(Bar()):
        raise stop
    assert left.value is stop
    assert capsys.readouterr().err == "stopped while planning: nothing was measured\n"


def test_the_time_left_of_a_run_is_without_the_start_of_its_child(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    bar, trial = Bar(), Trial(Case("add"), Side("null"), "forward")
    bar.begin(5)
    clock.now += 100.0  # the child starts
    for _ in range(3):
        bar.next(trial)
        clock.now += LINE_EVERY
        bar.done(cast(Outcome, None))
    bar.next(trial)
    assert capsys.readouterr().err.splitlines() == [
        "0/5 measured; now add null forward",
        "1/5 measured; now add null forward",
        "2/5 measured, about 30 s left; now add null forward",
        "3/5 measured, about 20 s left; now add null forward",
    ]


def test_a_comparison_has_a_bar_on_a_terminal_with_the_pairs_and_the_time_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "100")
    bar = Bar()
    assert bar.compare("pair 3 of 5: add forward", 6, 13, "up to about 46 s")
    bar.note("a note goes above it")
    bar.close()
    shown = capsys.readouterr().err
    assert "pair 3 of 5: add forward" in shown
    assert "6/13" in shown
    assert "up to about 46 s" in shown
    assert "a note goes above it" in shown


def test_a_comparison_without_a_terminal_is_told_in_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert not Bar().compare("pair 3 of 5: add forward", 6, 13, "up to about 46 s")
    assert capsys.readouterr().err == ""
