"""Shapes from a file of the user's own: one case in each row, and what is refused with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from opperf.domain.errors import InputError
from opperf.parent.sources.shapes_file import read_shapes


def written(folder: Path, name: str, text: str) -> Path:
    """Write a file."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def rows(path: Path) -> list[tuple[dict[str, Any], str]]:
    """Return the rows of a file, with their places behind its name."""
    return [(dict(row.values), row.where.removeprefix(str(path))) for row in read_shapes(path)]


def test_the_header_of_a_csv_names_inputs_and_attributes(tmp_path: Path) -> None:
    path = written(tmp_path, "s.csv", '\ufefflhs, rhs ,axis\r\n64x64,"(64, 32)",1\r\n\r\n "[8,8]",8x8,\r\n')
    assert rows(path) == [
        ({"lhs": "64x64", "rhs": "(64, 32)", "axis": "1"}, ":2"),
        ({"lhs": "[8,8]", "rhs": "8x8"}, ":4"),
    ]


def test_the_rows_of_a_json_list_are_cases(tmp_path: Path) -> None:
    path = written(tmp_path, "s.json", '[{"lhs": [64, 64], "rhs": "64x32"}, {"data": 7, "axis": null}]')
    assert rows(path) == [({"lhs": [64, 64], "rhs": "64x32"}, ": row 1"), ({"data": "7", "axis": None}, ": row 2")]


def test_each_line_of_json_lines_is_a_case(tmp_path: Path) -> None:
    path = written(tmp_path, "s.jsonl", '{"data": [8]}\n\n{"data": "4x4", "axis": 0}\n')
    assert rows(path) == [({"data": [8]}, ":1"), ({"data": "4x4", "axis": "0"}, ":3")]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("s.txt", "lhs\n1\n", "expected a file whose name ends with .csv, .json, .jsonl"),
        ("s.csv", "", "no rows of shapes"),
        ("s.csv", "lhs,rhs\n", "no rows of shapes"),
        ("s.csv", "lhs,,rhs\n1,2,3\n", ":1: column 2 has no name"),
        ("s.csv", "lhs,lhs\n1,2\n", ":1: 2 columns are named `lhs`"),
        ("s.csv", "lhs,rhs\n8x8,8x8\n8,8,8\n", ":3: 3 cells, expected 2: lhs, rhs"),
        ("s.csv", 'lhs,rhs\n8x8,"8x8\n', ":2: not CSV"),
        ("s.json", "[", ": not JSON"),
        ("s.json", '{"lhs": "8x8"}', ": expected a list of rows, found an object"),
        ("s.json", "[]", "no rows of shapes"),
        ("s.json", "[{}]", ": row 1: expected arguments by name, found an empty object"),
        ("s.json", '[{"a": 1}, [8, 8]]', ": row 2: expected arguments by name, found a list"),
        ("s.jsonl", '{"a": 1}\nnone\n', ":2: not JSON"),
        ("s.jsonl", '{"a": 1}\n8\n', ":2: expected arguments by name, found a number"),
        ("s.jsonl", '{"a": 1, "a": 2}\n', ":1: not JSON .*twice"),
    ],
)
def test_a_bad_file_is_refused_with_its_line_and_how_to_write_it(
    name: str, text: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_shapes(written(tmp_path, name, text))
    assert caught.value.hint


def test_a_suite_among_the_shapes_is_told_where_it_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, "s.json", '{"schema_version": 1, "cases": []}')
    with pytest.raises(InputError) as caught:
        read_shapes(path)
    assert "`--suite`" in str(caught.value.hint)
