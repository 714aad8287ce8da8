"""Files that are right but for a few mistakes, drawn at random, and what must hold of whatever reads them."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from opperf.domain.errors import InputError
from opperf.domain.suite import Suite
from opperf.param.cases import cases
from opperf.param.document import read_config
from opperf.param.grammar import ARGUMENTS, DEFAULT_GENERATOR, DTYPES, ITERATORS, RANGE_ITERATOR, SHARED
from opperf.parent.reports.text import case_text, one_line
from opperf.parent.sources.execution_trace.kineto import read_kineto
from opperf.parent.sources.execution_trace.reading import read_traces

INTEGER = {"type": "int", "value": [1, 3, 1], "__range__": ["value"]}
TENSOR = {"type": "tensor", "dtype": "float", "shape": [[2, 8, "log2"], 3], "__range__": ["shape"]}
COPY = {
    "type": "tensor",
    "dtype": "long",
    "shape": [-1, 3],
    "__copy__": [{"shape": [0, [0, 0]]}],
    "value_range": [0, 3],
}
LIST = {"type": "genericlist", "value": [INTEGER, {"type": "float", "value": 0.5}], "__range__": ["value"]}
SCHEMA = "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
#: A config with one of everything.
CONFIG = {
    "torch.add": {
        "input_iterator": RANGE_ITERATOR,
        "input_data_generator": DEFAULT_GENERATOR,
        "config": [
            {"input": [{"args": [TENSOR, COPY], "kwargs": {"alpha": INTEGER, "out": {"type": "none"}}}, {"id": "a"}]}
        ],
    },
    "torch.nn.Linear": {
        "build_iterator": RANGE_ITERATOR,
        "build_data_generator": DEFAULT_GENERATOR,
        "input_data_generator": DEFAULT_GENERATOR,
        "config": [
            {
                "build": [{"args": [INTEGER, LIST]}],
                "input": [{"args": [{"type": "tensor", "dtype": "half", "shape": []}]}],
            }
        ],
    },
    "aten::add": {
        "input_data_generator": DEFAULT_GENERATOR,
        "config": [{"build": [{"args": [{"type": "str", "value": SCHEMA}]}], "input": [{"args": []}]}],
    },
    "softmax": {
        "input_data_generator": DEFAULT_GENERATOR,
        "config": [{"input": [{"args": [{"type": "tensor", "dtype": "float", "shape": [2, 2]}]}]}],
    },
}
CONFIG_WORDS = (
    *ARGUMENTS, *SHARED, *DTYPES[:3], *ITERATORS, "value", "value_range", "shape", "config", "input", "build", "args",
    "kwargs", "id", "configs", "op_name", "op_info", "mxnet:nd.dot", "aten::", "torch.", "mxnet:", "log2", "", "|",
    "\ud800", "\x1b[31m",
)  # fmt: skip
NUMBERS = (0, 1, -1, 3, 10**4, 2**62, 2**70, 0.5, 1e300, float("nan"), float("inf"))


def junk(words: Sequence[str], parts: Sequence[Any]) -> st.SearchStrategy[Any]:
    """Return a strategy of values that do not belong where they are put."""
    return st.one_of(
        st.none(),
        st.booleans(),
        st.sampled_from(NUMBERS),
        st.sampled_from(words),
        st.sampled_from([[], {}, [1], [[1]], [1, 3, 1], [3, 1], [0.5, 1.5], *parts]),
        st.lists(st.sampled_from(words), max_size=3),
        st.dictionaries(st.sampled_from(words), st.sampled_from([0, "a", [], {}, [1, 2]]), max_size=3),
    )


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value in a document."""
    inside = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(place for key, value in inside for place in places(value, (*path, key)))]


@st.composite
def mutated(draw: st.DrawFn, whole: Any, words: Sequence[str], parts: Sequence[Any] = (), most: int = 4) -> Any:
    """Draw a document that is right but for a few values: others in their place, gone, moved, or under other keys."""
    data: Any = json.loads(json.dumps(whole))  # so that no part of it is in two places
    others = junk(words, parts)
    for _ in range(draw(st.integers(1, most))):
        result = places(data)
        *way, last = draw(st.sampled_from(result[1:])) if len(result) > 1 else (None,)
        if last is None:
            return draw(others)
        holder = data
        for step in way:
            holder = holder[step]
        how = draw(st.sampled_from(["replace", "remove", "rename", "swap"]))
        if how == "remove":
            del holder[last]
        elif how == "rename" and isinstance(holder, dict):
            holder[draw(st.sampled_from(words))] = holder.pop(last)
        elif how == "swap":
            source: Any = data
            for step in draw(st.sampled_from(result)):
                source = source[step] if isinstance(source, (dict, list)) and step in _keys(source) else source
            holder[last] = copy.deepcopy(source)
        else:
            holder[last] = copy.deepcopy(draw(others))
    return data


def _keys(holder: Any) -> Any:
    return holder if isinstance(holder, dict) else range(len(holder))


def _node(number: int, parent: int, name: str, schema: str = "", **inputs: Any) -> dict[str, Any]:
    """Return a node of a trace, with the attributes that PyTorch gives it."""
    given = inputs or {"values": [], "shapes": [], "types": [], "strides": []}
    attributes = {"rf_id": number, "tid": 1, "op_schema": schema, "kernel_backend": "", "tensor_range": '{"1":[2,9]}'}
    return {
        "id": number,
        "name": name,
        "ctrl_deps": parent,
        "inputs": given,
        "outputs": {"values": [], "shapes": [], "types": [], "strides": []},
        "attrs": [{"name": key, "type": "", "value": value} for key, value in attributes.items()],
    }


_PLACE = [1, 2, 0, 4, 4, "cpu"]
#: A trace with one of everything: labels, steps, lists, indices, arguments of every type.
TRACE = {
    "schema": "1.1.1-chakra.0.0.4",
    "pid": 1,
    "nodes": [
        _node(
            4, 3, "aten::add", SCHEMA, values=[_PLACE, _PLACE, 1], shapes=[[4], [4], []],
            types=["Tensor(float)", "Tensor(float)", "Int"], strides=[[1], [1], []],
        ),
        _node(
            5, 3, "aten::embedding", "aten::embedding(Tensor weight, Tensor indices) -> Tensor",
            values=[_PLACE, _PLACE], shapes=[[10, 3], [4]], types=["Tensor(float)", "Tensor(long int)"],
            strides=[[1, 10], [1]],
        ),
        _node(
            6, 4, "aten::index", "aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
            values=[_PLACE, ["<None>", _PLACE]], shapes=[[7, 9], [[], [3]]],
            types=["Tensor(float)", "GenericList[None,Tensor(long int)]"], strides=[[9, 1], [[], [1]]],
        ),
        _node(
            7, 2, "aten::to", "aten::to.dtype(Tensor self, ScalarType d, bool b=False, float f=1., Device? e=None) ->",
            values=[_PLACE, 15, True, 0.5, "cuda:0"], shapes=[[4], [], [], [], []],
            types=["Tensor(c10::Half)", "Int", "Bool", "Double", "Device"], strides=[[1], [], [], [], []],
        ),
        _node(3, 2, "ProfilerStep#1"),
        _node(2, 1, "[pytorch|profiler|execution_trace|thread]"),
        _node(1, 1, "[pytorch|profiler|execution_trace|process]"),
    ],
}  # fmt: skip
TRACE_WORDS = (
    "id", "name", "ctrl_deps", "inputs", "attrs", "values", "shapes", "types", "strides", "value", "op_schema", "rf_id",
    "tensor_range", "schema", "nodes", "traceEvents", "1.0.1", "parent", "input_types", "Tensor(float)", "Tensor(int)",
    "Tensor(nullptr (uninitialized))", "GenericList[Tensor(float),Int]", "GenericList[", "Tuple[Int]", "Generator",
    SCHEMA, "f(", '{"0":[1e999,1]}', '{"a":1}', "ProfilerStep#", "c10d::x", "", "\ud800", "\x1b[31m",
)  # fmt: skip
#: A Kineto trace of the same run, with work on a device.
KINETO = {
    "schemaVersion": 1,
    "traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 1.5, "dur": 9.25,
         "args": {"External id": 7, "Record function id": 4, "Ev Idx": 0}},
        {"ph": "X", "cat": "cpu_op", "name": "aten::embedding", "pid": 1, "tid": 1, "ts": 11, "dur": 4.5,
         "args": {"External id": 8, "Record function id": 5, "Ev Idx": 1}},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 3,
         "args": {"External id": 7, "cbid": 211, "correlation": 70}},
        {"ph": "X", "cat": "kernel", "name": "add<float>", "pid": 0, "tid": 7, "ts": 9, "dur": 2.5,
         "args": {"External id": 7, "device": 0, "stream": 7, "correlation": 70, "grid": [1, 1, 1]}},
        {"ph": "s", "id": 70, "pid": 1, "tid": 1, "ts": 2, "cat": "ac2g", "name": "ac2g"},
    ],
}  # fmt: skip
KINETO_WORDS = (
    "cat", "dur", "args", "name", "cpu_op", "kernel", "cuda_runtime", "External id", "external id", "correlation",
    "Record function id", "traceEvents", "nodes", "1e5", "", "\ud800", "\x1b[31m",
)  # fmt: skip
CONFIGS = mutated(CONFIG, CONFIG_WORDS, [TENSOR, INTEGER, LIST, COPY])
TRACES = mutated(TRACE, TRACE_WORDS, [_PLACE])
KINETOS = mutated(KINETO, KINETO_WORDS)


def written(document: Any) -> bytes:
    """Return a document as a file has it."""
    return json.dumps(document).encode()


def damaged(whole: Any) -> st.SearchStrategy[bytes]:
    """Return a strategy of files of which a few bytes are others, or the rest is gone."""
    text = written(whole)
    return st.builds(
        lambda start, other, length: text[:start] + other + text[start + length :],
        st.integers(0, len(text)),
        st.binary(max_size=8),
        st.integers(0, 8) | st.just(len(text)),
    )


def read_or_refuse_config(path: Path) -> bool:
    """Read a config and make its cases, or find it refused; whatever is said is printable. Say whether it is read."""
    said = ""
    try:
        for made in cases(read_config(path), 0):
            assert made.case.id.startswith("c1-")
            one_line(f"{made.run_id} {case_text(made.case)}").encode()
    except InputError as error:
        said = str(error)
    assert not said or str(path) in said
    assert is_printable(said)
    return not said


def read_or_refuse_trace(path: Path, kineto: Path | None = None) -> bool:
    """Read a trace and make a suite of it, or find it refused; whatever is said is printable."""
    said = ""
    try:
        result = read_traces([path], kineto=None if kineto is None else read_kineto(kineto))
    except InputError as error:
        said = str(error)
    assert is_printable(said)
    if said:
        return False
    suite = Suite.from_json(json.loads(json.dumps(result.suite().to_json(), allow_nan=False)), str(path))
    assert [entry.case for entry in suite.cases] == [entry.case for entry in result.cases]
    for left in result.left_out:
        assert left.reason
        one_line(f"{left.name}: {left.reason}").encode()
    return True


def is_printable(text: str) -> bool:
    """Whether a terminal shows a text as it is; one may have several lines."""
    return all(line.isprintable() for line in text.split("\n"))
