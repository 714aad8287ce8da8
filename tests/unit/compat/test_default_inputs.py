"""Default inputs: all that MXNet's opperf has, and what was wrong with some of it."""

from __future__ import annotations

import math
import sys

import pytest
from tests.each import check_each

from opperf.catalog.groups import GROUPS
from opperf.compat import mxnet_opperf
from opperf.compat.mxnet_opperf.categories import RUNNERS, members
from opperf.compat.mxnet_opperf.default_inputs import TABLE, default_inputs


def test_every_operator_and_row_of_mxnets_opperf_is_there() -> None:
    assert len(TABLE) >= 233
    assert sum(len(default_inputs(name)) for name in TABLE) >= 599


@pytest.mark.parametrize("group", ["mx_unary", "mx_optimizer", "nn_basic", "mx_linalg", "mx_random_sampling"])
def test_every_member_of_a_category_has_inputs(group: str) -> None:
    assert [member for member in GROUPS[group] if not default_inputs(member.removeprefix("mxnet:nd."))] == []


@pytest.mark.parametrize(
    ("name", "rows"), [("Pooling", 24), ("ROIPooling", 2), ("Convolution", 4), ("Deconvolution", 4)]
)
def test_rows_that_were_overwritten_are_all_there(name: str, rows: int) -> None:
    assert len({str(row) for row in default_inputs(name)}) == rows


def test_a_broadcasting_operator_broadcasts() -> None:
    def check(name: str) -> None:
        assert any(row["lhs"] != row["rhs"] for row in default_inputs(name))

    check_each([name for name in TABLE if name.startswith("broadcast_")], check)


def test_reductions_have_more_than_the_first_axis() -> None:
    assert [row["axis"] for row in default_inputs("sum")] == [0, 0, 0, (), (0, 1)]


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin", "random_normal", "sample_gamma"])
def test_the_element_type_is_that_of_the_run(name: str) -> None:
    rows = default_inputs(name, dtype="float64")
    assert {row.get("dtype", "float64") for row in rows} == {"float64"}
    assert len(rows) == 3


@pytest.mark.parametrize("name", ["Activation", "LeakyReLU"])
def test_every_kind_of_activation_has_every_shape(name: str) -> None:
    rows = default_inputs(name)
    kinds, shapes = {row["act_type"] for row in rows}, {row["data"] for row in rows}
    assert len(rows) == len(kinds) * len(shapes) == len(kinds) * 3


def test_a_slice_is_more_than_one_row_of_its_data() -> None:
    assert max(math.prod(row["end"]) for row in default_inputs("slice") if isinstance(row["end"], tuple)) > 1024


def test_no_result_takes_gigabytes() -> None:
    (row,) = default_inputs("linalg_makediag")
    rows, columns = row["A"]
    assert 4 * rows * columns**2 < 100_000_000


def test_large_matrices_have_more_elements_than_32_bits_count() -> None:
    for row in default_inputs("abs", large=True):
        assert math.prod(row["data"]) > 2**32 - 1


def test_rows_are_the_callers_own() -> None:
    default_inputs("abs")[0]["data"] = ()
    assert default_inputs("abs")[0]["data"] == (1024, 1024)


def test_every_operator_of_a_category_is_named_once() -> None:
    for category in RUNNERS.values():
        names = members(category)
        assert names
        assert len(set(names)) == len(names)


def test_every_function_of_mxnets_opperf_is_offered_without_mxnet() -> None:
    assert len(RUNNERS) == 23
    assert {"run_performance_test", "run_op_benchmarks", "run_benchmark_operator"} < set(mxnet_opperf.__all__)
    assert "run_all_mxnet_operator_benchmarks" in mxnet_opperf.__all__
    assert "mxnet" not in sys.modules


def test_what_is_not_there_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'run_nothing'"):
        getattr(mxnet_opperf, "run_nothing")  # noqa: B009 - as an import looks it up
