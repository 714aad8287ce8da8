"""One record from the samples of several processes: what counts, what is left out, what is doubted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from tests.each import each

from opperf.domain.case import Case
from opperf.domain.measurement import Measurement, Memory, Outcome, Quantity, Sample, Samples, compile_time
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Reason, Warning
from opperf.domain.record import Record, Statistics
from opperf.domain.stats.significance import log_interval
from opperf.domain.tensor import TensorSpec
from opperf.parent.analysis.summary import record

ADD = Case("add", {"lhs": TensorSpec((1000,)), "rhs": TensorSpec((1000,))})
TRIAL = Trial(ADD, Side("null"), "forward")
US = 1000


def samples(times: Sequence[int], *, dirty: int = 0, cpu: int | None = None, calls: int = 10) -> Samples:
    """Return samples of these nanoseconds a call; the first `dirty` are disturbed."""
    return Samples(
        tuple(
            Sample(calls, time * calls, (time if cpu is None else cpu) * calls, clean=i >= dirty)
            for i, time in enumerate(times)
        )
    )


def summarised(
    *processes: Samples,
    trial: Trial = TRIAL,
    settings: Settings | None = None,
    latency: Samples | None = None,
    **more: Any,
) -> Record:
    """Return the record of one measurement for each process."""
    single = {} if latency is None else {"latency": latency}
    measured = [Measurement({"time": time, **single}, **more) for time in processes]
    outcomes = [Outcome(trial, i, "ok", one, version="2.1") for i, one in enumerate(measured)]
    return record(trial, outcomes, settings or Settings())


def time_of(result: Record) -> Statistics:
    """Return the summary of the time."""
    assert result.time is not None
    return result.time


def about(value: Any) -> Any:
    """Return what equals a number but for rounding."""
    return pytest.approx(value)


def slugs(result: Record) -> set[str]:
    """Return what is doubted, small numbers of samples left out."""
    return {warning.slug for warning in result.warnings} - {"p99_of_few"}


TIMES = [100 * US, 101 * US, 102 * US, 103 * US, 150 * US, 99 * US, 98 * US, 100 * US, 101 * US, 110 * US]


@each(
    ("name", "expected"),
    [
        ("mean", np.mean(TIMES)),
        ("median", np.median(TIMES)),
        ("p50", np.median(TIMES)),
        ("p90", np.quantile(TIMES, 0.9)),
        ("p99", np.quantile(TIMES, 0.99)),
        ("min", 98 * US),
        ("max", 150 * US),
        ("stdev", np.std(TIMES, ddof=1)),
    ],
)
def test_a_summary_is_that_of_numpy_in_seconds(name: str, expected: float) -> None:
    assert getattr(time_of(summarised(samples(TIMES))), name) == about(expected / 1e9)


def test_a_summary_says_what_it_is_made_of() -> None:
    result = time_of(summarised(samples(TIMES), facts={"sync": "call"}, settings=Settings(cache="cold")))
    assert (result.samples, result.calls_per_sample, result.processes, result.discarded) == (10, 10, 1, 0)
    assert (result.sync, result.cache, result.clock) == ("call", "cold", "wall")


def test_one_sample_has_no_spread() -> None:
    assert time_of(summarised(samples([100 * US]))).stdev == 0.0


# Disturbed samples ---------------------------------------------------------------------------------------------------


def test_disturbed_samples_are_left_out_while_ten_clean_ones_remain() -> None:
    result = time_of(summarised(samples([900 * US] * 90 + [100 * US] * 10, dirty=90)))
    assert (result.max, result.samples, result.discarded) == (about(1e-4), 10, 90)


def test_disturbed_samples_are_left_out_while_half_are_clean() -> None:
    result = time_of(summarised(samples([900 * US] * 2 + [100 * US] * 2, dirty=2)))
    assert (result.max, result.samples, result.discarded) == (about(1e-4), 2, 2)


def test_all_samples_count_where_too_few_are_clean() -> None:
    result = summarised(samples([900 * US] * 11 + [100 * US] * 9, dirty=11))
    assert (time_of(result).samples, time_of(result).discarded, time_of(result).clock) == (20, 0, "wall")
    assert time_of(result).disturbed == 11
    assert "disturbed 11 of the 20 samples" in next(w.message for w in result.warnings if w.slug == "few_clean_samples")
    assert slugs(result) == {"few_clean_samples"}


def test_ten_clean_samples_for_each_process_are_needed_together() -> None:
    result = summarised(samples([100 * US] * 40, dirty=22), samples([100 * US] * 40, dirty=39))
    assert time_of(result).samples == 80
    assert slugs(result) == {"few_clean_samples"}


def test_a_process_without_a_clean_sample_brings_all_samples_back() -> None:
    # It would have no value of its own otherwise, and the interval one process less.
    result = summarised(samples([100 * US] * 100), samples([120 * US] * 10, dirty=10))
    assert (time_of(result).samples, time_of(result).disturbed) == (110, 10)


def test_cpu_time_stands_in_for_long_calls_that_were_all_disturbed() -> None:
    result = summarised(samples([9_000 * US] * 10, dirty=10, cpu=5_000 * US))
    assert (time_of(result).median, time_of(result).clock) == (about(5e-3), "cpu")
    assert "CPU time replaces wall time" in next(w.message for w in result.warnings if w.slug == "few_clean_samples")


@pytest.mark.parametrize(
    ("wall", "cpu", "waiting", "voluntary"),
    [
        (22_000 * US, 2_000 * US, 0, 1),  # a timer, a pipe, a lock, a thread or a process
        (22_000 * US, 2_000 * US, 0, 0),  # what gives no switch, and no machine explains
        (22_000 * US, 2_000 * US, None, 0),  # the same where the kernel does not tell what time it was kept waiting
        (5_150 * US, 5_000 * US, 0, 1),  # a brief wait
        (5_150 * US, 5_000 * US, None, 1),
    ],
)
def test_cpu_time_does_not_stand_in_for_calls_that_wait(
    wall: int, cpu: int, waiting: int | None, voluntary: int
) -> None:
    sample = Sample(1, wall, cpu, switches=1, waiting_ns=waiting, clean=False, voluntary=voluntary)
    result = summarised(Samples((sample,) * 10))
    assert (time_of(result).median, time_of(result).clock) == (about(wall / 1e9), "wall")
    assert "the calls wait" in next(w.message for w in result.warnings if w.slug == "few_clean_samples")


@pytest.mark.parametrize("wall", [10_000 * US, 500 * US])
def test_calls_that_their_own_threads_interrupt_do_not_blame_the_machine(wall: int) -> None:
    sample = Sample(1, wall, 19 * wall // 10, switches=1, waiting_ns=wall // 20, clean=False)
    result = summarised(Samples((sample,) * 10))
    assert (time_of(result).median, time_of(result).clock) == (about(wall / 1e9), "wall")
    assert slugs(result) == {"own_threads"}


@pytest.mark.parametrize(("waiting", "waits"), [(36_000 * US, 0), (36_000 * US, 1), (None, 0)])
def test_cpu_time_stands_in_for_calls_that_were_only_kept_waiting(waiting: int | None, waits: int) -> None:
    quickest = Sample(1, 9_000 * US, 5_000 * US, switches=1, clean=False)
    kept = Sample(1, 41_000 * US, 5_000 * US, switches=9, waiting_ns=waiting, clean=False)
    once = Sample(1, 41_000 * US, 5_000 * US, waiting_ns=waiting, clean=False, voluntary=waits)
    result = summarised(Samples((quickest, *(kept,) * 8, once)))
    assert (time_of(result).median, time_of(result).clock) == (about(5e-3), "cpu")


def test_cpu_time_stands_in_where_a_thread_waits_for_another_of_the_process_that_computes() -> None:
    kept = Sample(1, 9_040 * US, 5_000 * US, switches=3, waiting_ns=4_000 * US, clean=False, voluntary=2)
    result = summarised(Samples((kept,) * 10))
    assert (time_of(result).median, time_of(result).clock) == (about(5e-3), "cpu")


def test_cpu_time_does_not_stand_in_on_a_device() -> None:
    trial = Trial(ADD, Side("null", device="cuda:0"), "forward")
    result = summarised(samples([5_000 * US] * 10, dirty=10, cpu=4_000 * US), trial=trial)
    assert (time_of(result).median, time_of(result).clock) == (about(5e-3), "wall")


def test_cpu_time_does_not_stand_in_for_several_threads() -> None:
    trial = Trial(ADD, Side("null", threads=4), "forward")
    result = summarised(samples([9_000 * US] * 10, dirty=10, cpu=30_000 * US), trial=trial)
    assert (time_of(result).median, time_of(result).clock) == (about(9e-3), "wall")


def test_cpu_time_does_not_stand_in_for_calls_under_two_milliseconds() -> None:
    assert time_of(summarised(samples([1_999 * US] * 10, dirty=10, cpu=US))).clock == "wall"


@pytest.mark.parametrize("dirty", [0, 10])
def test_a_frameworks_own_clock_is_no_clock_of_the_cpu(dirty: int) -> None:
    result = summarised(samples([5000 * US] * 10, dirty=dirty), facts={"clock": "profiler", "sync": "operator"})
    assert (time_of(result).clock, time_of(result).sync) == ("profiler", "operator")
    assert "cpu_time" not in result.metrics
    assert not any("CPU time" in warning.message for warning in result.warnings)


def test_cpu_time_is_a_metric_of_its_own() -> None:
    result = summarised(samples([100 * US] * 10, cpu=90 * US)).metrics["cpu_time"]
    assert isinstance(result, Statistics)
    assert (result.median, result.clock) == (about(9e-5), "cpu")


def test_cpu_time_of_disturbed_samples_counts_where_there_is_no_other() -> None:
    result = summarised(samples([100 * US] * 10, dirty=10, cpu=90 * US)).metrics["cpu_time"]
    assert isinstance(result, Statistics)
    assert (result.samples, result.discarded) == (10, 0)


# Processes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2])
def test_fewer_than_three_processes_have_no_interval_and_a_reason(count: int) -> None:
    result = time_of(summarised(*[samples(TIMES)] * count))
    assert result.interval is None
    assert result.interval_reason is not None
    assert str(count) in result.interval_reason


def test_the_interval_is_that_of_the_medians_of_processes() -> None:
    result = time_of(summarised(*(samples([n * US] * 9 + [999 * US]) for n in (100, 110, 130))))
    assert result.interval == about(log_interval([1e-4, 1.1e-4, 1.3e-4]))
    assert (result.interval_reason, result.processes) == (None, 3)


def test_more_samples_in_one_process_do_not_move_the_interval() -> None:
    result = time_of(summarised(samples([100 * US] * 500), samples([110 * US] * 10), samples([130 * US] * 10)))
    assert result.interval == about(log_interval([1e-4, 1.1e-4, 1.3e-4]))


def test_precision_is_that_of_one_process() -> None:
    assert time_of(summarised(samples([100 * US] * 10))).precision == 0.0
    assert time_of(summarised(*[samples([100 * US] * 10)] * 2)).precision is None


def test_a_time_of_zero_has_no_interval_and_says_why() -> None:
    result = time_of(summarised(*[samples([0] * 10)] * 3))
    assert result.interval is None
    assert result.interval_reason is not None
    assert "zero" in result.interval_reason


# Other metrics -------------------------------------------------------------------------------------------------------


def test_the_share_of_python_is_what_a_native_loop_does_not_take() -> None:
    measured = [Measurement({"time": samples([time] * 20), "time_native": samples([600] * 20)}) for time in (900, 1000)]
    result = record(TRIAL, [Outcome(TRIAL, i, "ok", one) for i, one in enumerate(measured)], Settings())
    assert result.metrics["python_share"] == Quantity(about(1 - 600 / 950), "1 - time_native / time")


def test_latency_is_summarised_with_a_wait_at_each_call() -> None:
    result = summarised(samples(TIMES), latency=samples([200 * US] * 10, calls=1)).metrics["latency"]
    assert isinstance(result, Statistics)
    assert (result.median, result.sync, result.calls_per_sample) == (about(2e-4), "call", 1)


def test_the_largest_memory_of_all_processes_counts() -> None:
    outcomes = [
        Outcome(TRIAL, i, "ok", Measurement({"time": samples(TIMES), **Memory(peak, allocated, "seen").metrics()}))
        for i, (peak, allocated) in enumerate([(5, 50), (7, None), (6, 40)])
    ]
    result = record(TRIAL, outcomes, Settings()).metrics
    assert (result["memory_peak"], result["memory_allocated"]) == (Quantity(7, "seen"), Quantity(50, "seen"))


def test_the_median_compile_time_counts() -> None:
    outcomes = [
        Outcome(TRIAL, i, "ok", Measurement({"time": samples(TIMES), **compile_time(seconds)}))
        for i, seconds in enumerate([9.0, 1.0, 2.0])
    ]
    assert record(TRIAL, outcomes, Settings()).metrics["compile_time"] == Quantity(2.0, "first call")


@pytest.mark.parametrize("name", ["latency", "memory_peak", "memory_allocated", "compile_time"])
def test_what_was_not_measured_is_no_metric(name: str) -> None:
    assert name not in summarised(samples(TIMES)).metrics


def test_rates_are_counts_over_the_median() -> None:
    metrics = summarised(samples([100 * US] * 10)).metrics
    values = {name: metrics[name] for name in ("flops", "bytes", "flop_rate", "byte_rate")}
    assert all(isinstance(value, Quantity) for value in values.values())
    assert {name: value.value for name, value in values.items() if isinstance(value, Quantity)} == {
        "flops": 1000,
        "bytes": 12000,
        "flop_rate": about(1000 / 1e-4),
        "byte_rate": about(12000 / 1e-4),
    }


def test_a_time_of_zero_has_no_rate() -> None:
    metrics = summarised(samples([0] * 10)).metrics
    assert "flops" in metrics
    assert "flop_rate" not in metrics


def test_a_function_without_a_definition_has_no_counts() -> None:
    trial = Trial(Case("null:steady"), Side("null"), "forward")
    assert not {"flops", "bytes", "flop_rate", "byte_rate"} & set(summarised(samples(TIMES), trial=trial).metrics)


def test_a_function_without_a_definition_has_the_counts_of_its_framework() -> None:
    trial = Trial(Case("null:steady"), Side("null"), "forward")
    facts = {"flops": 1000, "bytes": 0, "counted": "a counter"}
    metrics = summarised(samples([100 * US] * 10), trial=trial, facts=facts).metrics
    assert (metrics["flops"], metrics["bytes"]) == (Quantity(1000, "a counter"), Quantity(0, "a counter"))
    assert metrics["flop_rate"] == Quantity(about(1000 / 1e-4), "a counter over median time")
    assert "byte_rate" not in metrics


def test_a_direction_without_a_byte_count_has_no_byte_rate() -> None:
    # The gradient of a sum is the cotangent itself: a framework need not move a byte.
    metrics = summarised(samples(TIMES), trial=Trial(ADD, Side("null"), "backward")).metrics
    assert not {"bytes", "byte_rate"} & set(metrics)


# Doubts --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "doubted"), [(99, True), (100, False)])
def test_the_99th_percentile_of_fewer_than_100_samples_is_doubted(count: int, doubted: bool) -> None:
    result = summarised(samples([100 * US] * count))
    assert ("p99_of_few" in {warning.slug for warning in result.warnings}) is doubted


def test_a_doubt_of_several_processes_is_said_once() -> None:
    odd = Warning("odd", "it is odd", None)
    result = summarised(samples(TIMES), samples(TIMES), warnings=(odd,))
    assert [warning for warning in result.warnings if warning.slug == "odd"] == [odd]


# What is kept --------------------------------------------------------------------------------------------------------


def test_raw_samples_are_kept_for_each_process() -> None:
    result = summarised(samples(TIMES), samples([100 * US] * 3))
    assert result.samples == {"time": [samples(TIMES).to_json(), samples([100 * US] * 3).to_json()]}


def test_a_block_of_one_call_is_not_stored_twice() -> None:
    single = samples(TIMES, calls=1)
    assert set(summarised(single, latency=single).samples) == {"time"}
    assert set(summarised(single, latency=samples(TIMES)).samples) == {"time", "latency"}


def test_raw_samples_are_dropped_where_nobody_wants_them() -> None:
    outcomes = [Outcome(TRIAL, 0, "ok", Measurement({"time": samples(TIMES)}))]
    assert record(TRIAL, outcomes, Settings(), keep_samples=False).samples == {}


def test_facts_and_version_stand_on_the_record() -> None:
    assert summarised(samples(TIMES), facts={"sync": "block"}).facts == {"sync": "block", "version": "2.1"}


# No measurement ------------------------------------------------------------------------------------------------------

CRASH = Reason("crash", "it died", signal="SIGSEGV")
SKIP = Reason("no_gradient", "no input has one")


def test_a_failure_in_any_process_is_the_record() -> None:
    outcomes = [
        Outcome(TRIAL, 0, "ok", Measurement({"time": samples(TIMES)}), version="2.1"),
        Outcome(TRIAL, 1, "failed", reason=CRASH),
    ]
    result = record(TRIAL, outcomes, Settings())
    assert (result.status, result.reason, result.metrics) == ("failed", CRASH, {})
    assert result.facts == {"version": "2.1"}


def test_a_skip_keeps_its_reason() -> None:
    result = record(TRIAL, [Outcome(TRIAL, 0, "skipped", reason=SKIP)], Settings())
    assert (result.status, result.reason) == ("skipped", SKIP)


def test_a_trial_without_outcomes_was_not_reached() -> None:
    result = record(TRIAL, [], Settings())
    assert result.reason is not None
    assert (result.status, result.reason.slug, result.facts) == ("skipped", "not_run", {})


def test_processes_that_were_not_reached_leave_the_others_standing() -> None:
    outcomes = [
        Outcome(TRIAL, 0, "ok", Measurement({"time": samples(TIMES)})),
        Outcome(TRIAL, 1, "skipped", reason=Reason("budget", "spent")),
    ]
    result = record(TRIAL, outcomes, Settings(processes=2))
    assert result.status == "ok"
    assert time_of(result).processes == 1
