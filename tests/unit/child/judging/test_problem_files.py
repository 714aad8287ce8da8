"""Files of other formats are read as data, and what is wrong in them is one message with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.each import each

from opperf.child.judging.problems import safetensors, solution
from opperf.child.judging.problems.definition import read_definition, read_workloads
from opperf.child.judging.problems.flashinfer import workload_file
from opperf.child.judging.problems.task_file import read_task
from opperf.child.judging.problems.trace_line import read_arguments, read_calls
from opperf.domain.case import DType, ListOf
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

DEFINITION: dict[str, Any] = {
    "name": "scaled_rows",
    "axes": {
        "total": {"type": "expr", "expression": "b * s"},
        "b": {"type": "var"},
        "s": {"type": "var"},
        "h": {"type": "const", "value": 8},
    },
    "inputs": {"x": {"shape": ["total", "h"], "dtype": "bfloat16"}, "eps": {"shape": None, "dtype": "float32"}},
    "outputs": {"y": {"shape": ["b", "h"], "dtype": "float32"}},
    "constraints": ["b <= s", "len(indptr) == b"],
    "reference": "def run(x, eps): ...",
}


def write(path: Path, data: object) -> Path:
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


def test_axes_are_resolved_in_whatever_order_they_stand(tmp_path: Path) -> None:
    own = read_definition(write(tmp_path / "d.json", DEFINITION))
    axes = own.resolve({"b": 2, "s": 3})
    assert axes == {"h": 8, "b": 2, "s": 3, "total": 6}
    assert own.inputs["x"].spec(axes) == TensorSpec((6, 8), "bfloat16")
    assert own.inputs["eps"].axes is None


def test_axes_that_are_missing_or_break_a_constraint_are_told(tmp_path: Path) -> None:
    own = read_definition(write(tmp_path / "d.json", DEFINITION))
    with pytest.raises(InputError, match="no value for the axis `s`"):
        own.resolve({"b": 2})
    with pytest.raises(InputError, match="do not keep to `b <= s`"):
        own.resolve({"b": 4, "s": 3})


@each(
    "change,message",
    [
        ({"axes": {"b": {"type": "other"}}}, r"axes\.b"),
        ({"inputs": {"x": {"shape": ["zz"], "dtype": "float32"}}}, r"inputs\.x\.shape: found \"zz\""),
        ({"inputs": {"x": {"shape": ["b"], "dtype": "float4_e2m1"}}}, r"inputs\.x: no dtype `float4_e2m1`"),
        ({"reference": None}, r"reference: found null"),
        ({"outputs": []}, "expected a definition"),
    ],
)
def test_a_wrong_definition_names_the_place(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_definition(write(tmp_path / "d.json", {**DEFINITION, **change}))


def test_workloads_are_read_plain_and_as_traces_without_a_solution(tmp_path: Path) -> None:
    plain = {"uuid": "u1", "axes": {"b": 1}, "inputs": {"x": {"type": "random"}}, "tolerance": {"max_atol": 0.5}}
    trace = {"definition": "d", "solution": None, "workload": {**plain, "uuid": "u2", "tolerance": None}}
    first, second = read_workloads(write(tmp_path / "w.jsonl", f"{json.dumps(plain)}\n\n{json.dumps(trace)}\n"))
    assert first.text == plain
    assert (second.uuid, second.text["tolerance"]) == ("u2", None)


@each(
    "line,message",
    [
        ("{", "w.jsonl:2: not JSON"),
        ('{"axes": {"b": -1}, "inputs": {}}', "axes.b: found -1"),
        ('{"axes": {}, "inputs": {"x": {"type": "pickle"}}}', "inputs.x: found"),
    ],
)
def test_a_wrong_workload_names_the_line(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(read_workloads(write(tmp_path / "w.jsonl", f"\n{line}\n")))


def test_workloads_stand_beside_a_definition_or_in_the_folder_of_workloads(tmp_path: Path) -> None:
    definition = tmp_path / "set" / "definitions" / "gemm" / "g.json"
    with pytest.raises(InputError, match="no workloads") as caught:
        workload_file(definition)
    assert "workloads/gemm/g.jsonl" in (caught.value.hint or "")
    place = tmp_path / "set" / "workloads" / "gemm" / "g.jsonl"
    place.parent.mkdir(parents=True)
    place.touch()
    assert workload_file(definition) == place


SOLUTION: dict[str, Any] = {
    "name": "mine",
    "spec": {"language": "python", "entry_point": "kernel.py::run"},
    "sources": [{"path": "kernel.py", "content": "def run(): ..."}],
}


def test_a_solution_fills_its_results_unless_it_says_otherwise(tmp_path: Path) -> None:
    own = solution.read(write(tmp_path / "s.json", SOLUTION))
    assert (own.file, own.function, own.fills) == ("kernel.py", "run", True)
    returning = {**SOLUTION["spec"], "languages": ["pytorch"], "destination_passing_style": False}
    assert not solution.read(write(tmp_path / "s.json", {**SOLUTION, "spec": returning})).fills


@each(
    "change,message",
    [
        ({"spec": {"language": "cuda", "entry_point": "kernel.py::run"}}, "written in cuda"),
        ({"spec": {"language": "python", "entry_point": "other.py::run"}}, "entry_point: found"),
        ({"spec": {"language": "python", "entry_point": "kernel.py::run", "destination_passing_style": 1}}, "found 1"),
        ({"sources": [{"path": "../kernel.py", "content": ""}]}, r"sources\[0\]: found the path"),
        ({"sources": [{"path": "/tmp/kernel.py", "content": ""}]}, r"sources\[0\]: found the path"),
        ({"sources": [{"path": "kernel.py"}]}, r"sources\[0\]\.content: found null"),
    ],
)
def test_a_wrong_solution_names_the_place(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        solution.read(write(tmp_path / "s.json", {**SOLUTION, **change}))


TASK = """
# a comment
files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
lang: "py"
description: |
  tests: nothing of this is an entry
tests:
  - {"size": 127, "seed": 4242, "flat": true} # a remark
  - {size: [1, 2], case: "dense"}
benchmarks:
  - size: 128
    ratio: 0.5
    name: plain-word
ranked_timeout: 420
"""


def test_the_lists_of_a_task_are_read_in_either_style(tmp_path: Path) -> None:
    assert read_task(write(tmp_path / "task.yml", TASK)) == {
        "files": [{"name": "submission.py", "source": "@SUBMISSION@"}],
        "tests": [{"size": 127, "seed": 4242, "flat": True}, {"size": [1, 2], "case": "dense"}],
        "benchmarks": [{"size": 128, "ratio": 0.5, "name": "plain-word"}],
    }


@each("line", ["  - {size: f(1)}", "  what", "  - {size: 1", "  - size: open('x')"])
def test_what_is_no_entry_of_a_task_names_the_line(tmp_path: Path, line: str) -> None:
    with pytest.raises(InputError, match=r"task\.yml:2: found"):
        read_task(write(tmp_path / "task.yml", f"tests:\n{line}\n"))


def test_a_call_of_a_trace_is_read_as_arguments() -> None:
    places, named = read_arguments(
        "((T([2, 3], f16, [1, 2]), [T([4], i64), None], -1.5, (1, 2)), {'dtype': torch.float32})"
    )
    assert places == (
        TensorSpec((2, 3), "float16", strides=(1, 2), range=(0, 1)),
        ListOf((TensorSpec((4,), "int64"), None)),
        -1.5,
        (1, 2),
    )
    assert named == {"dtype": DType("float32")}


@each(
    "text",
    [
        "((T([2], f99),), {})",
        "((__import__('os'),), {})",
        "((x.y.z,), {})",
        "T([1], f32)",
        "((",
        "((T([-1], f32),), {})",
    ],
)
def test_what_is_no_call_is_refused_and_not_evaluated(text: str) -> None:
    with pytest.raises(InputError):
        read_arguments(text)


def test_calls_of_an_operator_are_those_below_its_heading(tmp_path: Path) -> None:
    text = (
        "Operator: aten.add.Tensor\ncnt: 156, ((T([2], f32), T([2], f32)), {})\n"
        "Operator: aten.relu.default\ncnt: 1, ((T([3], b8),), {})\nsomething else\n"
    )
    path = write(tmp_path / "t.txt", text)
    assert [call.count for call in read_calls(path, "add.Tensor")] == [156]
    assert [call.arguments for call in read_calls(path, "relu.default")] == [(TensorSpec((3,), "bool"),)]
    with pytest.raises(InputError, match=r"t\.txt:2: found"):
        list(read_calls(write(path, "Operator: aten.add.Tensor\ncnt: 1, (x)\n"), "add.Tensor"))


def test_a_tensor_of_safetensors_is_read_by_name(tmp_path: Path) -> None:
    header = json.dumps({"w": {"dtype": "I16", "shape": [2], "data_offsets": [2, 6]}, "__metadata__": {}}).encode()
    path = tmp_path / "x.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"\0\0\1\0\2\0")
    assert safetensors.read(path, "w") == (bytearray(b"\1\0\2\0"), TensorSpec((2,), "int16"))
    with pytest.raises(InputError, match='no tensor "v"'):
        safetensors.read(path, "v")


@each("content", [b"", b"\xff" * 16, b"\2\0\0\0\0\0\0\0[]", b"\4\0\0\0\0\0\0\0{}{}"])
def test_what_is_no_safetensors_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(content)
    with pytest.raises(InputError):
        safetensors.read(path, "w")
