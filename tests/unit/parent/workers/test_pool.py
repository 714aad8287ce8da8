"""Why no child of a side can be had, and what may help; and how long the children of a pool live."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from opperf.catalog import operator
from opperf.domain.errors import InputError, OperatorFailure, WorkerFailure
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Reason
from opperf.parent.workers import pool
from opperf.parent.workers.pool import Pool, _start_failure


@pytest.mark.parametrize("environment", ["current", "torch", "torch==2.6.0"])
def test_a_framework_that_does_not_start_is_never_sent_to_the_environment_that_it_is_in(environment: str) -> None:
    said = _start_failure(Side("torch", environment), OperatorFailure(Reason("operator_error", "no libtorch")))
    assert (said.slug, "no libtorch" in said.message) == ("import_failed", True)
    assert said.hint is not None
    assert ("try `--environment torch`" in said.hint) == (environment != "torch")


def test_a_framework_of_a_plugin_that_does_not_start_sends_to_the_plugin() -> None:
    said = _start_failure(Side("of_a_plugin", "of_a_plugin"), OperatorFailure(Reason("operator_error", "no `start`")))
    assert said.hint == "fix `start` in the plugin for `of_a_plugin`; the traceback is in the JSON document"


def test_a_device_that_is_not_there_is_the_reason_and_no_environment_is_blamed() -> None:
    failed = OperatorFailure(Reason("no_such_device", "NumPy computes on the CPU only"))
    said = _start_failure(Side("numpy", "numpy", "cuda:0"), failed)
    assert said.slug == "no_device"
    assert said.hint == (
        "measure on the CPU, or give an environment whose numpy has `cuda:0`, as `--environment python=PATH`"
    )


class Child:
    """A child that notes how it is ended, and is asked nothing."""

    alive, side, devices = True, Side("null"), ("cuda:0", "cpu")

    def __init__(self) -> None:
        self.facts: dict[str, object] = {}
        self.ends: list[str] = []
        self.greeted = 0

    def greet(self) -> None:
        self.greeted += 1

    def close(self) -> None:
        self.ends.append("closed")

    def kill(self) -> None:
        self.ends.append("killed")


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[Child]:
    """The children that a pool starts, none of which is a process."""
    started: list[Child] = []

    def start(*_: object, **__: object) -> Any:
        started.append(Child())
        return started[-1], Path()

    monkeypatch.setattr(pool, "start", start)
    return started


def test_a_child_may_leave_by_itself_when_all_is_done(children: list[Child]) -> None:
    with Pool(Settings(), print) as own:
        own.worker(Side("null"))
    assert [child.ends for child in children] == [["closed"]]


def test_a_child_is_killed_when_its_pool_is_left_by_an_error(children: list[Child]) -> None:
    own = Pool(Settings(), print)
    own.worker(Side("null"))
    with pytest.raises(KeyboardInterrupt), own:
        raise KeyboardInterrupt
    assert [child.ends for child in children] == [["killed"]]


def test_a_child_that_starts_ahead_is_waited_for_when_it_is_needed_and_once(children: list[Child]) -> None:
    own, trial = Pool(Settings(), print), Trial(operator("add").case("small"), Side("null"), "forward")
    own.begin(trial)
    assert [child.greeted for child in children] == [0]
    assert own.facts == {}
    assert [id(own.worker(trial.side)) for _ in range(2)] == [id(children[0])] * 2
    assert [child.greeted for child in children] == [1]
    assert [facts.framework for facts in own.facts.values()] == ["null"]


def test_a_child_that_nobody_needs_any_more_while_it_imports_is_killed(children: list[Child]) -> None:
    own = Pool(Settings(), print)
    own.begin(Trial(operator("add").case("small"), Side("null"), "forward"))
    own.worker(Side("null", threads=2))
    own.close()
    assert [(child.greeted, child.ends) for child in children] == [(0, ["killed"]), (1, ["closed"])]


def test_what_keeps_a_child_from_starting_ahead_is_the_outcome_of_its_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    starts = []

    def start(side: Side, *_: object, **__: object) -> Any:
        starts.append(side)
        raise WorkerFailure("no such Python", slug="spawn")

    monkeypatch.setattr(pool, "start", start)
    own, trial = Pool(Settings(), print), Trial(operator("add").case("small"), Side("null"), "forward")
    own.begin(trial)
    outcome = own.measure(trial, 0)
    assert outcome.reason is not None
    assert (outcome.status, outcome.reason.slug, len(starts)) == ("failed", "spawn", 1)


@pytest.mark.parametrize(
    ("devices", "message"),
    [
        (("xpu:0", "npu:0"), "`null` in environment `current` cannot be used: no xpu:0; `null` in environment"),
        (("xpu:0", "cuda:0", "npu:0"), None),
        (("xpu:0", "cpu"), None),
        ((), None),
    ],
)
def test_only_where_no_side_finds_its_device_nothing_can_be_measured_and_each_is_asked_once(
    devices: tuple[str, ...], message: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = []

    def start(side: Side, *_: object, **__: object) -> tuple[Child, Path]:
        starts.append(side.device)
        if side.device != "cuda:0":
            raise OperatorFailure(Reason("no_device", f"no {side.device}"))
        return Child(), Path("python")

    monkeypatch.setattr(pool, "start", start)
    sides = [Side("null", device=device) for device in devices]
    with Pool(Settings(), print) as own:
        if message is None:
            own.check_devices(sides)
        else:
            with pytest.raises(InputError, match=re.escape(message)):
                own.check_devices(sides)
        if sides:
            outcome = own.measure(Trial(operator("add").case("small"), sides[0], "forward"), 0)
            assert (outcome.status, outcome.reason is not None) == ("failed", True)
    assert starts == list(devices[:2] if "cpu" not in devices else devices[:1])


@pytest.mark.parametrize(("has_gpu", "asked"), [(True, ["auto"]), (False, ["auto", "cpu"])])
def test_a_gpu_is_looked_for_by_a_child_that_may_see_one(
    has_gpu: bool, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    devices = []

    def begin(side: Side, *_: object, **__: object) -> tuple[Child, Path]:
        devices.append(side.device)
        if side.device != "cpu" and not has_gpu:
            raise WorkerFailure("no such device", slug="no_device")
        return Child(), Path("python")

    monkeypatch.setattr(pool, "start", begin)
    with Pool(Settings(), print) as one:
        one.looking_worker(Side("null"))
    assert devices == asked
