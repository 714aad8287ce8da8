"""The driver of dl-operator-benchmark, where there is no MXNet: what it says, and what it writes."""

from __future__ import annotations

import json

import pytest

from opperf.compat.dl_operator_benchmark import benchmark_driver
from opperf.compat.dl_operator_benchmark.benchmark_driver import render

FOUND = {"MX_Add_Forward_Time": 0.5, "MX_Log_Forward_Backward_Time": 2e-6}


def test_without_mxnet_it_says_which_python_to_use(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(benchmark_driver, "find_spec", lambda name: None)
    assert benchmark_driver.main([]) == 2
    assert capsys.readouterr().err == (
        "error: this Python has no mxnet\n\nhint: run it with `$(opperf env python mxnet)`\n"
    )


def test_a_format_that_is_not_there_is_refused() -> None:
    with pytest.raises(SystemExit) as left:
        benchmark_driver.main(["--output-format", "xml"])
    assert left.value.code == 2


def test_json_is_seconds_by_key() -> None:
    assert json.loads(render(FOUND, "json")) == FOUND


def test_markdown_is_a_table_of_two_columns() -> None:
    assert render(FOUND, "md").splitlines() == [
        "| Operator | Time (s) |",
        "| :--- | ---: |",
        "| MX_Add_Forward_Time | 0.500000000 |",
        "| MX_Log_Forward_Backward_Time | 0.000002000 |",
    ]


def test_csv_has_full_precision() -> None:
    assert render({"MX_Add_Forward_Time": 0.1 + 0.2}, "csv").splitlines()[1] == (
        "MX_Add_Forward_Time,0.30000000000000004"
    )
