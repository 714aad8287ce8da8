"""One record from the outcomes of a trial, one outcome for each process.

Disturbed samples are left out while enough clean ones remain. The interval is over processes, because the process is
the unit of repetition: between processes times differ several times more than samples within one suggest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import Any

from opperf.catalog import catalog
from opperf.domain.errors import InputError
from opperf.domain.kept import Kept
from opperf.domain.measurement import Measurement
from opperf.domain.outcome import Outcome
from opperf.domain.plan import NATIVE, Settings, Trial
from opperf.domain.reason import Reason, Warning
from opperf.domain.record import Quantity, Record, Statistics, Value
from opperf.domain.stats.order import median, quantile, relative_precision
from opperf.domain.stats.student import log_interval

#: Fewer samples than this make a 99th percentile that is merely the largest.
ENOUGH_FOR_P99 = 100
#: Processes that an interval needs.
PROCESSES = 3


def record(trial: Trial, outcomes: Sequence[Outcome], settings: Settings, *, keep_samples: bool = True) -> Record:
    """Return the record of a trial; a failure in any process makes it failed."""
    for outcome in outcomes:
        if outcome.status == "failed":
            return Record(trial, "failed", outcome.reason, facts=_version(outcomes))
    measured = [outcome.measurement for outcome in outcomes if outcome.measurement is not None]
    if not measured:
        reason = next((outcome.reason for outcome in outcomes if outcome.reason is not None), None)
        return Record(
            trial, "skipped", reason or Reason("not_run", "the trial was not reached"), facts=_version(outcomes)
        )
    time = Kept.of([found.time for found in measured], trial.side.threads)
    native = measured[0].facts.get("clock") == NATIVE
    if native:
        time = replace(time, clock=NATIVE)
    metrics: dict[str, Value] = {"time": _statistics(time, measured[0], settings)}
    latencies = [found.latency for found in measured if found.latency is not None]
    if latencies:
        metrics["latency"] = _statistics(Kept.of(latencies, trial.side.threads), None, settings)
    if not native:  # which is one clock, and tells nothing of the CPU's
        metrics["cpu_time"] = _statistics(Kept.of_cpu([found.time for found in measured]), measured[0], settings)
    metrics |= _memory(measured) | _compile_time(measured)
    rates, doubts = _rates(trial, measured[0].facts, median(time.pooled))
    metrics |= rates
    return Record(
        trial,
        "ok",
        metrics=metrics,
        warnings=(*_warnings(measured, time), *doubts),
        facts={**measured[0].facts, **_version(outcomes)},
        samples=_samples(measured) if keep_samples else {},
    )


def _statistics(kept: Kept, facts: Measurement | None, settings: Settings) -> Statistics:
    times = sorted(kept.pooled)
    centres = [median(times) for times in kept.processes]
    interval = log_interval(centres) if len(centres) >= PROCESSES else None
    reason = None
    if interval is None and len(centres) >= PROCESSES:
        reason = "a process with a time of zero has no interval"
    elif interval is None:
        reason = f"{len(centres)} of the {PROCESSES} processes that an interval needs"
    return Statistics(
        mean=fmean(times),
        median=quantile(times, 0.5),
        p50=quantile(times, 0.5),
        p90=quantile(times, 0.9),
        p99=quantile(times, 0.99),
        min=times[0],
        max=times[-1],
        stdev=stdev(times) if len(times) > 1 else 0.0,
        interval=interval,
        interval_reason=reason,
        precision=relative_precision(times) if len(centres) == 1 else None,
        samples=len(times),
        calls_per_sample=kept.calls,
        discarded=kept.discarded,
        disturbed=kept.disturbed,
        processes=len(centres),
        sync="call" if facts is None else facts.facts.get("sync", "block"),
        cache=settings.cache,
        clock=kept.clock,
    )


def _memory(measured: Sequence[Measurement]) -> dict[str, Value]:
    seen = [found.memory for found in measured if found.memory is not None]
    if not seen:
        return {}
    found: dict[str, Value] = {"memory_peak": Quantity(max(memory.peak for memory in seen), seen[0].source)}
    allocated = [memory.allocated for memory in seen if memory.allocated is not None]
    if allocated:
        found["memory_allocated"] = Quantity(max(allocated), seen[0].source)
    return found


def _compile_time(measured: Sequence[Measurement]) -> dict[str, Value]:
    seen = [found.compile_seconds for found in measured if found.compile_seconds is not None]
    return {"compile_time": Quantity(median(seen), "first call")} if seen else {}


def _rates(trial: Trial, facts: Mapping[str, Any], seconds: float) -> tuple[dict[str, Value], tuple[Warning, ...]]:
    """Return the counts of the operator's formulas, and the rates that they make with the median time.

    Of an operator outside the catalog the facts have what its author or the framework counts.

    What a framework has computed, it accepts: a formula that does not fit such a case costs the counts, not the record.
    """
    definition = catalog().get(trial.case.operator)
    if definition is None:
        counts: dict[str, int | None] = {"flop": facts.get("flops"), "byte": facts.get("bytes")}
        return _all_counted(counts, seconds, str(facts.get("counted"))), ()
    try:
        counts = {
            "flop": definition.flop_count(trial.case, trial.direction),
            "byte": definition.byte_count(trial.case, trial.direction),
        }
    except (InputError, LookupError, TypeError, ValueError, ArithmeticError) as error:
        doubt = f"the formulas of `{definition.name}` do not fit these inputs: {error}"
        return {}, (Warning("formula_does_not_fit", doubt, "look whether the inputs are what was meant"),)
    return _all_counted(counts, seconds, "formula"), ()


def _all_counted(counts: Mapping[str, int | None], seconds: float, source: str) -> dict[str, Value]:
    """Return the counts that are known, each with its rate."""
    found: dict[str, Value] = {}
    for name, count in counts.items():
        if count is not None:
            found |= _counted(name, count, seconds, source)
    return found


def _counted(name: str, count: int, seconds: float, source: str) -> dict[str, Value]:
    """Return a count, and the rate that it makes with the median time."""
    found: dict[str, Value] = {f"{name}s": Quantity(count, source)}
    if seconds > 0 and count > 0:
        found[f"{name}_rate"] = Quantity(count / seconds, f"{source} over median time")
    return found


def _warnings(measured: Sequence[Measurement], time: Kept) -> tuple[Warning, ...]:
    found = {warning.slug: warning for process in measured for warning in process.warnings}
    if time.disturbed:
        stand_in = "CPU time stands in" if time.clock == "cpu" else "all samples are used"
        found["few_clean_samples"] = Warning(
            "few_clean_samples",
            f"the machine disturbed {time.disturbed} of the {len(time.pooled)} samples; {stand_in}",
            "run on an idle machine, or give more `--runs` or `--trial-budget`",
        )
    if len(time.pooled) < ENOUGH_FOR_P99:
        found["p99_of_few"] = Warning(
            "p99_of_few",
            f"p99 is taken from fewer than {ENOUGH_FOR_P99} samples",
            f"`--runs {ENOUGH_FOR_P99}`",
        )
    return tuple(found.values())


def _samples(measured: Sequence[Measurement]) -> dict[str, Any]:
    """Return the raw samples, one entry for each process."""
    found: dict[str, Any] = {"time": [process.time.to_json() for process in measured]}
    latencies = [process.latency for process in measured if process.latency is not None]
    # A block of one call is a latency sample already; it is not stored twice.
    if latencies and latencies[0].samples != measured[0].time.samples:
        found["latency"] = [samples.to_json() for samples in latencies]
    return found


def _version(outcomes: Sequence[Outcome]) -> Mapping[str, str]:
    version = next((outcome.version for outcome in outcomes if outcome.version is not None), None)
    return {} if version is None else {"version": version}
