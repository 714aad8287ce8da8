"""The limits of a machine: which rates count, and the least time that work takes by them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from opperf.catalog import operator
from opperf.domain.case import Case
from opperf.domain.measurement import Measurement, Outcome, Sample, Samples
from opperf.domain.peaks import Limit, Peaks, Rate, fallbacks
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.record import Record
from opperf.domain.tensor import TensorSpec
from opperf.parent.analysis.summary import doubts, limit_of, record
from opperf.parent.commands.peaks import cases, rates_of
from opperf.parent.reports import render
from opperf.parent.reports.machine import document

SMALL = Rate("move", "copy", "float32", 1000, 8e9, "torch", "cpu", 1, "2026-11-21")
MIDDLE = replace(SMALL, size=10_000, rate=10e9)
LARGE = replace(SMALL, size=1_000_000, rate=2e9)
PRODUCT = replace(SMALL, kind="product", operator="matmul", size=512, rate=100e9)
PEAKS = Peaks.of([LARGE, SMALL, MIDDLE, PRODUCT], "cpu", 1)


def measured(case: Case, nanoseconds: int) -> Record:
    """Return a record whose calls all took so long."""
    trial = Trial(case, Side("torch"), "forward")
    samples = Samples(tuple(Sample(1, nanoseconds, nanoseconds) for _ in range(12)))
    return record(trial, [Outcome(trial, 0, "ok", Measurement({"time": samples}))], Settings())


@pytest.mark.parametrize(("moved", "rate"), [(10, 10e9), (5000, 10e9), (10_000, 10e9), (10_001, 2e9), (1e9, 2e9)])
def test_bytes_move_at_the_best_rate_of_their_size_or_a_larger_one(moved: float, rate: float) -> None:
    assert PEAKS.bandwidth(moved) == rate


def test_the_best_framework_counts_and_other_devices_and_threads_do_not() -> None:
    others = [
        replace(LARGE, framework="numpy", rate=3e9),
        replace(LARGE, device="cuda:0", rate=9e12),
        replace(LARGE, threads=2, rate=4e9),
    ]
    assert Peaks.of([LARGE, *others], "cpu", 1).bandwidth(1e6) == 3e9


def test_what_takes_longer_is_the_bound() -> None:
    assert PEAKS.limit(flops=0, nbytes=2e6, dtype="float32") == Limit(1e-3, "memory")
    assert PEAKS.limit(flops=1e9, nbytes=2e6, dtype="float32") == Limit(1e-2, "compute")


def test_without_the_rate_that_may_bound_it_nothing_is_said() -> None:
    assert PEAKS.limit(flops=1e9, nbytes=2e6, dtype="float64") is None
    assert PEAKS.limit(flops=0, nbytes=0, dtype="float32") is None
    assert Peaks.of([], "cpu", 1).limit(flops=1, nbytes=1, dtype="float32") is None


def test_what_a_loop_reaches_in_half_precision_is_no_peak() -> None:
    loop, kernel = replace(PRODUCT, dtype="float16", rate=0.446e9), replace(PRODUCT, dtype="bfloat16", rate=30e9)
    assert fallbacks([PRODUCT, loop, kernel]) == [loop]
    assert Peaks.of([PRODUCT, loop, kernel], "cpu", 1).products == {"float32": 100e9, "bfloat16": 30e9}
    slow_double = replace(PRODUCT, dtype="float64", rate=1e9)  # as GPUs for games have it
    assert fallbacks([PRODUCT, slow_double, replace(loop, framework="other")]) == []


def test_a_peak_of_a_busy_machine_is_marked_wherever_it_is_used() -> None:
    doubtful = replace(LARGE, doubt="the load average is 25.3 on 2 CPUs")
    peaks = Peaks.of([doubtful, SMALL], "cpu", 1)
    assert peaks.limit(flops=0, nbytes=2e6, dtype="float32") == Limit(1e-3, "memory", doubtful.doubt)
    assert Peaks.of([doubtful, replace(LARGE, framework="numpy", rate=3e9)], "cpu", 1).doubt is None
    (doubt,) = doubts(measured(Case("exp", {"data": TensorSpec((1000,))}), 1_000_000), Limit(2e-3, "memory", "it ran"))
    assert "the limit was measured on a busy machine (it ran)" in doubt.message
    text = render(document({}, (), ("cpu", 1), [doubtful, PRODUCT, replace(PRODUCT, dtype="float16", rate=1e9)], ()))
    assert "may be too low: measured on a busy machine (the load average is 25.3 on 2 CPUs)" in text
    assert "products of float16: no peak; torch has a loop for them, at 1.00 GFLOP/s" in text


def test_a_record_is_held_against_the_limits_by_its_formulas() -> None:
    case = replace(operator("add").case("small"), inputs={name: TensorSpec((1000, 1000)) for name in ("lhs", "rhs")})
    assert limit_of(measured(case, 10_000_000), PEAKS) == Limit(12e6 / 2e9, "memory")
    unknown = Case("torch:aten::add.Tensor", {"self": TensorSpec((4,))})
    assert limit_of(measured(unknown, 1000), PEAKS) is None


def test_rates_are_of_the_best_sample() -> None:
    copy, product = next(cases()), list(cases())[-1]
    (rate,) = rates_of(measured(copy, 1000), "today")
    assert (rate.kind, rate.operator, rate.size, rate.dtype) == ("move", "copy", 2 * 4 * 4096, "float32")
    assert rate.rate == pytest.approx(2 * 4 * 4096 / 1e-6)
    (rate,) = rates_of(measured(product, 1_000_000), "today")
    assert (rate.kind, rate.dtype, rate.size) == ("product", "float16", 512)
    assert rate.rate == pytest.approx(2 * 512**3 / 1e-3, rel=0.01)
    assert list(rates_of(Record(Trial(copy, Side("torch"), "forward"), "skipped"), "today")) == []


def test_rates_of_a_device_are_those_of_its_kernels_and_tf32_is_a_type_of_its_own() -> None:
    product = next(case for case in cases("cuda:0") if case.operator == "matmul")
    one = measured(product, 1_000_000)
    busy = Samples((Sample(1, 900_000, 0, device_ns=500_000),))
    outcome = Outcome(one.trial, 0, "ok", Measurement({"time": busy, "device": busy}, {"float32_products": "TF32"}))
    one = record(one.trial, [outcome], Settings())
    (rate,) = rates_of(one, "today")
    assert rate.dtype == "TF32"
    assert rate.rate == pytest.approx(2 * 1024**3 / 5e-4, rel=0.01)
    assert limit_of(one, Peaks.of([LARGE, rate], "cpu", 1)) is not None
    assert limit_of(one, Peaks.of([LARGE, replace(rate, dtype="float32")], "cpu", 1)) is None
    assert max(next(case.tensors()).shape[0] for case in cases("cuda:0") if case.operator == "matmul") == 8192


def test_more_than_the_machine_can_do_is_doubted_with_a_remedy() -> None:
    case = Case("exp", {"data": TensorSpec((1000,))})
    (doubt,) = doubts(measured(case, 1_000_000), Limit(1.17e-3, "memory"))
    assert doubt.slug == "above_peak"
    assert "117% of the machine's memory limit" in doubt.message
    assert doubt.hint is not None
    assert "opperf doctor --peaks" in doubt.hint
    assert doubts(measured(case, 1_000_000), Limit(0.9e-3, "memory")) == ()
