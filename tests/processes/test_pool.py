"""The children of a run: kept while they serve, replaced when they are lost, one for each side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import psutil
import pytest

from opperf.domain.errors import OperatorFailure, WorkerFailure
from opperf.domain.measurement import Outcome
from opperf.domain.message.replies import Discovery, Failure, Remainder
from opperf.domain.message.requests import Release, Request
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Reason
from opperf.parent.workers.pool import MOST_HELD, Pool
from opperf.parent.workers.process import Worker

Make: TypeAlias = Callable[..., Trial]

pytestmark = pytest.mark.usefixtures("graceful")
PLAIN, SLOW = Side("null"), Side("null", settings={"slowdown": "2"})


@pytest.fixture
def pool() -> Iterator[Pool]:
    """A pool of quick trials."""
    with Pool(Settings(runs=3), progress=lambda text: None) as pool:
        yield pool


@pytest.fixture
def impatient(patient: None) -> Iterator[Pool]:
    """One that waits a second for a trial that never ends."""
    with Pool(Settings(runs=3, timeout=1), progress=lambda text: None) as pool:
        yield pool


def _pid(pool: Pool, side: Side = PLAIN) -> int:
    return pool.worker(side).pid


def _median(outcome: Outcome) -> float:
    assert outcome.measurement is not None, outcome.reason
    return sorted(outcome.measurement.time.seconds())[1]


def test_a_trial_gets_a_fresh_child_where_the_allocator_is_left_alone(pool: Pool, trial: Make) -> None:
    side = replace(PLAIN, allocator="default")
    pids = {_pid(pool, side)}
    for _ in range(2):
        pool.measure(trial("null:steady", side), 0)
        pids.add(_pid(pool, side))
    assert len(pids) == 3
    assert _pid(pool) not in pids


@pytest.mark.parametrize("script", ["steady", "raise", "leak"])
def test_a_child_that_an_implementation_started_serves_other_operators_backward(
    script: str, pool: Pool, trial: Make
) -> None:
    # The child looks up what a backward costs that computes nothing: the implementation's name must not stick to it.
    pool.measure(trial(f"null:{script}"), 0)
    pid = _pid(pool)
    outcome = pool.measure(replace(trial("add"), direction="backward"), 0)
    assert outcome.status == "ok", outcome.reason
    assert outcome.measurement is not None
    assert outcome.measurement.facts["backward_fixed_seconds"] > 0
    assert _pid(pool) == pid


def test_a_framework_that_cannot_list_its_operators_is_told_of_and_serves_on(
    monkeypatch: pytest.MonkeyPatch, trial: Make
) -> None:
    told: list[str] = []
    failure = Failure(Reason("no_registry", "no list here", "install it"), skipped=True)

    def declined(*asked: Any) -> None:
        raise OperatorFailure(failure.reason, skipped=failure.skipped)

    with Pool(Settings(runs=3), progress=told.append) as pool:
        with monkeypatch.context() as patched:
            patched.setattr(Worker, "ask", declined)
            assert pool.discover(PLAIN, None, "common") == Discovery()
        assert pool.measure(trial("add"), 0).status == "ok"
    assert told == ["`null`: no list here (install it)"]


def test_trials_of_one_side_share_a_child(pool: Pool, trial: Make) -> None:
    first = _pid(pool)
    assert [pool.measure(trial(name), 0).status for name in ("add", "subtract", "null:steady")] == ["ok"] * 3
    assert _pid(pool) == first


@pytest.mark.parametrize("script", ["raise", "leak"])
def test_an_operator_that_fails_leaves_the_child_in_service(script: str, pool: Pool, trial: Make) -> None:
    first = _pid(pool)
    assert pool.measure(trial(f"null:{script}"), 0).status == "failed"
    assert pool.measure(trial("add"), 0).status == "ok"
    assert _pid(pool) == first


@pytest.mark.parametrize("script", ["crash", "abort", "exit", "hang", "garbage"])
def test_a_child_that_is_lost_is_replaced(script: str, impatient: Pool, trial: Make) -> None:
    first = _pid(impatient)
    assert impatient.measure(trial(f"null:{script}"), 0).status == "failed"
    assert not psutil.pid_exists(first)
    assert impatient.measure(trial("add"), 0).status == "ok"
    assert _pid(impatient) != first


@pytest.mark.parametrize(("held", "replaced"), [(MOST_HELD, False), (MOST_HELD + 1, True)])
def test_a_child_that_keeps_too_much_memory_is_replaced(
    held: int, replaced: bool, pool: Pool, trial: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = Worker.ask

    def keeping(worker: Worker, request: Request[Any], timeout: float) -> Any:
        reply = ask(worker, request, timeout)
        return Remainder(held) if isinstance(request, Release) else reply

    first = _pid(pool)
    monkeypatch.setattr(Worker, "ask", keeping)
    assert [pool.measure(trial(name), 0).status for name in ("add", "subtract")] == ["ok", "ok"]
    assert (_pid(pool) != first) == (not psutil.pid_exists(first)) == replaced


def test_every_lost_child_is_replaced_by_one(pool: Pool, trial: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Worker] = []

    def start(*given: Any, **options: Any) -> Worker:
        started.append(Worker(*given, **options))
        return started[-1]

    monkeypatch.setattr("opperf.parent.workers.starting.Worker", start)
    outcomes = [pool.measure(trial(name), 0).status for name in ("null:exit", "null:exit", "add", "null:exit", "add")]
    assert outcomes == ["failed", "failed", "ok", "failed", "ok"]
    assert len(started) == 4


def test_two_sides_have_a_process_each(pool: Pool, trial: Make) -> None:
    pids, times = [], []
    for side in (PLAIN, SLOW):
        times.append(_median(pool.measure(trial("null:steady", side), 0)))
        pids.append(_pid(pool, side))
    assert pids[0] != pids[1]
    assert times[1] / times[0] == pytest.approx(2, rel=0.01)
    assert not psutil.pid_exists(pids[0])  # two never time on one device


def test_a_pool_that_is_closed_begins_anew(pool: Pool, trial: Make) -> None:
    first = _pid(pool)
    pool.close()
    assert not psutil.pid_exists(first)
    assert pool.measure(trial("add"), 1).status == "ok"


def test_an_error_inside_a_pool_ends_its_child() -> None:
    pids = []

    def interrupted() -> None:
        with Pool(Settings(), progress=lambda text: None) as pool:
            pids.append(_pid(pool))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not psutil.pid_exists(pids[0])


def test_a_side_that_cannot_start_is_tried_once(pool: Pool, trial: Make, fake_python: Callable[[str], Path]) -> None:
    python = fake_python("open(os.path.join(os.path.dirname(sys.argv[0]), 'started'), 'a').write('x')")
    side = Side("null", environment=f"python={python}")
    reasons = [pool.measure(trial(name, side), 0).reason for name in ("add", "subtract")]
    assert reasons[0] == reasons[1]
    assert reasons[0] is not None
    assert "did not start: the child ended with exit code 0" in reasons[0].message
    assert (python.parent / "started").read_text() == "x"
    assert pool.measure(trial("add"), 0).status == "ok"


def test_a_name_cannot_be_looked_up_in_a_child_that_does_not_start(
    pool: Pool, fake_python: Callable[[str], Path]
) -> None:
    side = Side("null", environment=f"python={fake_python('print(1 / 0)')}")
    with pytest.raises(WorkerFailure, match="exit code 1") as caught:
        pool.describe(side, "add")
    assert "ZeroDivisionError" in (caught.value.stderr or "")


def test_the_first_child_of_each_side_leaves_its_facts(pool: Pool, trial: Make) -> None:
    for side in (PLAIN, SLOW, PLAIN):
        pool.measure(trial("add", side), 0)
    assert [facts.build["version"] for facts in pool.facts.values()] == ["1", "1"]


def test_a_child_stays_on_its_cpus() -> None:
    cpu = min(psutil.Process().cpu_affinity() or [0])
    with Pool(Settings(cpus=(cpu,)), progress=lambda text: None) as pool:
        assert psutil.Process(_pid(pool)).cpu_affinity() == [cpu]
