"""The order of trials in processes, and which children measure them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from opperf.domain.case import Case
from opperf.domain.measurement import Outcome
from opperf.domain.plan import Settings, Side, Trial
from opperf.parent.measuring.processes import in_processes, lasts, one_by_one, out_of_time, seconds

A, B = (Trial(Case(name), Side("null"), "forward") for name in ("a", "b"))


class Pool:
    """Keeps when its children are ended."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def close(self) -> None:
        self.events.append("fresh children")


def events(*ahead: tuple[Trial, int]) -> list[str]:
    """Return what happens when these are measured."""
    pool: Any = Pool()

    def measure(pool: Any, trial: Trial, process: int) -> Outcome:
        pool.events.append(f"{trial.case.operator}{process}")
        return out_of_time(trial, process, "0 s")

    assert [(one.trial, one.process) for one in one_by_one(ahead, pool, measure)] == [*ahead]
    return list(pool.events)


def test_all_trials_are_measured_in_one_process_then_all_in_the_next_of_fresh_children() -> None:
    ahead = in_processes([A, B], Settings(processes=2))
    assert events(*ahead) == ["a0", "b0", "fresh children", "a1", "b1"]


def test_children_that_are_there_serve_the_first_process_alone() -> None:
    assert events((B, 0)) == ["b0"]
    assert events((B, 1), (A, 2)) == ["fresh children", "b1", "fresh children", "a2"]


def test_a_trial_is_the_last_of_its_child_where_another_side_or_process_follows() -> None:
    elsewhere = replace(A, side=Side("null", threads=2))
    last = lasts([(A, 0), (B, 0), (elsewhere, 0), (A, 1), (B, 1)])
    assert last == {(B.key, 0), (elsewhere.key, 0), (B.key, 1)}


def test_a_trial_takes_as_long_in_each_of_its_processes() -> None:
    assert seconds(Settings(processes=3)) == 3 * seconds(Settings(processes=1))


def test_what_no_time_is_left_for_is_skipped_with_the_budget_that_ran_out() -> None:
    outcome = out_of_time(A, 2, "5 s")
    assert (outcome.status, outcome.process) == ("skipped", 2)
    assert outcome.reason is not None
    assert (outcome.reason.slug, outcome.reason.message) == (
        "budget",
        "the budget of 5 s ran out before this trial",
    )
