"""What is taken for a file of MXNet's opperf."""

from __future__ import annotations

from tests.each import each

from opperf.parent.store.imports.operator_json import is_mxnet


@each(
    ("data", "expected"),
    [
        ({"add": [{"inputs": {}}]}, True),
        ({"add": [], "sum": [{"inputs": {}}]}, True),
        ({"add": [{"time": 1.0}]}, False),
        ({"add": ["inputs"]}, False),
        ({"add": [{"inputs": {}}], "version": 1}, False),
        ({}, False),
        ([], False),
    ],
)
def test_a_file_of_rows_is_mxnets_where_one_has_inputs(data: object, expected: bool) -> None:
    assert is_mxnet(data) == expected
