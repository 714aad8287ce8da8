"""How long calls took: Kineto traces, of which process they are, and what calls made a device do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.parent.sources.test_execution_trace import add, call, node, only, read

from opperf.domain.errors import InputError
from opperf.parent.reports.replay import device_text
from opperf.parent.sources.execution_trace.kineto import Recording, read_kineto


def dated(name: str, start: float, thread: int = 9, **arguments: int) -> dict[str, Any]:
    """Return an operator's event of 2 us that began at a time."""
    return {"cat": "cpu_op", "name": name, "pid": 1, "tid": thread, "ts": start, "dur": 2.0, "args": arguments}


def recorded(folder: Path, *events: dict[str, Any]) -> Recording:
    """Return what a Kineto trace of some events holds."""
    path = folder / "k.json"
    path.write_text(json.dumps({"traceEvents": list(events)}))
    return read_kineto(path)


def test_recorded_times_are_joined_by_number_and_name(tmp_path: Path) -> None:
    kineto = tmp_path / "k.json"
    events = [
        {"cat": "cpu_op", "name": "aten::add", "dur": 3.5, "args": {"Record function id": 2}},
        {"cat": "cpu_op", "name": "aten::mul", "dur": 9.0, "args": {"Record function id": 3}},
        {"cat": "cpu_op", "name": "aten::add", "dur": 1.5, "args": {"Record function id": 4}},
        {"cat": "user_annotation", "name": "aten::add", "dur": 8.0, "args": {"Record function id": 5}},
    ]
    kineto.write_text(json.dumps({"traceEvents": events}))
    result = only(read(tmp_path, add(2), add(3), add(4), add(5), kineto=read_kineto(kineto)))
    assert result.count == 4
    assert result.recorded == pytest.approx(5e-6)


def cpu_op(
    number: int, name: str, call: int, microseconds: float = 50.0, *, start: float = 10.5, pid: int = 1
) -> dict[str, Any]:
    """Return an operator's event, as Kineto writes it."""
    arguments = {"External id": call, "Record function id": number, "Ev Idx": number}
    return {
        "ph": "X", "cat": "cpu_op", "name": name, "pid": pid, "tid": 9, "ts": start, "dur": microseconds,
        "args": arguments,
    }  # fmt: skip


def launch(call: int, correlation: int, start: float = 11.0, *, thread: int = 9, pid: int = 1) -> dict[str, Any]:
    """Return the runtime's event of a launch."""
    arguments = {"External id": call, "cbid": 211, "correlation": correlation}
    return {
        "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": pid, "tid": thread, "ts": start,
        "dur": 4.0, "args": arguments,
    }  # fmt: skip


def work(category: str, microseconds: float, **arguments: Any) -> dict[str, Any]:
    """Return an event on a GPU."""
    place = {"device": 0, "context": 1, "stream": 7}
    return {
        "ph": "X", "cat": category, "name": "void at::native::elementwise_kernel<128, 2>", "pid": 0, "tid": 7,
        "ts": 30.25, "dur": microseconds, "args": {**place, **arguments},
    }  # fmt: skip


def test_a_trace_of_a_gpu_says_what_calls_made_the_device_do(tmp_path: Path) -> None:
    events = [
        work("kernel", 3.25, **{"External id": 12, "correlation": 100}),  # before the call that launched it
        cpu_op(2, "aten::linear", 11, 80.0),
        cpu_op(3, "aten::add", 12, 60.0, start=20.0),
        launch(12, 100, 30.0),
        {"ph": "s", "id": 100, "pid": 1, "tid": 9, "ts": 11.0, "cat": "ac2g", "name": "ac2g"},
        cpu_op(4, "aten::add", 13, start=100.0),
        launch(13, 101, 110.0),
        work("kernel", 2.0, correlation=101),  # by way of the launch
        work("gpu_memset", 0.5, **{"External id": 13, "correlation": 102}),  # whose launch is not in the trace
        cpu_op(5, "aten::add", 14, start=200.0),
        work("gpu_memcpy", 100.0, **{"External id": 99, "correlation": 103}),  # of no operator
    ]
    kineto = tmp_path / "k.json"
    kineto.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    inputs = {"values": [[1]], "shapes": [[4]], "types": ["Tensor(float)"], "strides": [[1]]}
    linear = node(2, 1, "aten::linear", "aten::linear(Tensor input) -> Tensor", inputs)
    trace = read(tmp_path, linear, add(3, 2), add(4), add(5), kineto=read_kineto(kineto))
    assert trace.clock == "device"
    whole, inside = trace.cases
    # What `linear` called launched its kernel; the third addition launched nothing.
    assert (whole.count, inside.count) == (1, 2)
    assert [whole.recorded, inside.recorded] == pytest.approx([3.25e-6, 2.5e-6])
    assert trace.device is not None
    assert (trace.device.seconds, trace.device.of_calls) == pytest.approx((105.75e-6, 5.75e-6))


def of_an_older_pytorch(pid: int = 1, **of_launches: Any) -> list[dict[str, Any]]:
    """Return the events of two operators, the kernels of which name as their call their own `correlation`."""
    calls = [("aten::add", 1, 2, 10.0), ("aten::mm", 2, 3, 500.0)]
    return [
        event
        for name, call, number, microseconds in calls
        for event in (
            cpu_op(0, name, call, 20.0, start=900.0 + 100 * call, pid=pid),
            launch(number, number, 905.0 + 100 * call, pid=pid, **of_launches),
            work("kernel", microseconds, **{"External id": number, "correlation": number}),
        )
    ]


def numbered(*nodes: dict[str, Any]) -> list[dict[str, Any]]:
    """Return nodes with record functions that are counted from 1."""
    return [
        {**one, "attrs": [{"name": "rf_id", "type": "", "value": i}, *one["attrs"][1:]]}
        for i, one in enumerate(nodes, start=1)
    ]


def test_a_kernel_belongs_to_the_innermost_operator_that_ran_on_its_thread_when_it_was_launched(tmp_path: Path) -> None:
    first, second = numbered(add(2), call("aten::mm(Tensor self) -> Tensor", ["Tensor(float)"], [[1]], [[4]]))
    second["id"] = 3
    trace = read(tmp_path, first, second, kineto=recorded(tmp_path, *of_an_older_pytorch()))
    assert (trace.clock, trace.joined) == ("device", "2 of 2 calls by `External id`")
    times = {case.case.operator: case.recorded for case in trace.cases}
    assert times == {"torch:aten::add.Tensor": pytest.approx(10e-6), "torch:aten::mm.default": pytest.approx(500e-6)}


def test_a_call_that_ends_where_a_launch_begins_did_not_launch(tmp_path: Path) -> None:
    events = [
        cpu_op(2, "aten::linear", 11, 80.0, start=100.0),
        cpu_op(3, "aten::add", 12, 20.0, start=110.0),
        launch(0, 70, 130.0),
        work("kernel", 7.0, correlation=70),
    ]
    inputs = {"values": [[1]], "shapes": [[4]], "types": ["Tensor(float)"], "strides": [[1]]}
    linear = node(2, 1, "aten::linear", "aten::linear(Tensor input) -> Tensor", inputs)
    kineto = recorded(tmp_path, *events)
    assert kineto.launched == {0: pytest.approx(7e-6)}
    assert read(tmp_path, linear, add(3), kineto=kineto).cases[0].recorded == pytest.approx(7e-6)


def test_work_that_cannot_be_joined_to_a_call_is_told_beside_the_times_of_the_host(tmp_path: Path) -> None:
    nodes = numbered(add(2), add(3))
    nodes[1]["name"] = "aten::mm"
    trace = read(tmp_path, *nodes, kineto=recorded(tmp_path, *of_an_older_pytorch(thread=5)))
    assert trace.clock == "host"
    assert trace.device is not None
    assert (trace.device.seconds, trace.device.of_calls) == pytest.approx((510e-6, 0.0))
    (line,) = device_text(trace)
    assert line.startswith("on the device: 510 us of work on a device are in the Kineto trace, and no call")
    assert device_text(read(tmp_path, add(2))) == []


def test_a_kineto_trace_of_another_process_is_refused(tmp_path: Path) -> None:
    nodes = numbered(add(2), {**add(3), "name": "aten::mm"})
    with pytest.raises(InputError, match=r"is of process 7, but .*is of process 1") as caught:
        read(tmp_path, *nodes, kineto=recorded(tmp_path, *of_an_older_pytorch(pid=7)))
    assert "that the same process wrote" in str(caught.value.hint)


def test_of_a_kineto_trace_of_several_processes_the_calls_of_the_trace_s_own_count(tmp_path: Path) -> None:
    events = [*of_an_older_pytorch(pid=7), *of_an_older_pytorch()]
    for event in events[:6]:
        event["dur"] *= 3
        event["args"] = {**event["args"], "correlation": event["args"].get("correlation", 0) + 50}
    nodes = numbered(add(2), {**add(3), "name": "aten::mm"})
    trace = read(tmp_path, *nodes, kineto=recorded(tmp_path, *events))
    assert [case.recorded for case in trace.cases] == pytest.approx([510e-6])


def communication(number: int, rank: int, size: int) -> dict[str, Any]:
    """Return the note that PyTorch makes of a communication."""
    values = [[[1, 2, 0, 4, 4, "cuda:0"]], 7, ["0", "default_pg"], rank, "allreduce", [], [], 0, 1, size]
    kinds = ["GenericList[Tensor(float)]", "Int", "Tuple[String,String]", "Int", "String", *["GenericList[]"] * 2]
    inputs = {"values": values, "shapes": [[]] * 10, "types": [*kinds, *["Int"] * 3], "strides": [[]] * 10}
    return node(number, 1, "record_param_comms", "", inputs)


def read_beside_rank_3(folder: Path, rank: int, size: int) -> Any:
    """Read an execution trace of a rank beside the Kineto trace of rank 3 of 4."""
    nodes = [*numbered(add(2), {**add(3), "name": "aten::mm"}), communication(4, rank, size)]
    path = folder / "k.json"
    about = {"backend": "nccl", "rank": 3, "world_size": 4}
    path.write_text(json.dumps({"distributedInfo": about, "traceEvents": of_an_older_pytorch()}))
    return read(folder, *nodes, kineto=read_kineto(path))


def test_a_kineto_trace_of_another_rank_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is of rank 3, but .*is of rank 1"):
        read_beside_rank_3(tmp_path, 1, 4)


@pytest.mark.parametrize(("rank", "size"), [(3, 4), (0, 2)])
def test_a_kineto_trace_of_the_rank_or_of_a_program_that_the_notes_do_not_cover_is_read(
    rank: int, size: int, tmp_path: Path
) -> None:
    assert read_beside_rank_3(tmp_path, rank, size).clock == "device"


def test_a_trace_without_work_on_a_device_has_the_time_of_the_host(tmp_path: Path) -> None:
    kineto = tmp_path / "k.json"
    kineto.write_text(json.dumps({"traceEvents": [cpu_op(2, "aten::add", 11, 80.0), launch(11, 100)]}))
    trace = read(tmp_path, add(2), kineto=read_kineto(kineto))
    assert trace.clock == "host"
    assert only(trace).recorded == pytest.approx(8e-5)


@pytest.mark.parametrize(
    "event",
    [
        {"cat": "cpu_op", "dur": 1.0, "args": {"Record function id": 1}},
        {"cat": "cpu_op", "name": "x", "dur": "long", "args": {"Record function id": 1}},
        {"cat": "kernel", "dur": "inf", "args": {"External id": 1}},
        {"cat": "kernel", "dur": 1, "args": [1]},
        "dur",
    ],
)
def test_a_damaged_kineto_trace_is_refused_in_one_message(event: Any, tmp_path: Path) -> None:
    kineto = tmp_path / "k.json"
    kineto.write_text(json.dumps({"traceEvents": [event]}))
    with pytest.raises(InputError, match="damaged after 1 events"):
        read_kineto(kineto)


def test_a_kineto_trace_without_numbers_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "k.json"
    path.write_text('{"traceEvents": [{"name": "x"}]}')
    with pytest.raises(InputError, match="no call of an operator among 1 events"):
        read_kineto(path)


def test_recorded_times_are_joined_by_external_id_where_that_is_the_number(tmp_path: Path) -> None:
    events = [dated("aten::add", i, **{"External id": i}) for i in (2, 3, 4)]
    trace = read(tmp_path, add(2), add(3), add(4), kineto=recorded(tmp_path, *events))
    assert only(trace).recorded == pytest.approx(6e-6)
    assert trace.joined == "3 of 3 calls by `External id`"


def test_between_operators_is_when_none_ran_on_any_thread(tmp_path: Path) -> None:
    times = [(2, 10.0, 9), (3, 11.0, 8), (4, 20.0, 9)]
    events = [dated("aten::add", start, thread, **{"Record function id": i}) for i, start, thread in times]
    kineto = recorded(tmp_path, *events, dated("aten::add", 90.0, **{"Record function id": 7}))
    trace = read(tmp_path, add(2), add(3), add(4), kineto=kineto)
    assert trace.between is not None
    assert (trace.between.seconds, trace.between.span) == pytest.approx((7e-6, 12e-6))
    # Not of a call that was not found, nor of a part that other calls lie between, nor where nothing was timed.
    assert read(tmp_path, add(2), add(3), add(4), add(5), kineto=kineto).between is None
    label = {**node(9, 1, "mine"), "attrs": []}
    assert read(tmp_path, label, add(2, 9), add(4, 9), subgraph="mine", kineto=kineto).between is None
    assert read(tmp_path, add(2)).between is None


def named(number: int, name: str) -> dict[str, Any]:
    """Return a node of another operator than an addition."""
    inputs = {"values": [[1]], "shapes": [[4]], "types": ["Tensor(float)"], "strides": [[1]]}
    return node(number, 1, f"aten::{name}", f"aten::{name}(Tensor self) -> Tensor", inputs)


STEP = ("exp", "log", "abs", "neg", "sin", "cos", "tan", "exp")


def test_recorded_times_are_joined_by_order_where_numbers_are_not_of_the_run(tmp_path: Path) -> None:
    nodes = [named(2 + i, name) for i, name in enumerate(STEP)]
    before = [dated(f"aten::{name}", i, **{"External id": 2 + i}) for i, name in enumerate(("relu", "tanh", "exp"))]
    events = [dated(f"aten::{name}", 10 + i, **{"External id": 90 + i}) for i, name in enumerate(STEP)]
    trace = read(tmp_path, *nodes, kineto=recorded(tmp_path, *before, *reversed(events)))
    assert trace.joined == "8 of 8 calls by their order"
    assert sum(case.recorded or 0.0 for case in trace.cases) == pytest.approx(16e-6)


def test_equal_steps_of_a_program_give_the_mean_of_their_times(tmp_path: Path) -> None:
    nodes = [named(2 + i, name) for i, name in enumerate(STEP)]
    steps = [dated(f"aten::{name}", 10 * step + i) for step in range(3) for i, name in enumerate(STEP)]
    for event in steps[: len(STEP)]:
        event["dur"] = 8.0
    trace = read(tmp_path, *nodes, kineto=recorded(tmp_path, *steps))
    assert trace.joined == "8 of 8 calls by their order, the mean of 3 equal steps"
    assert sum(case.recorded or 0.0 for case in trace.cases) == pytest.approx(8 * 4e-6)


def test_a_kineto_trace_of_another_run_is_refused(tmp_path: Path) -> None:
    events = [dated("aten::exp", 1, **{"Record function id": 2}), dated("aten::log", 2, **{"Record function id": 77})]
    with pytest.raises(InputError, match=r"has only 1 of the 8 calls of the trace, matched by `Record function id`"):
        read(tmp_path, *[named(2 + i, name) for i, name in enumerate(STEP)], kineto=recorded(tmp_path, *events))
