"""The nodes of a trace file, one at a time, so that a file of any size is read in little memory.

Schemas 1.0.1 (flat) and 1.0.2-chakra to 1.1.1-chakra are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ijson

from opperf.catalog.param.problems import quoted
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import JsonObject, show
from opperf.parent.sources.execution_trace.stream import DAMAGED, describe, opened

SCHEMAS = ("1.0.1", "1.0.2-chakra.0.0.4", "1.0.3-chakra.0.0.4", "1.1.0-chakra.0.0.4", "1.1.1-chakra.0.0.4")
#: What a file without keys is, by the first event of its parser.
MEANT = {"start_map": "it is an empty object", "start_array": "it is a list"}
EXPECTED = "expected a PyTorch execution trace: JSON with `schema` and `nodes`, plain, .gz or .tar.gz"


@dataclass(frozen=True)
class Node:
    """One recorded call, or a label around some. `record_function` joins it to a Kineto trace; 0 is none.

    `thread` is the number of the thread that made it, within the trace.
    `schema` is empty but for operators. Strides are empty in traces that have none.
    """

    id: int
    parent: int
    name: str
    schema: str
    values: Sequence[object]
    shapes: Sequence[Any]
    types: Sequence[str]
    strides: Sequence[Any]
    record_function: int = 0
    thread: int = 0
    ranges: str = ""
    kernel_backend: str = ""
    kernel_file: str = ""

    @property
    def is_operator(self) -> bool:
        """Whether the node computes; the others are labels, steps and functions of autograd."""
        return bool(self.schema or self.kernel_backend)


def nodes(path: Path) -> Iterator[Node]:
    """Yield the nodes of a trace in the order of the file; raises `InputError` for a damaged one."""
    read = 0
    with opened(path) as file:
        try:
            for data in ijson.items(file, "nodes.item", use_float=True):
                yield _node(data)
                read += 1
        except DAMAGED as error:
            raise InputError(
                f"{path}: damaged after {read} nodes: {describe(error)}", hint=EXPECTED, slug="bad_trace"
            ) from error
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
            raise InputError(
                f"{path}: nodes[{read}] is not a node of a trace ({type(error).__name__}: {error})",
                hint=EXPECTED,
                slug="bad_trace",
            ) from error


def check(path: Path) -> None:
    """Raise `InputError` for a file that is not a trace of a known schema; reads no further than it must."""
    keys: list[str] = []
    kind = ""
    with opened(path) as file:
        try:
            for prefix, event, value in ijson.parse(file, use_float=True):
                kind = kind or event
                if prefix == "" and event == "map_key":
                    keys.append(value)
                if prefix == "schema":
                    _check_schema(value, path)
                    return
                if prefix == "traceEvents":
                    hint = f"give it with an execution trace: `--kineto {path}`"
                    raise InputError(
                        f"{path}: this is a Kineto (Chrome) trace, expected an execution trace",
                        hint=hint,
                        slug="bad_trace",
                    )
        except DAMAGED as error:
            raise InputError(f"{path}: not JSON: {describe(error)}", hint=EXPECTED, slug="bad_trace") from error
    reason = f"its keys are {', '.join(map(quoted, keys[:6]))}" if keys else MEANT.get(kind, "it is not an object")
    raise InputError(f"{path}: not an execution trace: {reason}", hint=EXPECTED, slug="bad_trace")


def _check_schema(schema: object, path: Path) -> None:
    if schema not in SCHEMAS:
        hint = f"opperf reads {', '.join(SCHEMAS)}"
        raise InputError(f"{path}: `schema` is {show(schema)}", hint=hint, slug="bad_trace")


def _node(data: JsonObject) -> Node:
    if "ctrl_deps" not in data:
        return _flat(data)
    attributes = {entry["name"]: entry["value"] for entry in data.get("attrs", ())}
    inputs = data["inputs"]
    return Node(
        id=int(data["id"]),
        parent=int(data["ctrl_deps"]),
        name=str(data["name"]),
        schema=str(attributes.get("op_schema", "")),
        values=_list(inputs, "values"),
        shapes=_list(inputs, "shapes"),
        types=_list(inputs, "types"),
        strides=inputs.get("strides", ()),
        record_function=int(attributes.get("rf_id", 0)),
        thread=int(attributes.get("tid", 0)),
        ranges=str(attributes.get("tensor_range", "")),
        kernel_backend=str(attributes.get("kernel_backend", "")),
        kernel_file=str(attributes.get("kernel_file", "")),
    )


def _flat(data: JsonObject) -> Node:
    """Read a node of schema 1.0.1."""
    return Node(
        id=int(data["id"]),
        parent=int(data["parent"]),
        name=str(data["name"]),
        schema=str(data["op_schema"]),
        values=_list(data, "inputs"),
        shapes=_list(data, "input_shapes"),
        types=_list(data, "input_types"),
        strides=(),
        record_function=int(data.get("rf_id", 0)),
        thread=int(data.get("tid", 0)),
    )


def _list(holder: JsonObject, name: str) -> list[Any]:
    """Return the list of that name; raises `TypeError` for anything else."""
    value = holder[name]
    if isinstance(value, list):
        return value
    raise TypeError(f"`{name}` is {show(value)}, expected a list")
