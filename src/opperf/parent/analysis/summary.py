"""One record from the outcomes of a trial, one outcome for each process.

Disturbed samples are left out while enough clean ones remain. The interval is over processes, because the process is
the unit of repetition: between processes times differ several times more than samples within one suggest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import fsum
from statistics import fmean, stdev
from typing import Optional

from opperf.catalog import catalog
from opperf.domain.code import own_metric
from opperf.domain.codec import read_as
from opperf.domain.device import FLOAT32_PRODUCTS, ROUNDED, TF32
from opperf.domain.errors import InputError
from opperf.domain.measurement import CountedTimes, Measurement, Outcome, Quantity, Samples
from opperf.domain.metric import METRICS
from opperf.domain.peaks import Limit, Peaks
from opperf.domain.plan import PROFILER, Settings, Trial
from opperf.domain.reason import Reason, Warning
from opperf.domain.record import Record, Statistics, Value
from opperf.domain.stats.order import median, quantile, relative_precision
from opperf.domain.stats.significance import log_interval
from opperf.parent.analysis.counts import vector_warnings

#: Fewer samples than this make a 99th percentile that is merely the largest.
ENOUGH_FOR_P99 = 100
#: Processes that an interval needs.
PROCESSES = 3


def record(trial: Trial, outcomes: Sequence[Outcome], settings: Settings, *, keep_samples: bool = True) -> Record:
    """Return the record of a trial; a failure in any process makes it failed."""
    for outcome in outcomes:
        if outcome.status == "failed":
            return Record(trial, "failed", outcome.reason, facts=_version(outcomes))
    measurements = [outcome.measurement for outcome in outcomes if outcome.measurement is not None]
    if not measurements:
        reason = next((outcome.reason for outcome in outcomes if outcome.reason is not None), None)
        return Record(
            trial, "skipped", reason or Reason("not_run", "the trial was not reached"), facts=_version(outcomes)
        )
    if own_metric(trial.side.implementation, trial.case.operator) is not None:  # what that took is not asked
        facts = {**measurements[0].facts, **_version(outcomes)}
        return Record(trial, "ok", metrics=_quantities(measurements), facts=facts)
    time = CountedTimes.of([measurement.time for measurement in measurements], trial.side)
    by_profiler = measurements[0].facts.get("clock") == PROFILER
    if by_profiler:
        time = replace(time, clock=PROFILER)
    by_name = {name: CountedTimes.of(samples, trial.side) for name, samples in _sample(measurements).items()} | {
        "time": time
    }
    if not by_profiler:  # the profiler says nothing about CPU time
        by_name["cpu_time"] = CountedTimes.of_cpu([measurement.time for measurement in measurements])
    sync = str(measurements[0].facts.get("sync", "block"))
    statistics = {name: _statistics(times, METRICS[name].sync or sync, settings) for name, times in by_name.items()}
    differences = {**_python_share(by_name), **_launch_gap(by_name)}
    quantities = _quantities(measurements)
    count = quantities.get("instructions")
    vectors = vector_warnings(trial, count.value) if isinstance(count, Quantity) else ()
    rates, doubts = _rates(trial, measurements[0].facts, median(time.pooled))
    return Record(
        trial,
        "ok",
        metrics={**statistics, **quantities, **differences, **rates},
        warnings=(*_warnings(measurements, time, one_cpu=trial.side.is_one_cpu), *doubts, *vectors),
        facts={**measurements[0].facts, **_version(outcomes), **_seconds(measurements)},
        samples=_samples(measurements) if keep_samples else {},
    )


def _seconds(measurements: Sequence[Measurement]) -> dict[str, float]:
    """Return the fact of how long a trial took in all its processes, in seconds of wall time."""
    whole = fsum(part for one in measurements for part in one.spent.values())
    return {"seconds": round(whole, 3)} if whole else {}


def _sample(measurements: Sequence[Measurement]) -> dict[str, list[Samples]]:
    """Return the samples of each metric, one entry for each process."""
    series = {name: [one.samples(name) for one in measurements] for name in METRICS}
    result = {name: [samples for samples in several if samples is not None] for name, several in series.items()}
    return {name: several for name, several in result.items() if several}


def _statistics(samples: CountedTimes, sync: str, settings: Settings) -> Statistics:
    times = sorted(samples.pooled)
    centres = [median(times) for times in samples.processes]
    interval = log_interval(centres) if len(centres) >= PROCESSES else None
    reason = None
    if interval is None and len(centres) >= PROCESSES:
        reason = "a process with a time of zero has no interval"
    elif interval is None:
        reason = f"{len(centres)} of the {PROCESSES} processes that an interval needs"
    return Statistics(
        mean=fmean(times),
        median=quantile(times, 0.5),
        p90=quantile(times, 0.9),
        p99=quantile(times, 0.99),
        min=times[0],
        max=times[-1],
        stdev=stdev(times) if len(times) > 1 else 0.0,
        interval=interval,
        interval_reason=reason,
        precision=relative_precision(times) if len(centres) == 1 else None,
        samples=len(times),
        calls_per_sample=samples.calls,
        discarded=samples.discarded,
        disturbed=samples.disturbed,
        processes=len(centres),
        sync=sync,
        cache=settings.cache,
        clock=samples.clock,
    )


def _python_share(times: Mapping[str, CountedTimes]) -> dict[str, Value]:
    """Return the share of the median time that Python adds."""
    from_python = median(times["time"].pooled)
    if "time_native" not in times or not from_python > 0:
        return {}
    return {"python_share": Quantity(1 - median(times["time_native"].pooled) / from_python, "1 - time_native / time")}


def _launch_gap(times: Mapping[str, CountedTimes]) -> dict[str, Value]:
    """Return how much longer a call takes that is waited for than the device is busy with it."""
    if "device" not in times or "latency" not in times:
        return {}
    gap = median(times["latency"].pooled) - median(times["device"].pooled)
    return {"launch_gap": Quantity(gap, "latency - device")}


def _quantities(measurements: Sequence[Measurement]) -> dict[str, Value]:
    """Return each metric that is a single number, merged over processes as the table of metrics says."""
    quantities: dict[str, Value] = {}
    for name, metric in METRICS.items():
        parts = [quantity for one in measurements if (quantity := one.quantity(name)) is not None]
        if parts:
            values = [quantity.value for quantity in parts]
            value = max(values) if metric.of_processes == "max" else median(values)
            quantities[name] = Quantity(value, parts[0].source, unit=parts[0].unit)
    return quantities


def _rates(trial: Trial, facts: Mapping[str, object], seconds: float) -> tuple[dict[str, Value], tuple[Warning, ...]]:
    """Return the counts of the operator's formulas, and the rates that they make with the median time.

    For an operator outside the catalog, the facts hold the counts of its author or the framework.

    A case that a framework has computed is valid: a formula that does not fit it costs the counts, not the record.
    """
    definition = catalog().get(trial.case.operator)
    if definition is None:
        counts: dict[str, int | None] = {
            "flop": read_as(Optional[int], facts.get("flops"), "flops"),
            "byte": read_as(Optional[int], facts.get("bytes"), "bytes"),
        }
        return _counts(counts, seconds, str(facts.get("counted"))), ()
    try:
        counts = {
            "flop": definition.flop_count(trial.case, trial.direction),
            "byte": definition.byte_count(trial.case, trial.direction),
        }
    except (InputError, LookupError, TypeError, ValueError, ArithmeticError) as error:
        doubt = f"the formulas of `{definition.name}` fail for these inputs: {error}"
        return {}, (Warning("formula_does_not_fit", doubt, "check the inputs"),)
    return _counts(counts, seconds, "formula"), ()


def _counts(counts: Mapping[str, int | None], seconds: float, source: str) -> dict[str, Value]:
    """Return the counts that are known, each with its rate."""
    result: dict[str, Value] = {}
    for name, count in counts.items():
        if count is not None:
            result |= _count(name, count, seconds, source)
    return result


def _count(name: str, count: int, seconds: float, source: str) -> dict[str, Value]:
    """Return a count, and the rate that it makes with the median time."""
    values: dict[str, Value] = {f"{name}s": Quantity(count, source)}
    if seconds > 0 and count > 0:
        values[f"{name}_rate"] = Quantity(count / seconds, f"{source} over median time")
    return values


def _warnings(measurements: Sequence[Measurement], time: CountedTimes, *, one_cpu: bool) -> tuple[Warning, ...]:
    by_slug = {warning.slug: warning for process in measurements for warning in process.warnings}
    if time.disturbed:
        doubt = time.disturbance(threads=one_cpu and all(process.time.has_threads for process in measurements))
        by_slug[doubt.slug] = doubt
    if len(time.pooled) < ENOUGH_FOR_P99:
        by_slug["p99_of_few"] = Warning(
            "p99_of_few", f"p99 is taken from fewer than {ENOUGH_FOR_P99} samples", f"`--runs {ENOUGH_FOR_P99}`"
        )
    return tuple(by_slug.values())


def _samples(measurements: Sequence[Measurement]) -> dict[str, list[object]]:
    """Return the raw samples, one entry for each process."""
    time = measurements[0].time.samples
    return {
        name: [samples.to_json() for samples in processes]
        for name, processes in _sample(measurements).items()
        # A block of one call is a latency sample already; it is not stored twice.
        if name == "time" or processes[0].samples != time
    }


def _version(outcomes: Sequence[Outcome]) -> Mapping[str, str]:
    version = next((outcome.version for outcome in outcomes if outcome.version is not None), None)
    return {} if version is None else {"version": version}


def limit_of(record: Record, peaks: Peaks) -> Limit | None:
    """Return the least time that the work of a record takes here; None where its work or the limits are not known."""
    counts = [record.metrics.get(name) for name in ("flops", "bytes")]
    flops, nbytes = (count.value if isinstance(count, Quantity) else None for count in counts)
    tensor = next(record.trial.case.tensors(), None)
    if nbytes is None or tensor is None:
        return None
    return peaks.limit(flops=flops or 0.0, nbytes=nbytes, dtype=arithmetic(record, tensor.dtype))


def arithmetic(record: Record, dtype: str) -> str:
    """Return the type in which products of a record are computed: TF32 is one of its own, and a faster one."""
    rounds = dtype in ROUNDED and record.facts.get(FLOAT32_PRODUCTS) == TF32
    return TF32 if rounds else dtype


def doubts(record: Record, limit: Limit) -> tuple[Warning, ...]:
    """Return a warning for a record that is faster than the limits of its machine."""
    if record.time is None or not 0 < record.time.value < limit.seconds:
        return ()
    share = limit.seconds / record.time.value
    why = "on a busier machine" if limit.doubt is None else f"on a busy machine ({limit.doubt})"
    text = (
        f"{share:.0%} of the machine's {limit.bound} limit, which cannot be exceeded: the limit was measured {why}, "
        "or the operator does less work than counted, for example because a closer cache holds its data"
    )
    return (Warning("above_peak", text, "measure the limits again on an idle machine: `opperf doctor --peaks`"),)


def with_shares(records: Sequence[Record]) -> list[Record]:
    """Return the records of a suite, in their order, each with the fact `suite` where it was measured.

    It holds the seconds of all calls (`total`), their `share` of the sum over the records of the same side, and
    `cumulative`, the share of those that take as much or more.
    """
    sides: dict[object, list[Record]] = defaultdict(list)
    for record in records:
        if record.total is not None:
            sides[_whole(record)].append(record)
    shares = {key: facts for several in sides.values() for key, facts in _shares(several)}
    return [
        replace(record, facts={**record.facts, "suite": shares[record.trial.key]})
        if record.trial.key in shares
        else record
        for record in records
    ]


def _whole(record: Record) -> object:
    """Return the group of a record: its side, without the implementation."""
    return replace(record.trial.side, implementation=None).key


def _shares(records: Iterable[Record]) -> Iterable[tuple[object, dict[str, float]]]:
    costs = sorted(((record.total or 0.0, record.trial.key) for record in records), key=lambda cost: -cost[0])
    grand_total = sum(total for total, _ in costs)
    so_far = 0.0
    for total, key in costs:
        so_far += total
        yield key, {"total": total, "share": total / grand_total, "cumulative": so_far / grand_total}
