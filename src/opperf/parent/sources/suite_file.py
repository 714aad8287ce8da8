"""Suite files, and what is read as one: checked whole before anything runs.

What a file is, it tells by its content, whatever its name: opperf's own JSON, a list of cases in a form of the field
(`case_lists/`), or inputs of MXNet's own benchmark.

The inputs of MXNet's own benchmark (`benchmark/opperf`) are read as a suite of MXNet's operators. Their file has a list
of rows for each: `{"dot": [{"lhs": [1024, 1024], "rhs": [1024, 1024]}]}`. A row says what the operator is called with.
Whole numbers in brackets are the shape of an array, or a tuple where the name is that of an attribute; fractions, and
lists within lists, are the values of an array. Equal rows are one case with a larger count.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeGuard

from opperf.domain.case import Argument, Case
from opperf.domain.code import check_name
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import NotJSON, value_of
from opperf.domain.files.text_file import decoded, distinct, read_bytes
from opperf.domain.suite import Suite, SuiteCase
from opperf.domain.tensor import TensorSpec, shape_and_elements
from opperf.parent.sources.case_lists.operator_log import (
    BEGINNINGS,
    is_operator_log,
    is_shapes_document,
    read_operator_log,
    read_shapes_document,
)
from opperf.parent.sources.case_lists.workload_lines import is_workload_line, read_workloads

#: Bytes of a list of cases in text; that of all of BackendBench's models is a small part of it.
LONGEST = 1 << 26
#: Bytes that tell what a file is, which hold a first line of workloads.
HEAD_BYTES = 1 << 16
FORMS = (
    "opperf reads its own suites, PyTorch's logs of operator inputs, workloads of FlashInfer-Bench and the inputs of "
    "MXNet's opperf; tables with a header are read with `--shapes`"
)


def read_suite(path: Path) -> Suite:
    """Read a suite, or a list of cases in a form of others; raises `InputError` that says what is wrong and where."""
    content = read_bytes(path)
    text = _list_text(path, content)
    if text is not None and is_operator_log(text):
        return read_operator_log(path, text)
    if text is not None:
        return read_workloads(path, text)
    try:
        data = value_of(content, object_pairs_hook=distinct)
    except NotJSON as error:
        raise InputError(f"{path}: not JSON ({error})", hint=FORMS, slug="input") from error
    if is_shapes_document(data):
        return read_shapes_document(path, data)
    if is_mxnet_inputs(data):
        return mxnet_suite(data, str(path))
    return Suite.from_json(data, str(path))


def _list_text(path: Path, content: bytes) -> str | None:
    """Return the text of a list of cases, None for a JSON document; raises `InputError` for one that is too long."""
    beginning = content[:HEAD_BYTES].removeprefix(codecs.BOM_UTF8).lstrip()
    if not beginning.startswith(BEGINNINGS) and not is_workload_line(beginning.partition(b"\n")[0]):
        return None
    if len(content) > LONGEST:
        message = f"cannot read `{path}`: a list of cases of {len(content):,} bytes, expected at most {LONGEST:,}"
        raise InputError(message, hint="keep the operators in it that you want to measure", slug="input")
    return decoded(path, content)


#: Where an array was printed instead of written down.
ARRAY_TEXT = re.compile(r"<NDArray ([\dx]+) @[\w()]+>")
#: Attributes that are tuples of whole numbers; any other list is an array.
TUPLES = frozenset(
    [
        "axes",
        "axis",
        "begin",
        "dilate",
        "end",
        "kernel",
        "output_size",
        "pad",
        "pooled_size",
        "shape",
        "stride",
        "target_shape",
    ]
)
#: A list of arrays, for operators that take any number of them.
MANY = "args"
#: Where an operator writes its result: opperf sees to that itself.
OUTPUT_ARGUMENT = "out"
ORIGIN = "mxnet_opperf"
#: Indices and labels that MXNet refuses a gradient of.
FIXED = frozenset({("Embedding", "data"), ("softmax_cross_entropy", "label")})


def is_mxnet_inputs(data: object) -> TypeGuard[dict[str, list[dict[str, object]]]]:
    """Whether a JSON document is such a file, with nothing but lists of rows."""
    rows = list(data.values()) if isinstance(data, dict) else []
    return bool(rows) and all(isinstance(some, list) and all(isinstance(row, dict) for row in some) for some in rows)


def mxnet_suite(data: Mapping[str, Sequence[Mapping[str, object]]], where: str) -> Suite:
    """Return the suite; raises `InputError` that names the row."""
    cases = Counter(
        _case(operator, row, f"{where}: {operator}[{i}]")
        for operator, rows in data.items()
        for i, row in enumerate(rows)
    )
    entries = tuple(SuiteCase(case, count, ORIGIN) for case, count in cases.items())
    return Suite("MXNet's opperf", where, entries)


def _case(operator: str, row: Mapping[str, object], where: str) -> Case:
    check_name(operator, where)
    inputs: dict[str, Argument] = {}
    attributes: dict[str, Argument] = {}
    for name, value in row.items():
        array_text = ARRAY_TEXT.fullmatch(value) if isinstance(value, str) else None
        if name == OUTPUT_ARGUMENT:
            continue
        if array_text is not None:
            inputs[name] = TensorSpec(tuple(map(int, array_text[1].split("x"))))
        elif (operator, name) in FIXED and isinstance(value, list):
            inputs[name] = TensorSpec(tuple(value), requires_grad=False)
        elif isinstance(value, list) and name not in TUPLES:
            inputs |= _arrays(name, value, _lengths(row), f"{where}.{name}")
        elif isinstance(value, list) and _whole(value):
            attributes[name] = tuple(value)
        elif value is None or isinstance(value, (bool, int, float, str)):
            attributes[name] = value
        else:
            raise InputError(f"{where}.{name}: found {str(value)[:80]}, expected a shape, values, or an attribute")
    return Case(f"mxnet:nd.{operator}", inputs, attributes)


def _arrays(name: str, value: list[Any], lengths: set[int], where: str) -> Iterator[tuple[str, TensorSpec]]:
    try:
        if name == MANY:
            shapes = [value] if _whole(value) else value
            yield from ((f"{name}{i}", TensorSpec(tuple(shape))) for i, shape in enumerate(shapes))
        elif _whole(value) and len(value) not in lengths:
            yield name, TensorSpec(tuple(value))
        else:
            shape, items = shape_and_elements(value)
            yield name, TensorSpec(shape, literal=tuple(items))
    except (InputError, TypeError) as error:
        raise InputError(f"{where}: {error}", hint="expected a shape, or the values of an array") from error


def _lengths(row: Mapping[str, object]) -> set[int]:
    """Return how many fractions stand in lists of a row: as many whole numbers beside them are values too."""
    return {len(value) for value in row.values() if isinstance(value, list) and any(map(_is_fraction, value))}


def _whole(value: Sequence[object]) -> bool:
    return all(isinstance(item, int) and not isinstance(item, bool) for item in value)


def _is_fraction(value: object) -> bool:
    return isinstance(value, float)
