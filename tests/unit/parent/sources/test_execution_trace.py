"""Execution traces as cases: which calls count, how arguments come back, and what is said of files that are none."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from opperf.domain.case import Device, DType, ListOf
from opperf.domain.errors import InputError
from opperf.domain.tensor import MOST_LITERAL, TensorSpec
from opperf.domain.trace import Trace, TracedCase
from opperf.parent.sources.execution_trace.argument import signature
from opperf.parent.sources.execution_trace.kineto import Recording, read_kineto
from opperf.parent.sources.execution_trace.reading import read_traces

ADD = "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
SHAPES = {"values": [[1, 2, 0, 4, 4, "cpu"]] * 2 + [1], "shapes": [[4], [4], []], "strides": [[1], [1], []]}
INPUTS = {**SHAPES, "types": ["Tensor(float)", "Tensor(float)", "Int"]}
NOTHING: dict[str, list[Any]] = {"values": [], "shapes": [], "types": [], "strides": []}


def node(
    number: int, parent: int, name: str, schema: str = "", inputs: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """Return a node as schema 1.1.1 has it; more are its attributes."""
    attributes = {"rf_id": number, "op_schema": schema, **more}
    return {
        "id": number,
        "name": name,
        "ctrl_deps": parent,
        "inputs": inputs or NOTHING,
        "outputs": NOTHING,
        "attrs": [{"name": key, "type": "", "value": value} for key, value in attributes.items()],
    }


def add(number: int, parent: int = 1) -> dict[str, Any]:
    """Return a call of `add` with two vectors."""
    return node(number, parent, "aten::add", ADD, INPUTS)


def call(
    schema: str, kinds: Sequence[str], values: Sequence[Any], shapes: Sequence[Any], **more: Any
) -> dict[str, Any]:
    """Return a call of any operator."""
    inputs = {"values": values, "shapes": shapes, "types": kinds, "strides": more.pop("strides", [[]] * len(values))}
    return node(2, 1, schema.partition("(")[0].partition(".")[0], schema, inputs, **more)


def written(folder: Path, *nodes: dict[str, Any], schema: str = "1.1.1-chakra.0.0.4") -> Path:
    """Write a trace; the root comes last, as PyTorch writes it."""
    root = node(1, 1, "[pytorch|profiler|execution_trace|process]")
    path = folder / "et.json"
    path.write_text(json.dumps({"schema": schema, "pid": 1, "nodes": [*nodes, root]}))
    return path


def read(folder: Path, *nodes: dict[str, Any], **how: Any) -> Trace:
    """Write a trace and read it."""
    return read_traces([written(folder, *nodes)], **how)


def only(trace: Trace) -> TracedCase:
    """Return the one case."""
    assert trace.left_out == ()
    (result,) = trace.cases
    return result


def test_equal_calls_are_one_case_with_their_count(tmp_path: Path) -> None:
    result = only(read(tmp_path, add(2), add(3), add(4)))
    assert result.count == 3
    assert result.case.operator == "torch:aten::add.Tensor"
    assert dict(result.case.inputs) == {"self": TensorSpec((4,)), "other": TensorSpec((4,))}
    assert dict(result.case.attributes) == {"alpha": 1}


def test_what_an_operator_calls_itself_is_not_counted_again(tmp_path: Path) -> None:
    linear = "aten::linear(Tensor input) -> Tensor"
    inputs = {"values": [[1]], "shapes": [[4]], "types": ["Tensor(float)"], "strides": [[1]]}
    trace = read(tmp_path, add(4, 3), node(3, 2, "aten::linear", linear, inputs), node(2, 1, "a label"))
    assert only(trace).case.operator == "torch:aten::linear.default"


def test_what_autograd_runs_counts(tmp_path: Path) -> None:
    trace = read(tmp_path, add(4, 3), node(3, 2, "AddBackward0"), node(2, 1, "autograd::engine::evaluate_function: x"))
    assert only(trace).count == 1


def test_a_flat_trace_of_schema_1_0_1_is_read_alike(tmp_path: Path) -> None:
    flat = {"parent": 1, "rf_id": 7, "op_schema": ADD, "inputs": INPUTS["values"], "outputs": []}
    shapes = {"input_shapes": INPUTS["shapes"], "input_types": INPUTS["types"]}
    path = tmp_path / "flat.json"
    path.write_text(json.dumps({"schema": "1.0.1", "nodes": [{"id": 2, "name": "aten::add", **flat, **shapes}]}))
    assert only(read_traces([path])).case == only(read(tmp_path, add(2))).case


def test_several_traces_are_counted_together(tmp_path: Path) -> None:
    path = written(tmp_path, add(2))
    result = read_traces([path, path])
    assert (only(result).count, result.source) == (2, "et.json, et.json")


@pytest.mark.parametrize("kind", ["gz", "tar.gz"])
def test_packed_traces_are_read(kind: str, tmp_path: Path) -> None:
    plain = written(tmp_path, add(2))
    path = tmp_path / f"packed.{kind}"
    if kind == "gz":
        path.write_bytes(gzip.compress(plain.read_bytes()))
    else:
        with tarfile.open(path, "w:gz") as archive:
            archive.add(plain, arcname="inside/et.json")
    assert only(read_traces([path])).case == only(read_traces([plain])).case


def test_arguments_come_back_with_types_shapes_and_strides(tmp_path: Path) -> None:
    schema = (
        "aten::f(Tensor a, Tensor? b, Tensor[] c, int[2] d, *, ScalarType? dtype=None, Device? device=None, "
        "bool e=False, float g=1., str h='x') -> Tensor"
    )
    kinds = [
        "Tensor(c10::Half)", "None", "GenericList[Tensor(float),Tensor(c10::complex<float>)]", "GenericList[Int,Int]",
        "Int", "Device", "Bool", "Double", "String",
    ]  # fmt: skip
    values = [[1], "<None>", [[1], [2]], [3, 4], 15, "cuda:0", True, 2, "tanh"]
    shapes = [[2, 3], [], [[4], [5, 6]], [[], []], [], [], [], [], []]
    strides = [[1, 2], [], [[1], [6, 1]], [], [], [], [], [], []]
    case = only(read(tmp_path, call(schema, kinds, values, shapes, strides=strides))).case
    assert dict(case.inputs) == {
        "a": TensorSpec((2, 3), "float16", strides=(1, 2)),
        "b": None,
        "c": ListOf((TensorSpec((4,)), TensorSpec((5, 6), "complex64"))),
    }
    assert dict(case.attributes) == {
        "d": ListOf((3, 4)), "dtype": DType("bfloat16"), "device": Device("default"), "e": True, "g": 2.0, "h": "tanh",
    }  # fmt: skip


def test_scalars_before_the_last_tensor_go_by_position(tmp_path: Path) -> None:
    schema = "aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor"
    case = only(read(tmp_path, call(schema, ["Int", "Tensor(float)"], [2, [1]], [[], [4]]))).case
    assert list(case.inputs) == ["self", "exponent"]


@pytest.mark.parametrize(("ranges", "bounds"), [('{"1":[2,95]}', (2.0, 96.0)), ("", (0.0, 100.0))])
def test_indices_stay_inside_what_is_recorded_or_what_they_index(
    ranges: str, bounds: tuple[float, float], tmp_path: Path
) -> None:
    schema = "aten::embedding(Tensor weight, Tensor indices) -> Tensor"
    kinds = ["Tensor(float)", "Tensor(long int)"]
    made = call(schema, kinds, [[1], [2]], [[100, 16], [8]], tensor_range=ranges)
    assert only(read(tmp_path, made)).case.tensor("indices").range == bounds


def test_each_advanced_index_stays_inside_its_own_dimension(tmp_path: Path) -> None:
    schema = "aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor"
    kinds = ["Tensor(float)", "GenericList[None,Tensor(long int)]"]
    case = only(read(tmp_path, call(schema, kinds, [[1], ["<None>", [2]]], [[7, 9], [[], [3]]]))).case
    assert case["indices"] == ListOf((None, TensorSpec((3,), "int64", range=(0.0, 9.0))))


def test_recorded_bounds_are_counted_by_tensors_not_by_arguments(tmp_path: Path) -> None:
    schema = "aten::f(int n, Tensor? a, Tensor b, Tensor[] c, Tensor d) -> Tensor"
    kinds = [
        "Int", "Tensor(nullptr (uninitialized))", "None", "GenericList[Tensor(float),Tensor(int)]", "Tensor(long int)",
    ]  # fmt: skip
    values = [3, [0], "<None>", [[1], [2]], [3]]
    made = call(schema, kinds, values, [[], [], [], [[4], [4]], [4]], tensor_range='{"2":[5,6],"3":[7,8]}')
    case = only(read(tmp_path, made)).case
    assert case["c"] == ListOf((TensorSpec((4,)), TensorSpec((4,), "int32", range=(5.0, 7.0))))
    assert case["d"] == TensorSpec((4,), "int64", range=(7.0, 9.0))


GATHER = "aten::gather(Tensor self, int dim, Tensor index) -> Tensor"


def gather(place: Sequence[Any], shape: Sequence[int], strides: Sequence[int]) -> dict[str, Any]:
    """Return a call whose second tensor is an index; the first recorded one has the same shape."""
    kinds = ["Tensor(float)", "Int", "Tensor(long int)"]
    values = [[5, 6, 0, 6, 4, "cpu"], 0, [7, 8, *place]]
    return call(GATHER, kinds, values, [shape, [], shape], strides=[[], [], strides], tensor_range='{"1":[0,0]}')


def kept(folder: Path, elements: Sequence[int], name: str = "nid_2_tid_1.dat") -> None:
    """Write what the recorder keeps of a tensor of 64-bit numbers."""
    (folder / "et_resources").mkdir(exist_ok=True)
    (folder / "et_resources" / name).write_bytes(array("q", elements).tobytes())


@pytest.mark.parametrize(
    ("place", "strides", "literal"),
    [
        ([0, 6, 8, "cpu"], [3, 1], (3, 1, 4, 1, 5, 9)),
        ([0, 6, 8, "cpu"], [1, 2], (3, 4, 5, 1, 1, 9)),  # columns lie next to each other
        ([2, 6, 8, "cuda:0"], [3, 1], (3, 1, 4, 1, 5, 9)),  # it was copied before it was written
        ([2, 6, 8, "cpu"], [3, 1], None),  # PyTorch writes from another place in its memory
        ([0, 6, 8, "cpu"], [6, 2], None),  # so do gaps
    ],
)
def test_indices_have_the_elements_that_were_kept_beside_the_trace(
    place: Sequence[Any], strides: Sequence[int], literal: tuple[int, ...] | None, tmp_path: Path
) -> None:
    kept(tmp_path, [3, 1, 4, 1, 5, 9])
    index = only(read(tmp_path, gather(place, [2, 3], strides))).case.tensor("index")
    assert index.literal == literal
    assert index.range == (None if literal else (0.0, 1.0))


def test_of_more_elements_than_a_case_may_hold_the_bounds_are_kept(tmp_path: Path) -> None:
    kept(tmp_path, [*range(5, MOST_LITERAL), *[5] * 6])
    made = gather([0, MOST_LITERAL + 1, 8, "cpu"], [MOST_LITERAL + 1], [1])
    index = only(read(tmp_path, made)).case.tensor("index")
    assert (index.literal, index.range) == (None, (5.0, MOST_LITERAL))


def test_elements_of_another_tensor_are_not_taken(tmp_path: Path) -> None:
    kept(tmp_path, [1, 2])
    (left,) = read(tmp_path, gather([0, 6, 8, "cpu"], [2, 3], [3, 1])).left_out
    assert left.reason == "its record cannot be read (nid_2_tid_1.dat has 16 bytes, but the tensor has 48)"


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (node(2, 1, "c10d::allreduce_", "c10d::allreduce_(Tensor[] t) -> Tensor"), "communication between processes"),
        (node(2, 1, "triton_poi_0", kernel_backend="triton"), "a fused kernel of triton, whose source is not in"),
        (call("aten::f(Tensor a) -> Tensor", ["Tensor(c10::Float8_e8m0fnu)"], [[1]], [[4]]), "a tensor of c10::Float8"),
        (call("aten::f(Generator? g) -> Tensor", ["Generator"], ["x"], [[]]), "an argument of type Generator"),
        (call("aten::f(Tensor a) -> Tensor", [], [], []), "0 inputs are recorded, but the operator takes 1"),
        (call("no schema", [], [], []), "its record cannot be read (not the signature of an operator: 'no schema')"),
    ],
)
def test_what_cannot_run_again_is_listed_with_the_reason(made: dict[str, Any], reason: str, tmp_path: Path) -> None:
    trace = read(tmp_path, made, add(3))
    assert len(trace.cases) == 1
    (left,) = trace.left_out
    assert left.count == 1
    assert left.reason.startswith(reason)


def test_a_subgraph_is_what_ran_below_its_label(tmp_path: Path) -> None:
    nodes = (add(2), node(3, 1, "mine"), add(4, 3), node(5, 3, "inner"), add(6, 5))
    assert only(read(tmp_path, *nodes, subgraph="mine")).count == 2
    with pytest.raises(InputError, match="no operator below the label `mien`") as caught:
        read(tmp_path, *nodes, subgraph="mien")
    assert caught.value.hint == "did you mean `mine`?"
    with pytest.raises(InputError, match="no operator below the label `other`") as caught:
        read(tmp_path, *nodes, subgraph="other")
    assert caught.value.hint == "there are, for example, `mine`, `inner`"


def test_steps_are_counted_from_the_first_one_recorded(tmp_path: Path) -> None:
    nodes = (add(2), node(3, 1, "ProfilerStep#5"), add(4), add(5), node(6, 1, "ProfilerStep#6"), add(7))
    assert only(read(tmp_path, *nodes)).count == 4
    assert only(read(tmp_path, *nodes, steps=(0, 1))).count == 2
    assert only(read(tmp_path, *nodes, steps=(0, 2))).count == 3
    with pytest.raises(InputError, match="no operator in the steps 2 to 3 of the trace") as caught:
        read(tmp_path, *nodes, steps=(2, 4))
    assert caught.value.hint == "its steps are 0 to 1"
    with pytest.raises(InputError, match="no operator in the step 0 of the trace") as caught:
        read(tmp_path, add(2), steps=(0, 1))
    assert caught.value.hint == "the trace has no `profiler.step()` calls, which mark the steps"


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


def cpu_op(number: int, name: str, call: int, microseconds: float = 50.0) -> dict[str, Any]:
    """Return an operator's event, as Kineto writes it."""
    arguments = {"External id": call, "Record function id": number, "Ev Idx": number}
    return {
        "ph": "X", "cat": "cpu_op", "name": name, "pid": 9, "tid": 9, "ts": 10.5, "dur": microseconds,
        "args": arguments,
    }  # fmt: skip


def launch(call: int, correlation: int) -> dict[str, Any]:
    """Return the runtime's event of a launch."""
    arguments = {"External id": call, "cbid": 211, "correlation": correlation}
    return {
        "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": 11.0, "dur": 4.0,
        "args": arguments,
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
        cpu_op(3, "aten::add", 12, 60.0),
        launch(12, 100),
        {"ph": "s", "id": 100, "pid": 9, "tid": 9, "ts": 11.0, "cat": "ac2g", "name": "ac2g"},
        cpu_op(4, "aten::add", 13),
        launch(13, 101),
        work("kernel", 2.0, correlation=101),  # by way of the launch
        work("gpu_memset", 0.5, **{"External id": 13, "correlation": 102}),
        cpu_op(5, "aten::add", 14),
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


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "not JSON"),
        ("[1, 2]", "not an execution trace: it is a list"),
        ('{"a": 1, "b": 2}', "not an execution trace: its keys are `a`, `b`"),
        ('{"traceEvents": []}', "a Kineto (Chrome) trace"),
        ('{"schema": "9.9", "nodes": []}', '`schema` is "9.9"'),
        ('{"schema": "1.0.1", "nodes": []}', "no operator in the trace"),
        ('{"schema": "1.0.1", "nodes": [{"id": 1}]}', "nodes[0] is not a node of a trace (KeyError: 'parent')"),
        ('{"schema": "1.0.1", "nodes": [', "damaged after 0 nodes"),
    ],
)
def test_a_file_that_is_no_trace_is_refused_with_what_it_is(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_traces([path])
    assert told in str(caught.value)


def test_arguments_that_are_no_list_are_refused(tmp_path: Path) -> None:
    nested = {"schema": "1.1.1-chakra.0.0.4", "nodes": [node(2, 1, "aten::add", ADD, {**INPUTS, "types": 5})]}
    of_node = {"id": 2, "parent": 1, "name": "aten::add", "op_schema": ADD, "inputs": [], "input_types": []}
    flat = {"schema": "1.0.1", "nodes": [{**of_node, "input_shapes": None}]}
    path = tmp_path / "t.json"
    for document, told in ((nested, "`types` is 5, expected a list"), (flat, "`input_shapes` is null, expected a")):
        path.write_text(json.dumps(document))
        with pytest.raises(InputError, match=told):
            read_traces([path])


def test_a_trace_that_is_cut_short_says_after_how_many_nodes(tmp_path: Path) -> None:
    path = written(tmp_path, *map(add, range(2, 1000)))  # longer than what is read at once
    path.write_text(path.read_text()[:-900])
    with pytest.raises(InputError, match=r"damaged after [1-9]\d+ nodes"):
        read_traces([path])


def test_an_archive_must_hold_one_trace(tmp_path: Path) -> None:
    path = tmp_path / "t.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in ("a.json", "b.json"):
            archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    with pytest.raises(InputError, match=r"expected one \.json in it, found `a.json`, `b.json`"):
        read_traces([path])


def test_a_kineto_trace_without_numbers_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "k.json"
    path.write_text('{"traceEvents": [{"name": "x"}]}')
    with pytest.raises(InputError, match="no call of an operator among 1 events"):
        read_kineto(path)


def dated(name: str, start: float, thread: int = 9, **arguments: int) -> dict[str, Any]:
    """Return an operator's event of 2 us that began at a time."""
    return {"cat": "cpu_op", "name": name, "pid": 1, "tid": thread, "ts": start, "dur": 2.0, "args": arguments}


def recorded(folder: Path, *events: dict[str, Any]) -> Recording:
    """Return what a Kineto trace of some events holds."""
    path = folder / "k.json"
    path.write_text(json.dumps({"traceEvents": list(events)}))
    return read_kineto(path)


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


def test_signatures_are_read_with_their_aliases_and_defaults() -> None:
    result = signature("aten::f.out(Tensor(a!) self, int[2] s=[1, 1], *, float? x=None, Tensor(b!)[] out) -> ()")
    assert result.name == "aten::f.out"
    assert [(one.name, one.type, one.keyword_only) for one in result.parameters] == [
        ("self", "Tensor(a!)", False), ("s", "int[2]", False), ("x", "float?", True), ("out", "Tensor(b!)[]", True),
    ]  # fmt: skip


def test_a_sparse_or_nested_tensor_is_left_out_with_its_reason_and_never_made_dense(tmp_path: Path) -> None:
    inputs = {
        "values": [[10, 11, 0, 8000, 4, "cpu"], [76, 0, 0, 0, 0, ""], -0.1],
        "shapes": [[1000, 8], [1000, 8], []],
        "types": ["Tensor(float)", "Tensor(float)", "Double"],
        "strides": [[8, 1], [0, 0], []],
    }
    schema = "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"
    trace = read(tmp_path, node(2, 1, "aten::add_", schema, inputs))
    assert trace.cases == ()
    assert [(one.name, one.count) for one in trace.left_out] == [("aten::add_", 1)]
    assert "sparse or nested" in trace.left_out[0].reason


def test_a_call_under_autocast_is_its_casts_and_itself_in_the_other_type(tmp_path: Path) -> None:
    linear = "aten::linear(Tensor input) -> Tensor"
    cast = "aten::to.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)"

    def of(kind: str) -> dict[str, Any]:
        return {"values": [[1]], "shapes": [[4]], "types": [f"Tensor({kind})"], "strides": [[1]]}

    casting = {"values": [[1], 15], "shapes": [[4], []], "types": ["Tensor(float)", "Int"], "strides": [[1], []]}
    half = node(5, 3, "aten::linear", linear, of("c10::BFloat16"))
    inner = node(6, 5, "aten::linear", linear, of("c10::BFloat16"))  # the same types: a part of the other
    outer = node(3, 2, "aten::linear", linear, of("float"))
    trace = read(tmp_path, node(4, 3, "aten::to", cast, casting), half, inner, outer, node(2, 1, "a label"))
    assert {(entry.case.operator, next(entry.case.tensors()).dtype, entry.count) for entry in trace.cases} == {
        ("torch:aten::to.dtype", "float32", 1),
        ("torch:aten::linear.default", "bfloat16", 1),
    }


def test_what_a_trace_does_not_tell_is_within_the_operators_domain(tmp_path: Path) -> None:
    inputs = {"values": [[1]], "shapes": [[4]], "types": ["Tensor(float)"], "strides": [[1]]}
    made = node(2, 1, "aten::sqrt_", "aten::sqrt_(Tensor(a!) self) -> Tensor(a!)", inputs)
    assert only(read(tmp_path, made)).case["self"] == TensorSpec((4,), range=(0.1, 2.0))


def test_bounds_that_were_recorded_do_not_undo_what_an_operator_asks_for(tmp_path: Path) -> None:
    schema = "aten::nll_loss(Tensor self, Tensor target) -> Tensor"
    kinds = ["Tensor(float)", "Tensor(long int)"]
    made = call(schema, kinds, [[1], [2]], [[16, 8], [16]], tensor_range='{"1":[-100,7]}')
    assert only(read(tmp_path, made)).case.tensor("target").range == (0.0, 8.0)
