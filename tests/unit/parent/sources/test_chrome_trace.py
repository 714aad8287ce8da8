"""Profiles that are read from Chrome traces of other tools."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from opperf.domain.errors import InputError
from opperf.domain.profile.chrome import to_trace
from opperf.domain.profile.event import Event, Profile, Reading
from opperf.domain.profile.rows import rows
from opperf.parent.sources.chrome_trace import ALL_ARE_OPERATORS, profile_of, read_profile


def span(name: str, category: str = "", begin: float = 0, duration: float = 1, **more: Any) -> dict[str, Any]:
    """Return a complete span of a trace, in microseconds."""
    return {"ph": "X", "name": name, "cat": category, "ts": begin, "dur": duration, "pid": 7, "tid": 1, **more}


def both(name: str, category: str, begin: int, end: int, phases: str = "BE", **more: Any) -> list[dict[str, Any]]:
    """Return a beginning and an end, as MXNet writes them."""
    place = {"name": name, "cat": category, "pid": 0, "tid": 909939466498613787, **more}
    return [{**place, "ph": phase, "ts": time} for phase, time in zip(phases, (begin, end))]


def kinds(entries: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return names and kinds of what is read from trace events, in time."""
    return [(event.name, event.kind) for event in profile_of({"traceEvents": entries}, "trace.json").events]


MXNETS = [
    {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "cpu/0"}},
    *both("dot", "operator", 5, 12),
    *both("dot", "operator", 5, 12, "be", id=3),
    *both("_backward_dot", "operator", 20, 22),
    *both("DeleteVariable", "operator", 30, 31),
    *both("MXInvokeCachedOpEx", "MXNET_C_API", 4, 33, "be", id=9),
    {"ph": "C", "name": "Memory", "ts": 6, "pid": 0, "args": {"Memory: cpu/0": 4096}},
]


def test_mxnets_own_file_has_its_operators_once_and_its_memory_over_time() -> None:
    profile = profile_of({"traceEvents": MXNETS}, "profile.json")
    dot, backward = profile.of_kind("operator")
    assert (dot.name, dot.begin, dot.duration, dot.backward) == ("dot", 5000, 7000, False)
    assert (backward.name, backward.backward) == ("_backward_dot", True)
    assert [event.name for event in profile.of_kind("task")] == ["DeleteVariable"]
    assert [event.name for event in profile.of_kind("api")] == ["MXInvokeCachedOpEx"]
    assert profile.readings == (Reading(6000, 0, "cpu/0", 4096),)
    assert [facts["framework"] for facts in profile.processes.values()] == ["mxnet"]


def test_a_file_of_mxnets_second_start_is_read_although_it_is_no_json(tmp_path: Path) -> None:
    text = json.dumps({"traceEvents": MXNETS}).replace('"traceEvents": [', '"traceEvents": [\n,\n')
    (tmp_path / "profile.json").write_text(text)
    assert len(read_profile(tmp_path / "profile.json").of_kind("operator")) == 2


def test_pytorchs_operators_nest_and_those_of_the_engine_are_backward() -> None:
    profile = profile_of(
        {
            "traceEvents": [
                span("PyTorch Profiler (0)", "Trace", 0, 100, pid="Spans"),
                span("ProfilerStep#1", "user_annotation", 0, 90),
                span("kin.py(5): <module>", "python_function", 0, 90),
                span("aten::linear", "cpu_op", 1, 8, args={"Input Dims": [[32, 64], [], [[2], [3]]]}),
                span("aten::addmm", "cpu_op", 2, 6),
                span("autograd::engine::evaluate_function: AddmmBackward0", "cpu_op", 20, 9),
                span("aten::mm", "cpu_op", 21, 5),
                span("sgemm", "kernel", 3, 2, tid=70),
                {"ph": "i", "name": "[memory]", "ts": 3, "pid": 7, "args": {"Total Allocated": 64, "Device Type": 0}},
            ]
        },
        "trace.json",
    )
    linear, addmm, mm = profile.of_kind("operator")
    assert linear.shapes == ((32, 64), (), ())
    assert {row.name: row.own for row in rows(profile, "name")}["aten::linear"] == pytest.approx(2e-6)
    assert [one.backward for one in (linear, addmm, mm)] == [False, False, True]
    assert [event.name for event in profile.of_kind("kernel")] == ["sgemm"]
    assert [event.name for event in profile.of_kind("step")] == ["ProfilerStep#1"]
    assert profile.readings == (Reading(3000, 7, "cpu/0", 64),)
    assert list(profile.processes) == [7]


def test_xlas_instructions_are_operators_on_a_cpu_and_kernels_on_a_gpu() -> None:
    entries = [
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "/device:GPU:0"}},
        span("fusion", args={"hlo_op": "fusion"}),
        span("gemm", begin=2, pid=1, args={"hlo_op": "dot"}),
        span("$profiler.py:1 trace", begin=3),
        span("ParseArguments", begin=4),
        {},
    ]
    assert kinds(entries) == [("fusion", "operator"), ("gemm", "kernel"), ("ParseArguments", "task")]


def test_onnx_runtimes_list_has_operators_by_their_kind() -> None:
    entries = [
        span("model_run", "Session", 0, 9),
        span("mul_1_kernel_time", "Node", 1, 4, args={"op_name": "Mul"}),
        span("mul_1_fence_before", "Node", 1, 0, args={"op_name": "Mul"}),
    ]
    profile = profile_of(entries, "profile.json")
    assert [event.name for event in profile.of_kind("operator")] == ["Mul"]


def test_spans_of_a_tool_that_is_not_known_all_count_and_a_note_says_so(tmp_path: Path) -> None:
    # A writer that streams leaves its list open.
    text = json.dumps([span("outer", "mine", 0, 9), span("inner", "mine", 1, 2)])[:-1] + ",\n"
    (tmp_path / "trace.json.gz").write_bytes(gzip.compress(text.encode()))
    profile = read_profile(tmp_path / "trace.json.gz")
    assert [(event.name, event.kind) for event in profile.events] == [("outer", "operator"), ("inner", "operator")]
    assert profile.notes == (ALL_ARE_OPERATORS,)


def test_a_profile_of_opperf_is_read_as_it_was_written(tmp_path: Path) -> None:
    profile = Profile((Event("add", "operator", 5, 7, 1, "main"),), (), {1: {"framework": "torch"}})
    (tmp_path / "own.json").write_text(json.dumps(to_trace(profile)))
    assert read_profile(tmp_path / "own.json") == profile


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"a": 1}, "not a profile: expected `traceEvents`"),
        ([1, 2], "not a profile: expected `traceEvents`"),
        ({"traceEvents": [span("a"), {**span("a"), "ts": "now"}]}, r"traceEvents\[1\].ts: expected microseconds"),
        ({"traceEvents": [span("a", duration=1e300)]}, r"traceEvents\[0\].dur: 1e\+300 microseconds"),
        ({"traceEvents": [span("a", begin=True)]}, r"traceEvents\[0\].ts: expected microseconds"),
    ],
)
def test_what_is_no_trace_is_refused_with_its_place(document: object, message: str, tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=message):
        read_profile(tmp_path / "trace.json")


def test_a_file_that_is_no_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_text("{nonsense")
    with pytest.raises(InputError, match=r"trace.json: not JSON \("):
        read_profile(tmp_path / "trace.json")
