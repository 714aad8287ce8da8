"""Shapes from a file of the user's own: one case in each row, inputs and attributes by name.

    lhs,rhs            [{"lhs": "64x64", "rhs": "64x64"},       {"lhs": [64, 64], "rhs": [64, 64]}
    64x64,64x64         {"lhs": [128, 64], "rhs": [64, 32]}]    {"lhs": "128x64", "rhs": "64x32"}
    128x64,64x32

The name's end says which it is: `.csv`, `.json` or `.jsonl`. Whether a cell is a shape or the value of an attribute is
left to the code that knows the operator.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, at_place
from opperf.domain.files.json_text import NotJSON, value_of
from opperf.domain.files.text_file import distinct, read_json, read_text
from opperf.domain.units import plural

#: Hints on the form of a file, by its suffix.
CSV_HINT = "write the names of inputs in the first line, and shapes below: `lhs,rhs`, then `64x64,64x64`"
JSON_HINT = 'write a list of rows, as in [{"lhs": "64x64", "rhs": [64, 64]}]'
LINES_HINT = 'write one row in each line, as in {"lhs": "64x64", "rhs": [64, 64]}'


@dataclass(frozen=True)
class Row:
    """The arguments of one case by name, and where they stand; nowhere, for those that were typed."""

    values: Mapping[str, object]
    where: str = ""

    def place(self) -> AbstractContextManager[None]:
        """Add the place to errors raised inside the block."""
        return at_place(self.where)


def read_shapes(path: Path) -> list[Row]:
    """Return the rows of a file; raises `InputError` that names the line."""
    readers = {".csv": _csv_rows, ".json": _json_rows, ".jsonl": _line_rows}
    if path.suffix not in readers:
        raise InputError(
            f"`--shapes {path}`: expected a file whose name ends with {', '.join(readers)}", hint=CSV_HINT, slug="input"
        )
    rows = list(readers[path.suffix](path))
    if not rows:
        hint = {".csv": CSV_HINT, ".json": JSON_HINT}.get(path.suffix, LINES_HINT)
        raise InputError(f"{path}: no rows of shapes", hint=hint, slug="input")
    return rows


def _csv_rows(path: Path) -> Iterator[Row]:
    """Yield the rows below the header; an empty cell leaves what the operator has."""
    lines = csv.reader(io.StringIO(read_text(path, hint=CSV_HINT)), strict=True, skipinitialspace=True)
    names: Sequence[str] = ()
    try:
        for cells in lines:
            if not any(cell.strip() for cell in cells):
                continue
            where = f"{path}:{lines.line_num}"
            if not names:
                names = _header(cells, where)
            elif len(cells) != len(names):
                raise InputError(
                    f"{where}: {plural(len(cells), 'cell')}, expected {len(names)}: {', '.join(names)}",
                    hint="put shapes with commas in quotes, or write `64x64`",
                    slug="input",
                )
            else:
                yield Row({name: cell.strip() for name, cell in zip(names, cells) if cell.strip()}, where)
    except csv.Error as error:
        raise InputError(f"{path}:{lines.line_num}: not CSV ({error})", hint=CSV_HINT, slug="input") from error


def _header(cells: Sequence[str], where: str) -> list[str]:
    """Return the names in the first line; raises `InputError` for a column without one, and for one named twice."""
    names = [cell.strip() for cell in cells]
    if "" in names:
        raise InputError(f"{where}: column {names.index('') + 1} has no name", hint=CSV_HINT, slug="input")
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise InputError(f"{where}: {times} columns are named `{name}`", hint="name each column once", slug="input")
    return names


def _json_rows(path: Path) -> Iterator[Row]:
    data = read_json(path, hint=JSON_HINT)
    if not isinstance(data, list):
        is_suite = isinstance(data, dict) and any(isinstance(value, list) for value in data.values())
        hint = "read suites with `--suite`; " + JSON_HINT if is_suite else JSON_HINT
        raise InputError(f"{path}: expected a list of rows, found {_kind(data)}", hint=hint, slug="input")
    yield from (_row(value, f"{path}: row {number}", JSON_HINT) for number, value in enumerate(data, 1))


def _line_rows(path: Path) -> Iterator[Row]:
    for number, line in enumerate(read_text(path, hint=LINES_HINT).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            value = value_of(line.encode(), object_pairs_hook=distinct)
        except NotJSON as error:
            raise InputError(f"{where}: not JSON ({error})", hint=LINES_HINT, slug="input") from error
        yield _row(value, where, LINES_HINT)


def _row(value: object, where: str, hint: str) -> Row:
    if not isinstance(value, dict) or not value:
        raise InputError(f"{where}: expected arguments by name, found {_kind(value)}", hint=hint, slug="input")
    # A whole number is the size of a vector or the value of an attribute, as it is in a cell.
    return Row({name: str(one) if type(one) is int else one for name, one in value.items()}, where)


def _kind(value: object) -> str:
    """Return the type of a JSON value, in the words of JSON."""
    words: dict[type, str] = {dict: "an object", list: "a list", str: "a string", bool: "a truth value"}
    empty = "an empty object" if value == {} else None
    return empty or words.get(type(value), "null" if value is None else "a number")
