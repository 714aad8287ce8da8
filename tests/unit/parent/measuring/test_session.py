"""A run from plan to records, with children that answer from a script: what is measured, kept and resumed."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opperf.domain.case import Case
from opperf.domain.errors import EnvironmentFailure, InputError
from opperf.domain.files.destination import write_text
from opperf.domain.measurement import Measurement, Outcome, Sample, Samples
from opperf.domain.node import Node
from opperf.domain.plan import Plan, Settings, Side, Trial
from opperf.domain.reason import Reason
from opperf.domain.record import Run
from opperf.parent.commands.load import read_results
from opperf.parent.measuring import session as module
from opperf.parent.measuring.progress import Silent
from opperf.parent.measuring.session import Interrupted, Options, Session
from opperf.parent.planning.selection import Selection
from opperf.parent.store.journal import journal_of, read_journal
from opperf.parent.workers import interpreters, machine
from opperf.parent.workers.interpreters import settled_side

SIDE = Side("null")
A, B, C = (Trial(Case(name), SIDE, "forward") for name in ("a", "b", "c"))
CRASH = Reason("crash", "it died")


class FakePool:
    """Children that answer from a script; `events` holds what was asked of all of them, `ahead` who started early."""

    events: list[Any]
    ahead: list[Trial]
    script: dict[tuple[str, int], Callable[[], Outcome | None]]

    def __init__(self, settings: Settings, progress: Callable[[str], None], plugins: Sequence[Path] = ()) -> None:
        self.facts: Mapping[Any, Any] = {}

    def close(self) -> None:
        self.events.append("close")

    def __exit__(self, *trouble: Any) -> None:
        self.events.append("exit")

    def begin(self, trial: Trial) -> None:
        self.ahead.append(trial)

    def check_devices(self, sides: Collection[Side]) -> None:
        """Find the CPU."""
        assert {side.device for side in sides} == {"cpu"}

    def measure(self, trial: Trial, process: int, *, is_last: bool) -> Outcome:
        name = trial.case.operator
        self.events.append((name, process))
        scripted = self.script.get((name, process), lambda: None)()
        return scripted or measured(trial, process)


def measured(trial: Trial, process: int) -> Outcome:
    """Return an outcome of one sample, as long as the process has a number."""
    sample = Sample(1, 1000 + process, 1000)
    return Outcome(trial, process, "ok", Measurement({"time": Samples((sample,))}, warnings=()), version="1")


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> type[FakePool]:
    """Scripted children in place of real ones, on a machine without facts."""
    FakePool.events, FakePool.ahead, FakePool.script = [], [], {}
    monkeypatch.setattr(module, "Pool", FakePool)
    monkeypatch.setattr(machine, "facts", dict)
    return FakePool


class Told(Silent):
    """Keeps what a run tells."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.total = -1
        self.done_: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def begin(self, total: int) -> None:
        self.total = total

    def done(self, outcome: Outcome) -> None:
        self.done_.append(outcome.trial.case.operator)


class Others:
    """Machines that measure all trials in one piece."""

    def __init__(self) -> None:
        self.nodes: dict[str, object] = {}
        self.frameworks: dict[str, Mapping[str, object]] = {}

    def outcomes(
        self, trials: Sequence[Trial], settings: Settings, done_on: Callable[[Trial], Collection[Node]]
    ) -> Iterator[Sequence[Outcome]]:
        yield [replace(measured(trial, 0), node=Node("other", "x86")) for trial in trials]


def run(
    *trials: Trial,
    told: Told | None = None,
    settings: Settings | None = None,
    elsewhere: Any = None,
    **options: Any,
) -> Run:
    """Run a plan of these trials."""
    chosen = settings or Settings()
    with Session(Selection(), chosen, told) as session:
        return session.run(Plan(trials, chosen), Options(**options), elsewhere)


def calls(pool: type[FakePool]) -> list[Any]:
    """Return which trials the children measured, in order."""
    return [event for event in pool.events if isinstance(event, tuple)]


def statuses(result: Run) -> dict[str, str]:
    """Return the status of each record."""
    return {record.trial.case.operator: record.status for record in result}


def raising(error: BaseException) -> Callable[[], Outcome]:
    """Return a script that raises."""

    def act() -> Outcome:
        raise error

    return act


def fails(trial: Trial, process: int) -> Callable[[], Outcome]:
    """Return a script that answers with a failure."""
    return lambda: Outcome(trial, process, "failed", reason=CRASH)


# Measuring -----------------------------------------------------------------------------------------------------------


def test_each_trial_has_a_record_in_the_order_of_the_plan(pool: type[FakePool]) -> None:
    result = run(B, A, C)
    assert [record.trial for record in result] == [B, A, C]
    assert statuses(result) == {"a": "ok", "b": "ok", "c": "ok"}


def test_the_child_of_the_first_trial_imports_while_the_facts_of_the_machine_are_read(
    pool: type[FakePool], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ahead_of_facts: list[list[Trial]] = []

    def facts() -> dict[str, object]:
        ahead_of_facts.append([*pool.ahead])
        return {}

    monkeypatch.setattr(machine, "facts", facts)
    run(B, A, output=tmp_path / "first.json")
    assert (ahead_of_facts[0], pool.ahead) == ([B], [B])
    run(A, resume=tmp_path / "first.json")  # there may be nothing left to measure
    assert pool.ahead == [B]


def test_all_trials_are_measured_in_one_process_then_all_in_the_next(pool: type[FakePool]) -> None:
    result = run(A, B, settings=Settings(processes=3))
    assert pool.events == [
        ("a", 0), ("b", 0), "close", ("a", 1), ("b", 1), "close", ("a", 2), ("b", 2), "close", "exit",
    ]  # fmt: skip
    assert [record.time.processes for record in result if record.time] == [3, 3]


def test_a_failure_does_not_end_the_run(pool: type[FakePool]) -> None:
    pool.script[("a", 0)] = fails(A, 0)
    assert statuses(run(A, B)) == {"a": "failed", "b": "ok"}


def test_a_trial_that_failed_is_not_measured_in_further_processes(pool: type[FakePool]) -> None:
    pool.script[("a", 0)] = fails(A, 0)
    result = run(A, B, settings=Settings(processes=3))
    assert calls(pool) == [("a", 0), ("b", 0), ("b", 1), ("b", 2)]
    assert statuses(result) == {"a": "failed", "b": "ok"}


def test_a_failure_in_a_later_process_is_that_of_the_rest(pool: type[FakePool], tmp_path: Path) -> None:
    pool.script[("a", 1)] = fails(A, 1)
    run(A, settings=Settings(processes=3), output=tmp_path / "run.json")
    kept = read_journal(tmp_path / "run.json.journal").outcomes
    assert [(outcome.process, outcome.status, outcome.reason) for outcome in kept] == [
        (0, "ok", None),
        (1, "failed", CRASH),
        (2, "failed", CRASH),
    ]


def test_progress_is_told_how_many_measurements_come_and_of_each(pool: type[FakePool]) -> None:
    told = Told()
    run(A, B, told=told, settings=Settings(processes=2))
    assert (told.total, told.done_) == (4, ["a", "b", "a", "b"])


def test_labels_command_and_settings_stand_on_the_run(pool: type[FakePool]) -> None:
    result = run(A, labels={"branch": "x"}, command=("opperf", "run", "a"), settings=Settings(runs=3))
    assert (result.labels, result.command, result.settings) == (
        {"branch": "x"},
        ("opperf", "run", "a"),
        Settings(runs=3),
    )


def test_raw_samples_are_dropped_on_request(pool: type[FakePool]) -> None:
    assert run(A, keep_samples=False).records[0].samples == {}
    assert run(A).records[0].samples != {}


def test_what_is_raised_by_opperf_itself_is_not_swallowed(pool: type[FakePool]) -> None:
    pool.script[("b", 0)] = raising(ZeroDivisionError())
    with pytest.raises(Interrupted) as caught:
        run(A, B)
    assert isinstance(caught.value.cause, ZeroDivisionError)
    assert [record.trial.case.operator for record in caught.value.run] == ["a"]
    assert pool.events[-1] == "exit"


# Budget --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock whose one item is the time; nothing else moves it."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def spending(seconds: list[float], each: float) -> Callable[[], None]:
    """Return a script that takes some seconds."""

    def act() -> None:
        seconds[0] += each

    return act


def test_trials_beyond_the_budget_are_skipped_with_a_reason(pool: type[FakePool], seconds: list[float]) -> None:
    pool.script = {(name, 0): spending(seconds, 6.0) for name in "abc"}
    result = run(A, B, C, settings=Settings(budget=10.0))
    assert calls(pool) == [("a", 0), ("b", 0)]
    assert statuses(result) == {"a": "ok", "b": "ok", "c": "skipped"}
    reason = result.records[2].reason
    assert reason is not None
    assert (reason.slug, "10 s" in reason.message) == ("budget", True)


def test_processes_beyond_the_budget_leave_the_first_ones_standing(pool: type[FakePool], seconds: list[float]) -> None:
    pool.script = {("a", process): spending(seconds, 6.0) for process in range(3)}
    result = run(A, settings=Settings(budget=10.0, processes=3))
    assert result.records[0].time is not None
    assert result.records[0].time.processes == 2


def test_what_the_budget_cut_off_is_measured_on_resume(
    pool: type[FakePool], seconds: list[float], tmp_path: Path
) -> None:
    output = tmp_path / "run.json"
    pool.script = {("a", 0): spending(seconds, 20.0)}
    settings = Settings(budget=10.0, processes=3)
    run(A, B, settings=settings, output=output)
    pool.events.clear()
    result = run(A, B, settings=settings, output=output, resume=output)
    assert calls(pool) == [("b", 0), ("a", 1), ("b", 1), ("a", 2), ("b", 2)]
    assert [record.time.processes for record in result if record.time] == [3, 3]


# Journal and interruption --------------------------------------------------------------------------------------------


def test_each_outcome_is_in_the_journal_before_the_next_trial(pool: type[FakePool], tmp_path: Path) -> None:
    output = tmp_path / "run.json"
    seen: list[int] = []

    def look() -> None:
        seen.append(len(read_journal(journal_of(output)).outcomes))

    pool.script = {(name, 0): look for name in "abc"}
    run(A, B, C, output=output)
    assert seen == [0, 1, 2]


def test_a_run_without_output_leaves_no_journal(
    pool: type[FakePool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run(A)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit(143)])
def test_an_interrupted_run_keeps_every_finished_record(
    stop: BaseException, pool: type[FakePool], tmp_path: Path
) -> None:
    pool.script[("b", 0)] = raising(stop)
    with pytest.raises(Interrupted) as caught:
        run(A, B, C, output=tmp_path / "run.json")
    assert statuses(caught.value.run) == {"a": "ok"}
    assert caught.value.cause is stop
    assert len(read_journal(tmp_path / "run.json.journal").outcomes) == 1


@pytest.mark.parametrize("elsewhere", [None, Others()], ids=["here", "elsewhere"])
def test_a_run_that_is_stopped_while_its_journal_is_written_has_the_records_of_that(
    elsewhere: Any, pool: type[FakePool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = journal_of(tmp_path / "run.json")
    sync = os.fsync

    def stop(descriptor: int) -> None:
        sync(descriptor)
        if journal.exists() and read_journal(journal).outcomes:
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", stop)
    with pytest.raises(Interrupted) as caught:
        run(A, B, elsewhere=elsewhere, output=tmp_path / "run.json")
    kept = read_journal(journal).outcomes
    assert [record.trial for record in caught.value.run] == [outcome.trial for outcome in kept] != []


def test_a_journal_that_nobody_asked_to_resume_is_set_aside(pool: type[FakePool], tmp_path: Path) -> None:
    output = tmp_path / "run.json"
    run(A, output=output)
    earlier = journal_of(output).read_bytes()
    told = Told()
    run(B, told=told, output=output)
    (aside,) = (path for path in tmp_path.iterdir() if path.name.startswith("run.json.journal."))
    assert aside.read_bytes() == earlier
    assert aside.name in told.notes[0]
    assert [outcome.trial for outcome in read_journal(journal_of(output)).outcomes] == [B]


def test_a_journal_of_another_run_than_the_one_resumed_is_set_aside(pool: type[FakePool], tmp_path: Path) -> None:
    run(A, output=tmp_path / "one.json")
    run(B, output=tmp_path / "two.json")
    kept = journal_of(tmp_path / "two.json").read_bytes()
    run(A, C, resume=tmp_path / "one.json", output=tmp_path / "two.json")
    (aside,) = (path for path in tmp_path.iterdir() if path.name.startswith("two.json.journal."))
    assert aside.read_bytes() == kept


def test_the_journal_of_an_interrupted_run_is_shown_as_results(pool: type[FakePool], tmp_path: Path) -> None:
    pool.script[("b", 1)] = raising(KeyboardInterrupt())
    with pytest.raises(Interrupted) as caught:
        run(A, B, settings=Settings(processes=2), output=tmp_path / "run.json")
    shown = read_results(tmp_path / "run.json.journal")
    assert shown.records == caught.value.run.records


# Resuming ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def stopped(pool: type[FakePool], tmp_path: Path) -> Path:
    """Where a run of a, b and c in two processes was to go that was interrupted at b in the second one."""
    output = tmp_path / "run.json"
    pool.script[("b", 1)] = raising(KeyboardInterrupt())
    with pytest.raises(Interrupted):
        run(A, B, C, settings=Settings(processes=2), output=output, labels={"first": "1"})
    pool.events.clear()
    pool.script.clear()
    return output


def test_a_resumed_run_measures_what_is_missing(stopped: Path, pool: type[FakePool]) -> None:
    result = run(A, B, C, settings=Settings(processes=2), resume=stopped, output=stopped)
    assert calls(pool) == [("b", 1), ("c", 1)]
    assert [record.time.processes for record in result if record.time] == [2, 2, 2]


def test_a_resumed_run_is_the_run_that_it_goes_on_with(stopped: Path, pool: type[FakePool]) -> None:
    earlier = read_journal(journal_of(stopped)).run
    result = run(A, B, C, settings=Settings(processes=2), resume=stopped, labels={"second": "2"})
    assert (result.id, result.started) == (earlier.id, earlier.started)
    assert result.labels == {"first": "1", "second": "2"}


def test_a_resumed_journal_holds_old_and_new_outcomes(stopped: Path, pool: type[FakePool]) -> None:
    run(A, B, C, settings=Settings(processes=2), resume=stopped, output=stopped)
    kept = read_journal(journal_of(stopped)).outcomes
    assert {(outcome.trial.case.operator, outcome.process) for outcome in kept} == {
        (name, process) for name in "abc" for process in (0, 1)
    }
    assert len(kept) == 6


def test_resuming_into_another_file_leaves_the_first_journal(stopped: Path, pool: type[FakePool]) -> None:
    before = journal_of(stopped).read_bytes()
    other = stopped.with_name("other.json")
    run(A, B, C, settings=Settings(processes=2), resume=stopped, output=other)
    assert journal_of(stopped).read_bytes() == before
    assert len(read_journal(journal_of(other)).outcomes) == 6


@pytest.mark.usefixtures("stopped", "pool")
@pytest.mark.parametrize("changes", [{"seed": 1}, {"runs": 5}, {"processes": 3}, {"cache": "cold"}])
def test_differing_settings_are_refused_by_name(changes: dict[str, Any], stopped: Path) -> None:
    settings = replace(Settings(processes=2), **changes)
    with pytest.raises(InputError, match=next(iter(changes))) as caught:
        run(A, B, C, settings=settings, resume=stopped, output=stopped)
    assert caught.value.slug == "other_settings"


def test_a_refused_resume_leaves_the_journal_as_it_was(stopped: Path, pool: type[FakePool]) -> None:
    before = journal_of(stopped).read_bytes()
    with pytest.raises(InputError):
        run(A, settings=Settings(seed=9), resume=stopped, output=stopped)
    assert journal_of(stopped).read_bytes() == before
    assert calls(pool) == []


def test_settings_that_only_bound_a_run_may_differ(stopped: Path, pool: type[FakePool]) -> None:
    run(A, B, C, settings=Settings(processes=2, timeout=5, budget=50), resume=stopped)
    assert calls(pool) == [("b", 1), ("c", 1)]


@pytest.fixture
def finished(pool: type[FakePool], tmp_path: Path) -> Path:
    """A result file of a, measured, and b, skipped for want of time."""
    skipped = Reason("budget", "no time left")
    pool.script[("b", 0)] = lambda: Outcome(B, 0, "skipped", reason=skipped)
    path = tmp_path / "run.json"
    write_text(path, json.dumps(run(A, B).to_json()))
    pool.events.clear()
    pool.script.clear()
    return path


def test_a_result_file_is_resumed_too(finished: Path, pool: type[FakePool]) -> None:
    result = run(A, B, C, resume=finished, output=finished)
    assert calls(pool) == [("b", 0), ("c", 0)]
    assert statuses(result) == {"a": "ok", "b": "ok", "c": "ok"}


def test_records_of_a_result_file_survive_an_interrupted_resume(finished: Path, pool: type[FakePool]) -> None:
    pool.script[("c", 0)] = raising(KeyboardInterrupt())
    with pytest.raises(Interrupted):
        run(A, B, C, resume=finished, output=finished)
    pool.events.clear()
    pool.script.clear()
    result = run(A, B, C, resume=finished, output=finished)
    assert calls(pool) == [("c", 0)]
    assert statuses(result) == {"a": "ok", "b": "ok", "c": "ok"}


def test_records_beyond_the_plan_are_kept(finished: Path, pool: type[FakePool]) -> None:
    result = run(C, resume=finished)
    assert [record.trial for record in result] == [C, A]


def test_a_failed_trial_is_not_tried_again_on_resume(pool: type[FakePool], tmp_path: Path) -> None:
    output = tmp_path / "run.json"
    pool.script[("a", 0)] = fails(A, 0)
    run(A, output=output)
    pool.events.clear()
    assert statuses(run(A, B, resume=output, output=output)) == {"a": "failed", "b": "ok"}
    assert calls(pool) == [("b", 0)]


@pytest.mark.usefixtures("pool")
def test_there_is_nothing_to_resume_where_no_file_lies(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="do not exist") as caught:
        run(A, resume=tmp_path / "run.json")
    assert caught.value.hint == "leave out `--resume` to start a new run"


def test_the_current_environment_is_another_only_where_nobody_named_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreters, "imports_here", lambda name: name == "numpy")
    assert settled_side(Side("torch")).environment == "torch"
    assert settled_side(Side("numpy"), explicit=True).environment == "current"
    with pytest.raises(EnvironmentFailure, match="which cannot import torch") as caught:
        settled_side(Side("torch"), explicit=True)
    assert "leave `--environment` out" in str(caught.value.hint)
    with pytest.raises(EnvironmentFailure, match="`--environment current`"):
        Session(Selection(frameworks=("torch",), environments=("current",)), Settings()).sides()
