"""What PyTorch's tools log of a model's operators: for each the arguments of its calls, and how often they occur.

    Operator: aten.add.Tensor
    cnt: 3, ((T([64, 128, 768], f16), T([64, 128, 768], f16)), {})

Such files are in PyTorch's and TritonBench's repositories, one for each model, and BackendBench has one of many models.
TritonBench also has JSON files of the same texts (`{"mm": [{"count": 1, "inputs": "((), {'M': '64', ...})"}]}`), where
sizes of matrices may stand in place of tensors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TypeGuard

from opperf.catalog.valid_values import restrict
from opperf.domain.case import Case
from opperf.domain.code import check_name
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, at_place
from opperf.domain.files.json_text import JsonObject, show
from opperf.domain.suite import LeftOut, Suite, SuiteCase
from opperf.parent.sources.case_lists.call_text import CallText, read_call
from opperf.parent.sources.case_lists.matrix_sizes import has_sizes, matrices

LINE_HINT = "write `Operator: aten.add.Tensor`, and below it lines such as `cnt: 3, ((T([2, 3], f16), 1), {})`"
#: How a log begins.
BEGINNINGS = (b"Operator:", b"cnt:")
_OPERATOR = re.compile(r"Operator:\s*([A-Za-z_]\w*)\.([A-Za-z_]\w*)(?:\.(\w+))?\s*")
_CALL = re.compile(r"cnt:\s*(\d{1,18})\s*,\s*")
#: How an operator of the same arguments was called in a PyTorch that wrote logs, and is now.
RENAMED = {
    "aten::sum.SymInt": "aten::sum.dim_IntList",
    "aten::im2col_backward.default": "aten::col2im.default",
    "aten::col2im_backward.default": "aten::im2col.default",
}
#: What a count of 0 says: BackendBench made the case of others.
SYNTHETIC = "synthetic"


@dataclass
class Tally:
    """The cases that were read, and what no case holds, each with its count."""

    cases: dict[tuple[Case, str], int] = field(default_factory=dict)
    left_out: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, operator: str, call: CallText, count: int, origin: str) -> None:
        """Count the calls of one line."""
        if call.reasons:
            key = operator, " and ".join(call.reasons)
            self.left_out[key] = self.left_out.get(key, 0) + max(count, 1)
            return
        if not count:
            origin = f"{origin}, {SYNTHETIC}"
        case = restrict(Case(f"torch:{operator}", call.places, call.names))
        self.cases[case, origin] = self.cases.get((case, origin), 0) + max(count, 1)

    def suite(self, name: str, source: str) -> Suite:
        """Return all of it; raises `InputError` for a file without a call."""
        if not self.cases and not self.left_out:
            raise InputError(f"{source}: no calls of operators", hint=LINE_HINT)
        return Suite(
            name,
            source,
            tuple(SuiteCase(case, count, origin, ("forward",)) for (case, origin), count in self.cases.items()),
            left_out=tuple(LeftOut(name, count, reason) for (name, reason), count in self.left_out.items()),
        )


def is_operator_log(text: str) -> bool:
    """Whether a text begins as such a log."""
    return text.lstrip().encode().startswith(BEGINNINGS)


def read_operator_log(path: Path, text: str) -> Suite:
    """Return the calls in a log; raises `InputError` that names the line and its column."""
    tally, operator = Tally(), ""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        with at_place(f"{path}:{number}"):
            if match := _OPERATOR.fullmatch(line):
                operator = _name(*match.groups())
            elif match := _CALL.match(line):
                if not operator:
                    raise InputError("a call before the first operator", hint=LINE_HINT)
                tally.add(operator, read_call(" " * match.end() + line[match.end() :]), int(match[1]), path.stem)
            else:
                raise InputError(f"found {show(line.strip())}, expected an operator or a call", hint=LINE_HINT)
    return tally.suite(path.stem, str(path))


def is_shapes_document(data: object) -> TypeGuard[dict[str, list[JsonObject]]]:
    """Whether a JSON value is one of TritonBench's: rows of `inputs` as text for each operator, beside `metadata`."""
    lists = [rows for name, rows in data.items() if name != "metadata"] if isinstance(data, dict) else []
    return bool(lists) and all(isinstance(rows, list) and rows and all(map(_is_row, rows)) for rows in lists)


def _is_row(row: object) -> bool:
    return isinstance(row, dict) and isinstance(row.get("inputs"), str)


def read_shapes_document(path: Path, data: Mapping[str, Sequence[JsonObject]]) -> Suite:
    """Return the cases of such a document; raises `InputError` that names the row and its column."""
    tally = Tally()
    for name, rows in data.items():
        if name == "metadata":
            continue
        for number, row in enumerate(rows):
            with at_place(f"{path}: {name}[{number}].inputs"):
                call, count = read_call(str(row["inputs"])), row.get("count", 1)
                if type(count) is not int or count < 0:
                    raise InputError(f"`count` is {show(count)}, expected a whole number")
                operator, call = matrices(name, call) if has_sizes(call) else (_plain_name(name), call)
                tally.add(operator, call, count, path.stem)
    return tally.suite(path.stem, str(path))


def _plain_name(name: str) -> str:
    match = _OPERATOR.fullmatch(f"Operator: {name if '.' in name else f'aten.{name}'}")
    if match is None:
        raise InputError(f"found {show(name)}, expected an operator such as `aten.mm.default`")
    return _name(*match.groups())


def _name(library: str, name: str, overload: str | None) -> str:
    """Return the path of a registered operator: `aten::add.Tensor`."""
    path = f"{library}::{name}.{overload or 'default'}"
    check_name(path, "operator")
    return RENAMED.get(path, path)
