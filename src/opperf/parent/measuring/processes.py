"""Trials in processes: how a run, its jobs and the nodes of a fleet go through them, and about how long that takes.

A process is the unit of repetition: all trials are measured in one process of each side, then all in the next.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import TypeAlias

from opperf.domain.measurement import Outcome
from opperf.domain.plan import Settings, Trial
from opperf.domain.reason import Reason
from opperf.parent.workers.pool import Pool

#: What a trial takes beyond its samples (inputs, warm-up, latency, memory), in seconds.
TRIAL_EXTRA = 0.15

#: Measures a trial in a process, by the children of a pool; whatever goes wrong is the outcome.
Measure: TypeAlias = Callable[[Pool, Trial, int], Outcome]


def seconds(settings: Settings) -> float:
    """Return about how many seconds a trial takes in all its processes, but for starting them."""
    return settings.processes * (settings.trial_budget / 2 + TRIAL_EXTRA)


def in_processes(trials: Sequence[Trial], settings: Settings) -> Iterator[tuple[Trial, int]]:
    """Yield each trial with the number of each of its processes, in the order in which they are measured."""
    return ((trial, process) for process in range(settings.processes) for trial in trials)


def lasts(ahead: Sequence[tuple[Trial, int]]) -> set[tuple[object, int]]:
    """Return the keys and processes of trials behind which another child follows, or none."""
    children = [(trial.side.process, process) for trial, process in ahead]
    follow = [*children[1:], None]
    return {(trial.key, process) for (trial, process), own, next_ in zip(ahead, children, follow) if own != next_}


def one_by_one(ahead: Iterable[tuple[Trial, int]], pool: Pool, measure: Measure) -> Generator[Outcome, None, None]:
    """Yield the outcome of each trial and process; children that serve the first may be there, the next are fresh."""
    current = 0
    for trial, process in ahead:
        if process != current:
            pool.close()
            current = process
        yield measure(pool, trial, process)


def out_of_time(trial: Trial, process: int, budget: str) -> Outcome:
    """Return the outcome of a trial for which no time was left."""
    text = f"the budget of {budget} ran out before this trial"
    return Outcome(trial, process, "skipped", reason=Reason("budget", text, "give more `--budget`, or `--resume`"))
