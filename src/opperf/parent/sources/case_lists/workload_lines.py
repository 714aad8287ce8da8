"""Workloads of FlashInfer-Bench: a JSON object in each line, which names a definition and gives its axes numbers.

    {"definition": "gemm_n4096_k4096", "workload": {"uuid": "...", "axes": {"M": 256}, "inputs": {...}}}

The shapes are in the definition, another file of the same folder tree (`definitions/gemm/gemm_n4096_k4096.json`). The
source of its reference is not looked at: what it computes is told by its type and the names of its inputs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opperf.catalog.valid_values import restrict
from opperf.domain.case import Argument, Case
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, at_place
from opperf.domain.files.json_text import JsonObject, NotJSON, show, value_of
from opperf.domain.files.text_file import distinct, read_json
from opperf.domain.suite import LeftOut, Suite, SuiteCase
from opperf.domain.tensor import ITEM_SIZES, TensorSpec
from opperf.parent.sources.case_lists import serving_workloads
from opperf.parent.sources.case_lists.call_text import MOST_ELEMENTS

LINE_HINT = 'write {"definition": "gemm_n4096_k4096", "workload": {"axes": {"M": 256}, "inputs": {}}} in each line'
#: How many folders above the workloads may have a folder of definitions.
MOST_ABOVE = 4
_NAME = re.compile(r"\w[\w.+-]{0,200}")


@dataclass(frozen=True)
class Meaning:
    """The operator that definitions of a type are of, and the role of each of their inputs."""

    kind: str
    operator: str
    roles: Mapping[str, str]


MEANINGS = (
    Meaning("gemm", "matmul_transposed", {"A": "lhs", "B": "rhs"}),
    Meaning("rmsnorm", "rms_norm", {"hidden_states": "data", "weight": "weight"}),
    Meaning("rmsnorm", "rms_norm", {"input": "data", "weight": "weight"}),
    Meaning("rmsnorm", "rms_norm", {"input": "data", "weight": "weight", "eps": "epsilon"}),
    Meaning("rmsnorm", "add_rms_norm", {"hidden_states": "data", "residual": "residual", "weight": "weight"}),
)


def is_workload_line(line: bytes) -> bool:
    """Whether a line is a workload."""
    try:
        value = value_of(line) if b'"workload"' in line else None
    except NotJSON:
        return False
    return isinstance(value, dict) and "definition" in value


def read_workloads(path: Path, text: str) -> Suite:
    """Return the workloads in lines; raises `InputError` that names the line, also for a definition that is missing."""
    cases: Counter[tuple[Case, str]] = Counter()
    left_out: Counter[tuple[str, str]] = Counter()
    definitions: dict[str, JsonObject] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        with at_place(f"{path}:{number}"):
            name, workload = _workload(line)
            if name not in definitions:
                definitions[name] = _definition(path, name)
            case = _case(definitions[name], workload)
        if isinstance(case, str):
            left_out[name, case] += 1
        else:
            cases[case[0], ", ".join(filter(None, (name, case[1])))] += 1
    return Suite(
        path.stem,
        str(path),
        tuple(SuiteCase(case, count, origin, ("forward",)) for (case, origin), count in cases.items()),
        left_out=tuple(LeftOut(name, count, reason) for (name, reason), count in left_out.items()),
    )


def _workload(line: str) -> tuple[str, JsonObject]:
    try:
        value = value_of(line.encode(), object_pairs_hook=distinct)
    except NotJSON as error:
        raise InputError(f"not JSON ({error})", hint=LINE_HINT) from error
    name, workload = (value.get("definition"), value.get("workload")) if isinstance(value, dict) else (None, None)
    if not isinstance(name, str) or not _NAME.fullmatch(name) or not isinstance(workload, dict):
        raise InputError(f"found {show(value)}, expected a workload", hint=LINE_HINT)
    return name, workload


def _definition(workloads: Path, name: str) -> JsonObject:
    for folder in workloads.absolute().parents[:MOST_ABOVE]:
        place = folder / "definitions"
        for path in (place / f"{name}.json", *sorted(place.glob(f"*/{name}.json"))):
            if path.is_file():
                data = read_json(path)
                if isinstance(data, dict) and all(isinstance(data.get(key), dict) for key in ("axes", "inputs")):
                    return data
                raise InputError(f"{path}: found {show(data)}, expected a definition with `axes` and `inputs`")
    raise InputError(
        f"no definition `{name}`", hint=f"put it where FlashInfer-Bench has it: `definitions/.../{name}.json`"
    )


def _case(definition: JsonObject, workload: JsonObject) -> tuple[Case, str] | str:
    """Return the case of a workload and what was assumed of it, or the reason why there is none.

    Raises `InputError` for axes without a number.
    """
    kind, inputs = definition.get("op_type"), definition["inputs"]
    meaning = next((one for one in MEANINGS if one.kind == kind and set(one.roles) == set(inputs)), None)
    axes = _axes(definition["axes"], workload.get("axes"))
    tensors: dict[str, TensorSpec] = {}
    for name, place in inputs.items():
        if not isinstance(place, dict):
            raise InputError(f"the input `{name}` is {show(place)}, expected its `shape` and `dtype`")
        if place.get("shape") is not None:
            if place.get("dtype") not in ITEM_SIZES:
                return f"tensors of `{place.get('dtype')}`"
            tensors[name] = TensorSpec(tuple(_size(axis, axes) for axis in place["shape"]), str(place["dtype"]))
            if tensors[name].elements >= MOST_ELEMENTS:
                raise InputError(
                    f"the input `{name}` has {tensors[name].elements:,} elements, expected fewer than {MOST_ELEMENTS:,}"
                )
    if meaning is None:
        unknown = f"no operator of opperf is known to be `{kind}` of {', '.join(inputs)}"
        return serving_workloads.case_of(kind, frozenset(inputs), tensors) or unknown
    roles = meaning.roles
    attributes: dict[str, Argument] = {
        role: _scalar(name, workload.get("inputs")) for name, role in roles.items() if name not in tensors
    }
    operands = {roles[name]: tensor for name, tensor in tensors.items()}
    return restrict(Case(meaning.operator, operands, attributes)), ""


def _axes(axes: Mapping[str, Any], values: object) -> dict[str, object]:
    numbers = {name: axis.get("value") for name, axis in axes.items() if isinstance(axis, dict)}
    return {**numbers, **(values if isinstance(values, dict) else {})}


def _size(axis: object, axes: Mapping[str, object]) -> int:
    size = axes.get(axis) if isinstance(axis, str) else None
    if type(size) is not int:
        raise InputError(f"the axis {show(axis)} is {show(size)}, expected a whole number", hint=LINE_HINT)
    return size


def _scalar(name: str, inputs: object) -> float | int | bool | None:
    source = inputs.get(name) if isinstance(inputs, dict) else None
    value = source.get("value") if isinstance(source, dict) else None
    if not isinstance(value, (int, float)):
        raise InputError(f"the input `{name}` is {show(source)}, expected a scalar with its `value`", hint=LINE_HINT)
    return value
