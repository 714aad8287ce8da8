"""Rows: keys and units of MXNet's opperf."""

from __future__ import annotations

import pytest

from opperf.compat.mxnet_opperf import rows


def test_a_direction_has_its_own_keys_in_milliseconds() -> None:
    result = rows.times([0.001, 0.002, 0.006], "dot", "backward")
    assert result == {
        "avg_time_backward_dot": 3.0,
        "p50_time_backward_dot": 2.0,
        "p90_time_backward_dot": 5.2,
        "p99_time_backward_dot": 5.92,
        "min_time_backward_dot": 1.0,
        "max_time_backward_dot": 6.0,
        "stdev_time_backward_dot": pytest.approx(2.645751311),
        "samples_backward_dot": 3,
    }


def test_directions_together_have_the_keys_of_the_python_profiler() -> None:
    result = rows.times([0.001], "dot")
    assert {"avg_time_dot", "p50_time_dot", "p90_time_dot", "p99_time_dot"} < set(result)
    assert result["samples_dot"] == 1
    assert result["stdev_time_dot"] == 0


def test_memory_is_in_kilobytes_of_a_thousand_and_zero_is_a_number_too() -> None:
    assert rows.memory(32768, "gpu/1") == {"max_storage_mem_alloc_gpu/1": 32.768}
    assert rows.memory(0, "cpu/0") == {"max_storage_mem_alloc_cpu/0": 0.0}
