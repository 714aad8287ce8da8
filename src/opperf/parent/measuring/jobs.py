"""The trials of a run side by side: who may run next to whom, the children of each job, and what runs again alone."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any

from opperf.domain.case import Case
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, OpperfError
from opperf.domain.measurement import CountedTimes, Outcome
from opperf.domain.plan import Plan, Trial
from opperf.domain.stats.order import median
from opperf.parent.measuring.parallel import Contention, Lane, ParallelRunner, contention_of
from opperf.parent.measuring.processes import Measure
from opperf.parent.planning.implementations import as_implemented
from opperf.parent.workers.interpreters import interpreter
from opperf.parent.workers.passwords import environment_of
from opperf.parent.workers.pool import Pool

#: How a trial ends that needs more memory than its job has; frameworks say it in words of their own.
SHORT_OF_MEMORY = ("out_of_memory", "operator_error", "crash")


def jobs(plan: Plan, pool: Pool, note: Callable[[str], None]) -> Jobs:
    """Return the runner that measures a plan side by side; raises `InputError`.

    Environments are built before that, and so before anything is timed.
    """
    sides = {trial.side.process: trial.side for trial in plan.trials}
    for side in sides.values():
        with suppress(OpperfError):  # its trials will fail, each with the reason
            interpreter(environment_of(side.environment), framework=side.framework, progress=note)
    threads = max((side.threads for side in sides.values()), default=1)
    contention = contention_of(plan.settings, threads, note)
    contention.formulas.update(_formulas(plan.trials, contention, pool))
    return Jobs(contention, pool)


def _formulas(trials: Sequence[Trial], contention: Contention, pool: Pool) -> Iterator[tuple[str, Case]]:
    """Yield the neutral cases of those that a framework names in its own way, by their ids: they have formulas."""
    mute: set[tuple[object, ...]] = set()  # sides whose children do not start, or answer
    sensitive = {trial.case.id: trial for trial in trials if contention.needs_quiet(contention.kind_of(trial))}
    for trial in sensitive.values():
        prefix = f"{trial.side.framework}:"
        if not trial.case.operator.startswith(prefix) or trial.side.process in mute:
            continue
        try:
            meaning = pool.describe(trial.side, trial.case.operator.removeprefix(prefix))
        except OpperfError:
            mute.add(trial.side.process)
            continue
        with suppress(InputError):  # it takes more than the neutral operator, and is judged by its inputs
            neutral = as_implemented(trial.case, meaning)
            if neutral is not trial.case:
                yield trial.case.id, neutral


@dataclass(frozen=True)
class Jobs:
    """Measures trials side by side, in the given contention; `pool` measures alone."""

    contention: Contention
    pool: Pool

    def outcomes(
        self,
        ahead: Iterable[tuple[Trial, int]],
        past: Iterable[Outcome],
        measure: Measure,
    ) -> Generator[Outcome, None, None]:
        """Yield the outcome of each trial and process, one process and framework after another: none starts meanwhile.

        What may have failed for its share of the memory is measured again at the end, alone and with all of it.
        """
        self.pool.close()
        groups: dict[tuple[int, str, str, bool], list[Trial]] = {}
        for trial, process in ahead:
            side = trial.side
            place = (process, side.framework, side.environment, side.device == "cpu")
            groups.setdefault(place, []).append(trial)
        for outcome in past:
            self._learn(outcome)
        again: list[tuple[Trial, int]] = []
        for (process, *_), trials in groups.items():
            with closing(self._group(trials, process, measure)) as outcomes:
                for outcome in outcomes:
                    if outcome.reason is not None and outcome.reason.slug in SHORT_OF_MEMORY:
                        again.append((outcome.trial, process))
                    else:
                        yield outcome
        for trial, process in again:
            self.pool.close()
            yield measure(self.pool, trial, process)

    def _group(self, trials: Sequence[Trial], process: int, measure: Measure) -> Generator[Outcome, None, None]:
        """Measure the trials of one process and framework; say of each on which CPUs and next to whom."""

        def outcome_of(pool: Pool, trial: Trial) -> Outcome:
            return measure(pool, trial, process)

        def lane(cpus: tuple[int, ...]) -> Lane[Trial, Outcome]:
            return _Lane(self.pool.for_job(cpus, len(self.contention.leases)), outcome_of)

        runner: ParallelRunner[Trial, Outcome] = ParallelRunner(self.contention, lane, lambda trial: (trial,))
        with closing(runner.finished(trials)) as several:
            for piece in several:
                outcome, measurement = piece.result, piece.result.measurement
                self._learn(outcome)
                if measurement is not None:
                    measurement = replace(measurement, facts={**measurement.facts, "jobs": piece.jobs})
                    outcome = replace(outcome, measurement=measurement)
                yield outcome

    def _learn(self, outcome: Outcome) -> None:
        """Have those who measure side by side know what a call takes."""
        if outcome.measurement is not None:
            times = CountedTimes.of([outcome.measurement.time], outcome.trial.side).pooled
            self.contention.learn(outcome.trial, median(times))


@dataclass(frozen=True)
class _Lane:
    """What one job measures trials with: children of its own, and what makes an outcome of them."""

    pool: Pool
    outcome: Callable[[Pool, Trial], Outcome]

    def __enter__(self) -> _Lane:
        return self

    def __exit__(self, *trouble: Any) -> None:
        self.pool.__exit__(*trouble)

    def start(self, work: Trial) -> None:
        with suppress(OpperfError):  # its trials will fail, each with the reason
            self.pool.worker(work.side)

    def measure(self, work: Trial) -> Outcome:
        return self.outcome(self.pool, work)

    def interrupt(self) -> None:
        self.pool.interrupt()
