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
from opperf.parent.documents.trace import Spent, Trace, TracedCase
from opperf.parent.sources.execution_trace.argument import signature
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


def test_the_way_to_each_operator_is_that_of_labels_and_operators_around_it(tmp_path: Path) -> None:
    linear = "aten::linear(Tensor input) -> Tensor"
    inputs = {"values": [[1]], "shapes": [[4]], "types": ["Tensor(float)"], "strides": [[1]]}
    step = [node(3, 2, "aten::linear", linear, inputs), node(2, 1, "ProfilerStep#4"), node(9, 1, "ProfilerStep#5")]
    nodes = [add(4, 3), add(5, 3), *step, add(10, 9)]
    around = (("ProfilerStep", "label"), ("aten::linear", "operator"))
    ways = {around: Spent(1), (*around, ("aten::add", "operator")): Spent(2)}
    assert read(tmp_path, *nodes, with_ways=True, steps=(0, 1)).ways == ways
    assert len(read(tmp_path, *nodes, with_ways=True).ways) == 3
    assert read(tmp_path, *nodes).ways == {}


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


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "not JSON"),
        ("[1, 2]", "not an execution trace: it is a list"),
        ('{"a": 1, "b": 2}', "not an execution trace: its keys are `a`, `b`"),
        ('{"traceEvents": []}', "this is a Kineto (Chrome) trace, which is replayed alone"),
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
    with pytest.raises(InputError, match=r"2 \.json in it, expected one; there are `a.json`, `b.json`"):
        read_traces([path])


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
