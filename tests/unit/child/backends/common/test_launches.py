"""Which call made the device do what: Kineto's traces and JAX's planes, joined by the numbers of launches."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.child.backends.test_jax_planes import event as jax_event
from tests.unit.child.backends.test_jax_planes import line, recording

from opperf.child.backends.common.launches import MARK, join, read_kineto
from opperf.child.backends.jax.planes import calls_of
from opperf.domain.backend import Unsupported
from opperf.domain.kernels import Activity


def event(category: str, name: str, begin: float, duration: float, correlation: int | None = None) -> dict[str, Any]:
    """Return an event of a trace as Kineto writes it: microseconds, with three decimals."""
    linked = {} if correlation is None else {"correlation": correlation, "External id": 7}
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 2, "ts": begin, "dur": duration, "args": linked}


def mark(begin: float, duration: float) -> dict[str, Any]:
    return event("user_annotation", MARK, begin, duration)


def trace(*events: dict[str, Any]) -> dict[str, Any]:
    flow = {"ph": "f", "id": 11, "pid": 0, "tid": 7, "ts": 3.0, "cat": "ac2g", "name": "ac2g", "bp": "e"}
    about = {"ph": "M", "name": "process_name", "pid": 1, "ts": 0.0, "args": {"name": "python"}}
    return {"schemaVersion": 1, "traceEvents": [about, *events, flow]}


def test_a_kernel_belongs_to_the_call_that_launched_it_though_it_runs_later() -> None:
    first, second = read_kineto(
        trace(
            mark(100.0, 50.0),
            mark(200.0, 50.0),
            event("cuda_runtime", "cudaLaunchKernel", 110.0, 5.0, 11),
            event("cuda_runtime", "cudaLaunchKernel", 210.0, 5.0, 12),
            event("kernel", "void at::native::add", 205.0, 1.536, 11),
            event("kernel", "void at::native::add", 220.0, 1.504, 12),
        )
    )
    assert ([one.busy_ns for one in (first, second)], first.wall_ns) == ([1536, 1504], 50_000)


def test_a_kernel_that_the_driver_launched_is_seen() -> None:
    (call,) = read_kineto(
        trace(
            mark(0.0, 90.0),
            event("cuda_driver", "cuLaunchKernelEx", 10.0, 2.0, 5),
            event("kernel", "nvjet_sm90_tst_128x128", 30.0, 40.0, 5),
            event("cuda_runtime", "cudaDeviceSynchronize", 40.0, 40.0, 6),
        )
    )
    assert [one.name for one in call.activities] == ["nvjet_sm90_tst_128x128"]


def test_copies_and_fills_count_and_have_a_kind() -> None:
    (call,) = read_kineto(
        trace(
            mark(0.0, 90.0),
            event("cuda_runtime", "cudaMemcpyAsync", 1.0, 2.0, 5),
            event("cuda_runtime", "cudaMemsetAsync", 4.0, 2.0, 6),
            event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 10.0, 4.0, 5),
            event("gpu_memset", "Memset (Device)", 20.0, 1.0, 6),
        )
    )
    assert [(one.kind, one.end - one.begin) for one in call.activities] == [("copy", 4000), ("set", 1000)]
    assert call.busy_ns == 5000


def test_what_ran_between_the_calls_belongs_to_none() -> None:
    calls = read_kineto(
        trace(
            mark(0.0, 10.0),
            mark(50.0, 10.0),
            event("cuda_runtime", "cudaLaunchKernel", 30.0, 1.0, 5),
            event("kernel", "the sweep of the cache", 55.0, 3.0, 5),
        )
    )
    assert [one.activities for one in calls] == [(), ()]


def test_streams_that_run_at_the_same_time_count_once() -> None:
    activities = [Activity("a", "kernel", 10, 40, 1), Activity("b", "kernel", 20, 60, 2)]
    (call,) = join([(0, 5)], {1: 1, 2: 2}, activities)
    assert call.busy_ns == 50


def test_a_kernel_whose_launch_nobody_wrote_down_belongs_to_the_call_in_which_it_ran() -> None:
    first, second = join([(0, 30), (35, 60)], {}, [Activity("a", "kernel", 40, 50)])
    assert (len(first.activities), len(second.activities)) == (0, 1)


def test_a_call_that_runs_nothing_on_the_device_keeps_it_busy_for_no_time() -> None:
    (call,) = read_kineto(trace(mark(0.0, 9.0), event("cuda_runtime", "cudaDeviceSynchronize", 1.0, 2.0, 3)))
    assert (call.activities, call.busy_ns) == ((), 0)


def test_a_trace_without_a_call_of_cuda_names_the_one_subscriber_that_cupti_serves() -> None:
    with pytest.raises(Unsupported, match="saw nothing of the device") as refused:
        read_kineto(trace(mark(0.0, 9.0), event("cpu_op", "aten::add", 1.0, 2.0)))
    assert "one program at a time" in str(refused.value.hint)


def test_jax_links_a_kernel_to_its_launch_on_the_host() -> None:
    host = line(
        "python",
        jax_event(MARK, 100.0, 50.0),
        jax_event("cuLaunchKernel", 110.0, 5.0, correlation_id=11),
        jax_event(MARK, 200.0, 50.0),
        jax_event("cuLaunchKernel", 210.0, 5.0, correlation_id=12),
    )
    device = recording(
        line(
            "Stream #13(Compute)",
            jax_event("loop_add_fusion", 204.0, 2.0, correlation_id=11),
            jax_event("MemcpyD2H", 220.0, 3.0, correlation_id=12),
        ),
        line("XLA Ops", jax_event("add.1", 204.0, 2.0)),
        plane="/device:GPU:0",
    )
    first, second = calls_of([*recording(host), *device])
    assert ([one.name for one in first.activities], first.busy_ns) == (["loop_add_fusion"], 2)
    assert [one.kind for one in second.activities] == ["copy"]


def test_a_recording_of_jax_without_a_device_says_so() -> None:
    with pytest.raises(Unsupported, match="saw nothing of the device"):
        calls_of(recording(line("python", jax_event(MARK, 1.0, 2.0))))
