"""Jobs side by side, with pools that answer from a script: who runs next to whom, and what is told of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import pytest

from opperf.catalog import operator
from opperf.domain.errors import HarnessError, InputError
from opperf.domain.measurement import Measurement, Outcome, Sample, Samples
from opperf.domain.peaks import Rate
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.tensor import TensorSpec
from opperf.parent.measuring import parallel as module
from opperf.parent.measuring.parallel import PASSES, Contention, Lane, ParallelRunner, Rates, contention_of
from opperf.parent.workers.canaries import Caches
from opperf.parent.workers.contention import CLASSES, Effect
from opperf.parent.workers.topology import Core

SIZES = Caches(1 << 20, 32 << 20)
SMALL = [Trial(operator(name).case("small"), Side("null"), "forward") for name in ("add", "exp", "log", "sqrt")]
LARGE = Trial(operator("add").case("large"), Side("null"), "forward")
ALL = frozenset(product(CLASSES, CLASSES))
TWO = Contention([(1,), (0,)], {("compute", "compute")}, SIZES)
#: A wait that only a defect makes fail, in seconds.
PATIENCE = 180.0


@dataclass
class FakeLane:
    """The children of one job."""

    cpus: tuple[int, ...]
    answer: Callable[[FakeLane, Trial], Outcome]
    interrupted: threading.Event = field(default_factory=threading.Event)
    started: list[Side] = field(default_factory=list)

    def __enter__(self) -> FakeLane:
        return self

    def __exit__(self, *trouble: object) -> None:
        pass

    def start(self, work: Trial) -> None:
        self.started.append(work.side)

    def measure(self, work: Trial) -> Outcome:
        return self.answer(self, work)

    def interrupt(self) -> None:
        self.interrupted.set()


def runner(
    together: Contention, answer: Callable[[FakeLane, Trial], Outcome], lanes: list[FakeLane] | None = None
) -> Any:
    """Return a runner whose jobs answer so; `lanes` gets what they measure with."""
    every = [] if lanes is None else lanes

    def lane(cpus: tuple[int, ...]) -> Lane[Trial, Outcome]:
        every.append(FakeLane(cpus, answer))
        return every[-1]

    return ParallelRunner(together, lane, lambda trial: (trial,))


def measured(lane: FakeLane, trial: Trial) -> Outcome:
    """Return an outcome of one sample."""
    return Outcome(trial, 0, "ok", Measurement({"time": Samples((Sample(1, 1000, 1000),))}, warnings=()))


def test_two_trials_run_at_once_on_cpus_of_their_own_and_say_so() -> None:
    together = threading.Barrier(2, timeout=PATIENCE)

    def meet(lane: FakeLane, trial: Trial) -> Outcome:
        together.wait()
        return measured(lane, trial)

    outcomes = list(runner(TWO, meet).finished(SMALL[:2]))
    facts = {one.work.case.operator: one.jobs for one in outcomes}
    assert sorted(one["cpus"] for one in facts.values()) == [[0], [1]]
    assert facts["add"]["beside"] == ["null exp forward"]
    assert facts["exp"]["beside"] == ["null add forward"]
    assert facts["add"]["class"] == "compute"


def test_each_trial_is_measured_once() -> None:
    outcomes = list(runner(TWO, measured).finished([*SMALL, LARGE]))
    assert sorted(one.work.key for one in outcomes) == sorted(one.key for one in [*SMALL, LARGE])


def test_what_bears_no_company_is_measured_when_nothing_else_runs() -> None:
    running: set[str] = set()
    next_to_large: list[set[str]] = []

    def watch(lane: FakeLane, trial: Trial) -> Outcome:
        running.add(trial.case.id)
        if trial is LARGE:
            next_to_large.append(running - {trial.case.id})
        outcome = measured(lane, trial)
        running.discard(trial.case.id)
        return outcome

    outcomes = list(runner(TWO, watch).finished([LARGE, *SMALL]))
    assert next_to_large == [set()]
    assert outcomes[-1].jobs["beside"] == []
    assert outcomes[-1].work is LARGE


def test_children_start_before_anything_is_measured() -> None:
    lanes: list[FakeLane] = []
    started: list[int] = []

    def watch(lane: FakeLane, trial: Trial) -> Outcome:
        started.append(sum(len(one.started) for one in lanes))
        return measured(lane, trial)

    list(runner(TWO, watch, lanes).finished(SMALL))
    assert set(started) == {2}


def test_a_gpu_serves_one_job_at_a_time() -> None:
    trials = [Trial(one.case, Side("null", device=f"cuda:{i % 2}"), "forward") for i, one in enumerate(SMALL)]
    busy: list[str] = []
    at_once: list[list[str]] = []
    lock = threading.Lock()

    def watch(lane: FakeLane, trial: Trial) -> Outcome:
        with lock:
            busy.append(trial.side.device)
            at_once.append([*busy])
        outcome = measured(lane, trial)
        with lock:
            busy.remove(trial.side.device)
        return outcome

    three = Contention([(2,), (1,), (0,)], ALL, SIZES)
    assert len(list(runner(three, watch).finished(trials))) == 4
    assert all(len(set(devices)) == len(devices) for devices in at_once)


def test_a_stop_ends_the_children_of_every_job_and_keeps_nothing_of_them() -> None:
    lanes: list[FakeLane] = []

    def hang(lane: FakeLane, trial: Trial) -> Outcome:
        if trial is not SMALL[0]:
            assert lane.interrupted.wait(PATIENCE)
        return measured(lane, trial)

    with closing(runner(TWO, hang, lanes).finished(SMALL[:3])) as outcomes:
        assert next(outcomes).work is SMALL[0]
    assert any(lane.interrupted.is_set() for lane in lanes)


def test_a_defect_in_a_job_is_raised_where_outcomes_are_taken() -> None:
    def fail(lane: FakeLane, trial: Trial) -> Outcome:
        raise HarnessError("the disk is full")

    with pytest.raises(HarnessError, match="disk is full"):
        list(runner(TWO, fail).finished(SMALL))


def pairs(works: list[tuple[Trial, Trial]], together: Contention) -> tuple[list[Any], list[int]]:
    """Measure pairs of trials; return what is finished, and how many pairs ran at once when each began."""
    running: list[object] = []
    at_once: list[int] = []
    lock = threading.Lock()

    class JobPair(FakeLane):
        def start(self, work: Any) -> None:
            pass

        def measure(self, work: Any) -> Any:
            with lock:
                running.append(work)
                at_once.append(len(running))
            time.sleep(0.01)  # so that others would meet it
            with lock:
                running.remove(work)

    def lane(cpus: tuple[int, ...]) -> Any:
        return JobPair(cpus, measured)

    return list(ParallelRunner(together, lane, lambda pair: pair).finished(works)), at_once


def test_a_pair_runs_alone_where_one_of_its_trials_bears_no_company() -> None:
    finished, at_once = pairs([(SMALL[0], LARGE), (LARGE, SMALL[1])], TWO)
    assert at_once == [1, 1]
    assert [(one.jobs["class"], one.jobs["beside"]) for one in finished] == [("streaming", [])] * 2


def test_a_pair_has_the_gpus_of_both_its_trials_for_itself() -> None:
    first, second = (Trial(SMALL[0].case, Side("null", device=f"cuda:{i}"), "forward") for i in (0, 1))
    finished, at_once = pairs([(first, second), (second, SMALL[1]), (first, second)], TWO)
    assert len(finished) == 3
    assert at_once == [1, 1, 1]


@pytest.mark.parametrize(
    ("name", "size", "kind"),
    [("add", "small", "compute"), ("add", "large", "streaming"), ("matmul", "large", "compute")],
)
def test_the_class_of_an_operator_follows_from_what_it_moves_and_computes(name: str, size: str, kind: str) -> None:
    assert TWO.class_of(Trial(operator(name).case(size), Side("null"), "forward")) == kind


def test_what_computes_is_told_by_how_fast_canaries_moved_bytes_and_peaks_are() -> None:
    product = Trial(operator("matmul").case("large"), Side("null"), "forward")
    slow_memory, fast_memory = (replace(TWO, rates=Rates(nbytes, flops=1e11)) for nbytes in (1e10, 1e7))
    assert (slow_memory.class_of(product), fast_memory.class_of(product)) == ("compute", "streaming")
    assert replace(TWO, rates=Rates(1e10, flops=1e14)).class_of(product) == "streaming"


def test_the_rates_are_those_of_the_canaries_that_streamed_side_by_side(
    noted: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def effects(leases: list[tuple[int, ...]], note: object) -> list[Effect]:
        rates = {("streaming", "streaming"): 4e9, ("streaming", "compute"): 9e9, ("cache", "cache"): 2e10}
        return [Effect(len(leases), a, b, 0.0, "", rates.get((a, b))) for a, b in product(CLASSES, CLASSES)]

    told = noted({})
    monkeypatch.setattr(module, "effects", effects)
    monkeypatch.setattr(module, "stored_rates", lambda: (peak(1, 6e10), peak(2, 1.1e11)))
    assert contention_of(Settings(jobs=2), 1, told.append).rates == Rates(4e9, 6e10)
    assert contention_of(Settings(jobs=2), 2, told.append).rates == Rates(4e9, 1.1e11)


def peak(threads: int, rate: float) -> Rate:
    """Return how fast matrices were multiplied with some threads."""
    return Rate("product", "matmul", "float32", 1024, rate, "torch", "cpu", threads, "today")


def test_work_that_is_slow_for_its_bytes_does_not_stream_and_its_backward_pass_is_told_by_the_forward_one() -> None:
    forward, backward = (replace(LARGE, direction=direction) for direction in ("forward", "backward"))
    alone = replace(TWO, _seconds={})
    assert (alone.class_of(forward), alone.class_of(backward)) == ("streaming", "streaming")
    copying = 3 * LARGE.case.input_bytes / alone.rates.nbytes
    alone.learn(forward, 0.9 * PASSES * copying / 2)
    assert alone.class_of(forward) == "streaming"
    alone.learn(forward, 2 * PASSES * copying)
    assert (alone.class_of(forward), alone.class_of(backward)) == ("cache", "cache")


def watch_company(together: Contention, trials: list[Trial]) -> list[tuple[str, ...]]:
    """Measure trials; return the classes that ran at once, each time that a trial began or ended."""
    running: list[str] = []
    seen: list[tuple[str, ...]] = []
    changed = threading.Condition()

    def watch(lane: FakeLane, trial: Trial) -> Outcome:
        kind = together.class_of(trial)
        with changed:
            running.append(kind)
            seen.append(tuple(sorted(running)))
            changed.notify_all()
            # So that others meet it; what nothing may run beside meets none.
            changed.wait_for(lambda: len(running) > 1 or len(seen) == len(trials), timeout=2)
            running.remove(kind)
        return measured(lane, trial)

    assert len(list(runner(together, watch).finished(trials))) == len(trials)
    return seen


def test_work_that_disturbs_its_own_kind_only_runs_next_to_other_work_and_first() -> None:
    others = replace(TWO, pairs=ALL - {("streaming", "streaming")})
    large = [replace(LARGE, direction=direction) for direction in ("forward", "backward", "forward_backward")]
    seen = watch_company(others, [*SMALL, *large])
    assert ("streaming", "streaming") not in seen
    assert ("compute", "streaming") in seen
    one_job = replace(others, leases=[(0,)])
    assert [one.work for one in runner(one_job, measured).finished([*SMALL, *large])] == [*large, *SMALL]


def test_a_backward_pass_that_the_forward_one_shows_not_to_stream_need_not_wait_for_its_turn() -> None:
    others = replace(TWO, pairs=ALL - {("streaming", "streaming")}, _seconds={})
    case = operator("add").case_of({name: TensorSpec((2048, 4096)) for name in ("lhs", "rhs")})
    first, second = LARGE, Trial(case, LARGE.side, "forward")
    copying = 4 * LARGE.case.input_bytes / others.rates.nbytes
    for trial in (first, second):
        others.learn(trial, 2 * PASSES * copying)
    assert ("cache", "cache") in watch_company(others, [replace(one, direction="backward") for one in (first, second)])


def test_a_case_that_a_framework_names_is_judged_by_the_formulas_of_what_it_computes() -> None:
    product = operator("batch_matmul").case_of(
        {"lhs": TensorSpec((32, 1024, 1024)), "rhs": TensorSpec((32, 1024, 1024))}
    )
    named = Trial(replace(product, operator="mxnet:nd.batch_dot"), Side("mxnet"), "forward")
    assert TWO.class_of(named) == "streaming"
    assert replace(TWO, formulas={named.case.id: product}).class_of(named) == "compute"


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[tuple[str, int], float]], list[str]]:
    """Sets what canaries found on a machine of four cores, by class and number of jobs; returns what is told."""

    def set_to(slowdowns: dict[tuple[str, int], float]) -> list[str]:
        def effects(leases: list[tuple[int, ...]], note: object) -> list[Effect]:
            jobs = len(leases)
            return [Effect(jobs, a, b, slowdowns.get((a, jobs), 0.0), "") for a, b in product(CLASSES, CLASSES)]

        monkeypatch.setattr(module, "effects", effects)
        monkeypatch.setattr(module, "usable_cores", lambda usable: [Core((cpu,)) for cpu in range(4)])
        monkeypatch.setattr(module, "caches", lambda: SIZES)
        return []

    return set_to


def test_auto_is_the_largest_number_whose_effect_is_small(noted: Callable[..., list[str]]) -> None:
    told = noted({("compute", 4): 0.02, ("streaming", 2): 0.5})
    chosen = contention_of(Settings(jobs=0), 1, told.append)
    assert len(chosen.leases) == 2
    assert chosen.repeatable == ["compute", "cache"]
    assert told == ["note: `--jobs auto` is 2 on this machine, for compute, cache work"]


def test_auto_says_that_there_is_room_for_one_only(
    noted: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = noted({})
    monkeypatch.setattr(module, "usable_cores", lambda usable: [Core((0,))])
    assert len(contention_of(Settings(jobs=0), 1, told.append).leases) == 1
    assert told == ["note: `--jobs auto` is 1: the CPUs that may be used have room for one"]


def test_auto_is_one_where_everything_disturbs(noted: Callable[..., list[str]]) -> None:
    told = noted({("compute", 4): 0.02, ("compute", 2): 0.02})
    assert len(contention_of(Settings(jobs=0), 1, told.append).leases) == 1


def test_a_number_that_the_user_chose_holds_and_what_disturbs_runs_alone(noted: Callable[..., list[str]]) -> None:
    chosen = contention_of(Settings(jobs=4), 1, noted({("compute", 4): 0.02, ("cache", 4): 0.04}).append)
    assert len(chosen.leases) == 4
    assert chosen.repeatable == ["compute", "streaming"]
    assert chosen.may_run_beside("compute", "streaming")
    assert not chosen.may_run_beside("cache", "compute")
    assert not chosen.may_run_beside("compute", "cache")


def test_more_jobs_than_cores_are_refused(noted: Callable[..., list[str]]) -> None:
    with pytest.raises(InputError, match="`--jobs` is 3, but the available CPUs have room for 2 of 2 threads"):
        contention_of(Settings(jobs=3), 2, noted({}).append)
