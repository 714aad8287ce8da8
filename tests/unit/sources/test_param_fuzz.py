"""Whatever a config holds, it is read or refused with a message: no traceback, no hang, nothing unprintable."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opperf.errors import InputError
from opperf.reports.text import case_text, one_line
from opperf.sources.param.cases import cases
from opperf.sources.param.document import read_config
from opperf.sources.param.grammar import ARGUMENTS, DEFAULT_GENERATOR, DTYPES, ITERATORS, RANGE_ITERATOR, SHARED

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
#: One of everything.
WHOLE = {
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
WORDS = (
    *ARGUMENTS, *SHARED, *DTYPES[:3], *ITERATORS, "value", "value_range", "shape", "config", "input", "build", "args",
    "kwargs", "id", "configs", "op_name", "op_info", "mxnet:nd.dot", "aten::", "torch.", "mxnet:", "log2", "", "|",
    "\ud800", "\x1b[31m",
)  # fmt: skip
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, -1, 3, 10**4, 2**62, 2**70, 0.5, 1e300, float("nan"), float("inf")]),
    st.sampled_from(WORDS),
    st.sampled_from([[], {}, [1], [[1]], [1, 3, 1], [3, 1], [0.5, 1.5], TENSOR, INTEGER, LIST, COPY]),
    st.lists(st.sampled_from(WORDS), max_size=3),
    st.dictionaries(st.sampled_from(WORDS), st.sampled_from([0, "a", [], {}, [1, 2]]), max_size=3),
)


def _places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value in a document."""
    inside = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(place for key, value in inside for place in _places(value, (*path, key)))]


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """Draw a document that is right but for a few values: others in their place, gone, moved, or under other keys."""
    data: Any = copy.deepcopy(WHOLE)
    for _ in range(draw(st.integers(1, 4))):
        places = _places(data)
        *way, last = draw(st.sampled_from(places[1:])) if len(places) > 1 else (None,)
        if last is None:
            return draw(JUNK)
        holder = data
        for step in way:
            holder = holder[step]
        how = draw(st.sampled_from(["replace", "remove", "rename", "swap"]))
        if how == "remove":
            del holder[last]
        elif how == "rename" and isinstance(holder, dict):
            holder[draw(st.sampled_from(WORDS))] = holder.pop(last)
        elif how == "swap":
            source: Any = data
            for step in draw(st.sampled_from(places)):
                source = source[step] if isinstance(source, (dict, list)) and step in _keys(source) else source
            holder[last] = copy.deepcopy(source)
        else:
            holder[last] = copy.deepcopy(draw(JUNK))
    return data


def _keys(holder: Any) -> Any:
    return holder if isinstance(holder, dict) else range(len(holder))


def _read(path: Path) -> None:
    """Read a config and make its cases; whatever is said must be printable."""
    try:
        for made in cases(read_config(path), 0):
            assert made.case.id.startswith("c1-")
            one_line(f"{made.run_id} {case_text(made.case)}").encode()
    except InputError as error:
        said = str(error)
    else:
        said = str(path)
    assert str(path) in said.encode().decode()


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=mutated())
def test_a_config_with_mistakes_is_read_or_refused(data: Any, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    _read(path)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(start=st.integers(0, 1500), junk=st.binary(max_size=8), length=st.integers(0, 8))
def test_a_damaged_file_is_read_or_refused(start: int, junk: bytes, length: int, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    whole = json.dumps(WHOLE).encode()
    path.write_bytes(whole[:start] + junk + whole[start + length :])
    _read(path)
