"""Run in a framework's environment: operators under opperf's profiler, in turn with opperf's engine, in one process.

python alternating_profiles.py FRAMEWORK CASE...

A case is JSON. Prints for each of them what a call took in every turn, in seconds: by the engine that measures an
operator alone, then in a profile the operator itself, and what lies between two operators.

Both have the same tensors in the same place, and right after each other the same share of the machine.
"""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module
from typing import Any

from opperf import profiler
from opperf.child.measure.disturbance import ProcessCounters
from opperf.compat.in_process import InProcess, Subject
from opperf.domain.case import Case
from opperf.domain.plan import Side
from opperf.domain.profile.event import parents
from opperf.domain.stats.order import median

#: Turns of both, and calls of one in each.
TURNS, CALLS = 41, 20


def alone(here: InProcess, subject: Subject) -> float:
    """Return what opperf says that a call takes."""
    measured = here.measure(subject, "forward", warmup=2, runs=CALLS, memory=False)
    return median(here.seconds(measured))


def in_profile(here: InProcess, subject: Subject) -> tuple[float, float]:
    """Return what opperf's profile says that a call takes: the usual time of the operator, and that between two."""
    backend, work = here.backend, here.ready(subject, "forward").work
    with profiler.profile(backend.name) as p, work.scope():
        start = time.perf_counter_ns()
        for _ in range(CALLS):
            backend.wait([work.function(*work.arguments, **work.keywords)])
        took = time.perf_counter_ns() - start
    events = p.profile.of_kind("operator")
    lengths = [event.duration for event, around in zip(events, parents(events)) if around is None]
    # A call may be several operators, one after the other.
    each = len(lengths) // CALLS
    calls = [sum(lengths[first : first + each]) for first in range(0, len(lengths), each)]
    assert len(calls) == CALLS, f"{len(lengths)} operators in {CALLS} calls"
    return median(calls) / 1e9, (took - sum(calls)) / CALLS / 1e9


def turns(here: InProcess, case: Case) -> list[tuple[float, float, float]]:
    """Return what was measured of a case, turn by turn; which of the two is first changes."""
    subject = here.of_case(case)
    result = []
    for number in range(TURNS + 1):
        if number % 2:
            took = alone(here, subject)
            result.append((took, *in_profile(here, subject)))
        else:
            seen = in_profile(here, subject)
            result.append((alone(here, subject), *seen))
    return result[1:]  # the first one sets things up


def main(framework: str, cases: list[str]) -> None:
    """Measure and print."""
    runtime: Any = import_module(f"opperf.child.backends.{framework}.runtime")
    here = InProcess(runtime.start(Side(framework)), ProcessCounters())
    print(json.dumps([turns(here, Case.from_json(json.loads(text))) for text in cases]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
