"""What is taken for a file of MXNet's opperf."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from tests.each import each

from opperf.domain.errors import InputError
from opperf.parent.store.imports.operator_json import is_mxnet, mxnet_run, param_run


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


NOW = datetime(2026, 11, 23, tzinfo=timezone.utc)


def test_times_of_mxnet_are_read_whatever_the_row_calls_the_operator() -> None:
    row = {"inputs": {"data": [4]}, "avg_time_forward_broadcast_add": 2.0, "max_storage_mem_alloc_cpu/0": 4.0}
    foreign = mxnet_run({"add": [row, {"inputs": {}}]}, "x.json", version="1", started=NOW)
    (record,) = foreign.run.records
    assert record.time is not None
    assert (record.trial.case.operator, record.time.mean, record.time.median) == ("mxnet:add", 2e-3, None)
    assert record.time.value == 2e-3
    assert sorted(foreign.left_out.values()) == [1, 1]


def test_a_shape_that_is_nested_beyond_every_file_is_refused() -> None:
    shape: object = 4
    for _ in range(40):
        shape = [shape]
    with pytest.raises(InputError, match=r"x\.json"):
        mxnet_run({"add": [{"inputs": {"a": shape}, "avg_time_add": 1.0}]}, "x.json", version="1", started=NOW)


def test_lines_of_param_that_are_no_operators_are_counted() -> None:
    lines = [{"run_options": {}}, {"file": "x"}, {"op_name": "a", "metric": {"forward": {}}}, {"finish_time": "y"}]
    foreign = param_run(lines, "x.json", version="1", started=NOW)
    assert foreign.left_out == {"lines that are not of an operator": 1, "directions without a time": 1}
    metric = {"forward": {"measure.time": [1e300, 1e300]}}
    with pytest.raises(InputError, match="line 2"):
        param_run([{"run_options": {}}, {"op_name": "a", "metric": metric}], "x.json", version="1", started=NOW)
