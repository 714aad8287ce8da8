"""A Kineto trace without an execution trace: which calls it has, of which overloads, and with which arguments."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from tests.each import each
from tests.unit.parent.sources.conftest import is_printable, mutated

from opperf.domain.case import Device, DType, ListOf
from opperf.domain.errors import InputError
from opperf.domain.suite import Suite
from opperf.domain.tensor import TensorSpec
from opperf.parent.documents.trace import Trace
from opperf.parent.reports.replay import default_notes
from opperf.parent.sources.execution_trace.overload import Recorded, choose_overload
from opperf.parent.sources.execution_trace.reading import read_traces

IMAGES = "Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1]"
SCHEMAS = {
    "aten::add": (
        "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        "aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
        "aten::add.t(t[] a, t[] b) -> t[]",
    ),
    "aten::linear": ("aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",),
    "aten::sum": (
        "aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
        "aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        "aten::sum.dim_DimnameList(Tensor self, str[1] dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    ),
    "aten::cat": ("aten::cat(Tensor[] tensors, int dim=0) -> Tensor",),
    "aten::conv2d": (
        f"aten::conv2d({IMAGES}, SymInt[2] padding=[0, 0], SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor",
        f'aten::conv2d.padding({IMAGES}, str padding="valid", SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor',
    ),
    "aten::empty": (
        "aten::empty.x(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None) -> Tensor",
    ),
    "aten::index": ("aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",),
    "aten::mul": ("aten::mul.Tensor(Tensor self, Tensor other) -> Tensor",),
}
Argument = tuple[str, str | None, Sequence[Any]]
Arguments = tuple[Argument, ...]


def schemas_of(names: Collection[str]) -> Mapping[str, Sequence[str] | str]:
    """Return the schemas of operators, as a PyTorch would."""
    return {name: SCHEMAS.get(name, "there is no such operator") for name in names}


def event(name: str, *arguments: Argument, start: float = 0.0, dur: float = 2.0, **more: Any) -> dict[str, Any]:
    """Return an operator's event; each argument has its word, its value, and its sizes."""
    args: dict[str, Any] = {"Input type": [one[0] for one in arguments], "Input Dims": [one[2] for one in arguments]}
    if any(one[1] is not None for one in arguments):
        args["Concrete Inputs"] = [one[1] or "" for one in arguments]
    return {"cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": dur, "args": args, **more}


FLOATS: Argument = ("float", "", [4])
#: As traces before PyTorch 2.1 have them, without values.
FLOATS_ALONE: Argument = ("float", None, [4])
NUMBER: Argument = ("Scalar", None, [])
ADD: Arguments = (FLOATS, FLOATS, ("Scalar", "1", []))


def read(folder: Path, *events: dict[str, Any], **how: Any) -> Trace:
    """Write a Kineto trace and read it."""
    path = folder / "k.json"
    path.write_text(json.dumps({"traceEvents": list(events)}))
    return read_traces([path], schemas=schemas_of, **how)


def only(trace: Trace) -> Any:
    """Return the one case."""
    assert trace.left_out == ()
    (result,) = trace.cases
    return result.case


# Calls ---------------------------------------------------------------------------------------------------------------


def test_calls_are_counted_and_timed_and_what_they_call_is_part_of_them(tmp_path: Path) -> None:
    linear: Arguments = (("float", "", [2, 3]), ("float", "", [5, 3]), ("", "", []))
    trace = read(
        tmp_path,
        event("aten::linear", *linear, start=10.0, dur=9.0),
        event("aten::add", *ADD, start=11.0),
        event("aten::add", *ADD, start=20.0),
        event("AddBackward0", FLOATS, start=30.0, dur=5.0),
        event("aten::add", *ADD, start=31.0, dur=3.0),
        event("aten::add", *ADD, start=11.0, tid=2),
    )
    assert [(one.case.operator, one.count) for one in trace.cases] == [
        ("torch:aten::linear.default", 1), ("torch:aten::add.Tensor", 3),
    ]  # fmt: skip
    assert [one.recorded for one in trace.cases] == pytest.approx([9e-6, 7e-6])
    assert (trace.clock, trace.joined) == ("host", None)
    assert trace.cases[1].case.inputs == {"self": TensorSpec((4,), "float32"), "other": TensorSpec((4,), "float32")}
    assert trace.cases[1].case.attributes == {"alpha": 1}


def test_a_trace_of_whole_microseconds_has_the_calls_that_seem_to_end_late(tmp_path: Path) -> None:
    linear: Arguments = (("float", None, [2, 3]), ("float", None, [5, 3]), ("", None, []))
    inside = event("aten::add", *ADD, start=11, dur=4), event("aten::mul", FLOATS, FLOATS, start=14, dur=0)
    trace = read(tmp_path, event("aten::linear", *linear, start=10, dur=4), *inside, event("aten::add", *ADD, start=15))
    assert [(one.case.operator, one.count) for one in trace.cases] == [
        ("torch:aten::linear.default", 1), ("torch:aten::add.Tensor", 1),
    ]  # fmt: skip


def test_labels_and_steps_choose_a_part(tmp_path: Path) -> None:
    events = [
        event(name, *ADD, start=start, cat=cat, dur=dur)
        for name, cat, start, dur in (
            ("ProfilerStep#0", "user_annotation", 0.0, 10.0),
            ("loss", "user_annotation", 1.0, 4.0),
            ("aten::add", "cpu_op", 2.0, 1.0),
            ("aten::add", "cpu_op", 6.0, 1.0),
            ("ProfilerStep#1", "user_annotation", 10.0, 10.0),
            ("aten::add", "cpu_op", 11.0, 1.0),
        )
    ]
    counts = [read(tmp_path, *events, **how).cases[0].count for how in ({}, {"subgraph": "loss"}, {"steps": (0, 1)})]
    assert counts == [3, 1, 2]
    with pytest.raises(InputError, match="no operator below the label `los`"):
        read(tmp_path, *events, subgraph="los")


def test_work_on_a_device_is_that_of_the_call_that_launched_it(tmp_path: Path) -> None:
    launch = {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 1.0, "dur": 0.5,
              "args": {"correlation": 7}}  # fmt: skip
    kernel = {"cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 9, "dur": 40.0, "args": {"correlation": 7}}
    trace = read(tmp_path, event("aten::add", *ADD), launch, kernel)
    assert trace.clock == "device"
    assert trace.cases[0].recorded == pytest.approx(40e-6)


# Arguments -----------------------------------------------------------------------------------------------------------


@each(
    ("name", "arguments", "overload"),
    [
        ("aten::add", (FLOATS, ("Scalar", "2", []), ("Scalar", "1", [])), "add.Scalar"),
        ("aten::sum", (FLOATS, ("", "", [])), "sum"),
        ("aten::sum", (FLOATS, ("ScalarList", "[1]", []), ("Scalar", "False", []), ("", "", [])), "sum.dim_IntList"),
        ("aten::sum", (FLOATS, ("", None, []), ("Scalar", None, []), ("", None, [])), "sum.dim_IntList"),
        ("aten::sum", (FLOATS, FLOATS, FLOATS, FLOATS), None),
        ("aten::add", (FLOATS,), None),
    ],
)
def test_the_overload_is_the_one_that_takes_what_was_recorded(
    name: str, arguments: Sequence[Argument], overload: str | None
) -> None:
    fit = choose_overload(SCHEMAS[name], [Recorded(word, value, sizes, ()) for word, value, sizes in arguments])
    assert (fit and fit[0].partition("(")[0].removeprefix("aten::")) == overload


def test_numbers_lists_types_and_devices_come_back(tmp_path: Path) -> None:
    size: Argument = ("ScalarList", "[2, 3]", [])
    case = only(read(tmp_path, event("aten::empty", size, ("Scalar", "15", []), ("Scalar", "0", []), ("", "", []))))
    assert case.attributes == {
        "size": ListOf((2, 3)), "dtype": DType("bfloat16"), "layout": 0, "device": Device("default"),
    }  # fmt: skip
    axis: Arguments = (FLOATS, ("ScalarList", "[1, -1]", []), ("Scalar", "True", []), ("", "", []))
    case = only(read(tmp_path, event("aten::sum", *axis)))
    assert case.attributes == {"dim": ListOf((1, -1)), "keepdim": True, "dtype": None}


def test_strides_come_back(tmp_path: Path) -> None:
    one = event("aten::mul", ("float", "", [2, 3]), ("c10::BFloat16", "", [2, 3]))
    one["args"]["Input Strides"] = [[1, 2], [3, 1]]
    case = only(read(tmp_path, one))
    assert case.inputs == {
        "self": TensorSpec((2, 3), "float32", strides=(1, 2)), "other": TensorSpec((2, 3), "bfloat16"),
    }  # fmt: skip


def test_the_element_types_of_a_list_are_those_of_other_tensors_of_its_sizes(tmp_path: Path) -> None:
    cat = event("aten::cat", ("TensorList", "", [[4], [4]]), ("Scalar", "0", []), start=5.0)
    others = [event("aten::add", *ADD), event("aten::mul", ("long int", "", [4]), ("long int", "", [4]), start=9.0)]
    trace = read(tmp_path, cat, *others)
    assert [one.case.operator for one in trace.cases][1] == "torch:aten::cat.default"
    assert trace.cases[1].case.inputs == {"tensors": ListOf((TensorSpec((4,), "float32"),) * 2)}
    trace = read(tmp_path, cat, *others, event("aten::mul", ("double", "", [4]), ("double", "", [4]), start=20.0))
    assert [one.reason for one in trace.left_out] == ["a list of tensors, whose element types are not recorded"]


def test_a_string_that_is_not_recorded_has_its_default_which_is_told(tmp_path: Path) -> None:
    pair: Argument = ("ScalarList", "[1, 1]", [])
    convolution: Arguments = (
        ("float", "", [1, 3, 8, 8]),
        ("float", "", [4, 3, 3, 3]),
        ("", "", []),
        pair,
        ("", "", []),
        pair,
    )
    trace = read(tmp_path, event("aten::conv2d", *convolution, ("Scalar", "1", [])))
    assert only(trace).attributes["padding"] == "valid"
    assert only(trace).operator == "torch:aten::conv2d.padding"
    assert default_notes(trace) == ["note: 1 x aten::conv2d: `padding` was not recorded and has its default"]


@each(
    ("one", "reason"),
    [
        (event("aten::index", FLOATS, ("", "", [])), "its `indices` was not recorded"),
        (
            event("aten::sum", FLOATS_ALONE, ("", None, []), NUMBER, ("", None, [])),
            "its `dim` was not recorded",
        ),
        (event("aten::cat", ("TensorList", None, []), NUMBER), "its `tensors` was not recorded"),
        (event("aten::sum", FLOATS_ALONE, NUMBER), "its `dtype` was not recorded"),
        (event("aten::empty", ("ScalarList", "[1, ...]", []), *(("", "", []),) * 3), "a list that is not recorded to"),
        (event("aten::add", FLOATS), "no overload of it takes what was recorded"),
        (event("mine::op", FLOATS), "there is no such operator"),
        (event("c10d::allreduce_", FLOATS), "communication between processes"),
        ({**event("aten::add"), "args": {}}, "its inputs were not recorded"),
    ],
)
def test_what_a_trace_does_not_tell_is_left_out_with_its_reason(one: Any, reason: str, tmp_path: Path) -> None:
    trace = read(tmp_path, one, event("aten::mul", FLOATS, FLOATS, start=50.0))
    (left,) = trace.left_out
    assert left.reason.startswith(reason)
    assert left.recorded == pytest.approx(2e-6)


def test_a_fused_kernel_is_left_out(tmp_path: Path) -> None:
    fused = event("triton_poi_fused_add_0", FLOATS)
    fused["args"] |= {"kernel_backend": "triton", "kernel_file": "/tmp/c.py"}
    (left,) = read(tmp_path, fused).left_out
    assert left.reason.startswith("a fused kernel of triton, whose source `c.py` is not run")


# What is refused -----------------------------------------------------------------------------------------------------


def test_a_trace_without_shapes_is_refused_with_what_records_them(tmp_path: Path) -> None:
    bare = {**event("aten::add"), "args": {"External id": 1}}
    with pytest.raises(InputError, match="no shapes of inputs are in this Kineto trace") as caught:
        read(tmp_path, bare)
    assert "`record_shapes=True`" in str(caught.value.hint)


def test_a_trace_of_more_operators_than_any_program_calls_is_refused(tmp_path: Path) -> None:
    events = [event(f"aten::op{i}", FLOATS, start=3.0 * i) for i in range(2001)]
    with pytest.raises(InputError, match="calls 2,001 different operators, expected 2,000 at most"):
        read(tmp_path, *events)


def test_two_traces_of_which_one_is_a_kineto_trace_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "k.json"
    path.write_text(json.dumps({"traceEvents": [event("aten::add", *ADD)]}))
    with pytest.raises(InputError, match="which is replayed alone"):
        read_traces([path, path], schemas=schemas_of)


WHOLE = {
    "traceEvents": [
        event("ProfilerStep#0", cat="user_annotation", dur=99.0),
        event("aten::cat", ("TensorList", "", [[4], [4]]), ("Scalar", "0", []), start=1.0),
        event("aten::sum", FLOATS, ("ScalarList", "[0]", []), ("Scalar", "False", []), ("", "", []), start=5.0),
        event("aten::mul", FLOATS, ("long int", "", [4]), start=9.0, extra=1),
    ]
}
WORDS = ("TensorList", "Scalar", "ScalarList", "float", "long int", "[1, 2", "1e999", "9" * 5000, "", "\x1b[31m", "...")


@settings(max_examples=300, deadline=None)
@example(document={"traceEvents": [{**WHOLE["traceEvents"][1], "dur": "1e999"}]})
@given(document=mutated(WHOLE, WORDS, [[[4], [4]], [-1], [[]], {"Input type": []}]))
def test_a_trace_with_mistakes_is_read_or_refused_and_what_is_told_is_printable(
    document: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.json"
    path.write_text(json.dumps(document))
    told = ""
    try:
        trace = read_traces([path], schemas=schemas_of)
        suite = Suite.from_json(json.loads(json.dumps(trace.suite().to_json(), allow_nan=False)), str(path))
        assert [entry.case for entry in suite.cases] == [entry.case for entry in trace.cases]
    except InputError as error:
        told = str(error)
    assert is_printable(told)
