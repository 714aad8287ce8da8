"""The pass in which the device is watched: its metrics, its evidence, and a comparison by it."""

from __future__ import annotations

from typing import Any

import pytest

from opperf.child.backends.null.runtime import NullBackend
from opperf.child.measure.disturbance import NoCounters
from opperf.child.measure.engine import KERNEL_CALLS, Engine
from opperf.child.measure.kernels import CALLS, evidence
from opperf.domain.backend import Unsupported
from opperf.domain.call import Bound
from opperf.domain.case import Case
from opperf.domain.kernels import Activity, CallActivity
from opperf.domain.measurement import Measurement, Outcome
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.record import Statistics
from opperf.domain.tensor import TensorSpec
from opperf.parent.analysis.summary import record

TRIAL = Trial(Case("null:steady", {"data": TensorSpec((8,))}), Side("null"), "forward")


def backend_with(**settings: str) -> NullBackend:
    return NullBackend(Side("null", settings=settings))


def measurement(settings: Settings | None = None, **of_side: str) -> Measurement:
    backend = backend_with(**of_side)
    work = backend.forward(Bound(backend.resolve("steady"), ()))
    settings, engine = settings or Settings(), Engine(backend, NoCounters())
    return engine.kernels(work, settings.runs).added_to(engine.measure(work, settings, output_bytes=0))


def test_the_device_is_busy_for_its_share_of_a_call_hot_and_cold() -> None:
    measured = measurement(kernels="0.6")
    device, cold = measured.samples("device"), measured.samples("device_cold")
    assert device is not None
    assert cold is not None
    assert device.seconds() == [pytest.approx(60e-6)] * CALLS
    assert cold.seconds() == [pytest.approx(90e-6)] * CALLS


def test_a_record_names_the_kernels_and_has_the_gap_that_launches_leave() -> None:
    measured = measurement(kernels="0.6")
    result = record(TRIAL, [Outcome(TRIAL, 0, "ok", measured)], Settings())
    device, gap = result.metrics["device"], result.metrics["launch_gap"]
    assert isinstance(device, Statistics)
    assert device.median == pytest.approx(60e-6)
    assert device.sync == "call"
    assert not isinstance(gap, Statistics)
    assert gap.value == pytest.approx(40e-6)
    (kernel,) = result.facts["kernels"]
    assert kernel == {"name": "script", "kind": "kernel", "calls": 1.0, "seconds": pytest.approx(60e-6)}


def test_as_many_calls_are_watched_as_samples_are_asked_for() -> None:
    device = measurement(Settings(runs=3), kernels="0.6").samples("device")
    assert device is not None
    assert len(device.samples) == 3


def test_where_there_is_no_device_nobody_is_asked_for_one() -> None:
    with pytest.raises(Unsupported, match="null shows no kernels"):
        measurement()


def test_hot_calls_alone_are_watched_where_cold_ones_are_not_asked_for() -> None:
    backend = backend_with(kernels="0.6")
    work = backend.forward(Bound(backend.resolve("steady"), ()))
    assert [*Engine(backend, NoCounters()).kernels(work, 1, cold=False).metrics] == ["device"]


def test_a_profiler_that_sees_nothing_costs_the_metric_and_warns() -> None:
    measured = measurement(kernels="0")
    assert "device" not in measured.metrics
    assert [warning.slug for warning in measured.warnings] == ["no_kernels_seen"]


def test_a_turn_of_kernels_takes_samples_of_several_calls() -> None:
    backend = backend_with(kernels="0.6")
    engine = Engine(backend, NoCounters())
    block = engine.block(backend.forward(Bound(backend.resolve("steady"), ())))
    samples = engine.turn(block, 3, output_bytes=0, watch=backend.kernel_watch())
    assert samples.seconds() == [pytest.approx(60e-6)] * 3
    assert {sample.calls for sample in samples.samples} == {KERNEL_CALLS}


def test_the_evidence_counts_each_kernel_of_a_typical_call() -> None:
    def call(*names: str) -> CallActivity:
        return CallActivity(100, tuple(Activity(name, "kernel", 0, 10) for name in names))

    result: list[dict[str, Any]] = evidence([call("mul", "sum", "sum"), call("mul", "sum", "sum")])
    assert [(one["name"], one["calls"], one["seconds"]) for one in result] == [("mul", 1.0, 1e-8), ("sum", 2.0, 2e-8)]


@pytest.mark.parametrize("broken", ["kernel_watch", "cache_sweep"])
def test_a_pass_for_kernels_that_breaks_leaves_what_was_measured_before(
    broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> object:
        raise RuntimeError("CUDA out of memory")

    made = fail if broken == "cache_sweep" else lambda self: fail
    monkeypatch.setattr(NullBackend, broken, made)
    measured = measurement(kernels="0.6")
    assert measured.time.seconds()[0] == pytest.approx(1e-4)
    assert measured.samples("device") is None
    (warning,) = [one for one in measured.warnings if one.slug == "no_kernels_seen"]
    assert warning.message == "the pass for kernels failed: RuntimeError: CUDA out of memory"
