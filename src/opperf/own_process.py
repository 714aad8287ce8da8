"""Measure a call in the caller's own process, as users of `timeit` do: `opperf.time(numpy.sort, x)`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from opperf.child.worker.caller import measure_call
from opperf.domain.errors import InputError
from opperf.domain.plan import Settings
from opperf.parent.analysis.summary import record
from opperf.parent.library.results import Results
from opperf.parent.measuring.contest import header, start
from opperf.parent.workers.passwords import own_command


def time(call: Callable[..., object], /, *arguments: Any, settings: Settings | None = None, **keywords: Any) -> Results:
    """Measure `call(*arguments, **keywords)` in this process, and return `Results` with its one record.

    It is measured by the engine and the rules of `run`: warmed up, in blocks that last longer than the clock's steps,
    disturbed samples left out, until the median is known to 2 % or half a second is over. Arguments that a call changes
    are put back before the next. What `run` sets up is left as it is: threads, the allocator, what ran before. So the
    record has the warning `one_process`, and no interval over processes. `settings` says otherwise; memory is measured
    where they say so, by the framework's profiler.

    Raises what the call raises, and `InputError` for a call that cannot be repeated.

    >>> import numpy, opperf
    >>> timed = opperf.time(numpy.sort, numpy.arange(1000.0))
    >>> timed[0].status, "one_process" in [warning.slug for warning in timed[0].warnings]
    ('ok', True)
    """
    if not callable(call):
        raise InputError(f"`{call!r}` cannot be called", hint="`opperf.time(function, argument, ...)`")
    rules = settings or Settings(memory=False)
    began = start()
    outcome, facts = measure_call(call, arguments, keywords, rules)
    side = outcome.trial.side
    run = header(rules, began, {}, labels={}, command=own_command())
    own = {"framework": side.framework, "environment": side.environment, **json.loads(json.dumps(facts, default=str))}
    environment = {"machine": run.environment["machine"], "frameworks": [own]}
    return Results(replace(run, environment=environment, records=(record(outcome.trial, [outcome], rules),)))
