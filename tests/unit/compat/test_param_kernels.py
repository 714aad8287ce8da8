"""Reports of NVIDIA's tools, read: what is a launch, whose it is, and what is no report."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from opperf.compat.param.command.kernels import Launch, from_ncu, from_nsys, summarize

START_STOP = "Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"


def add(duration: float, unit: str = "ns") -> Launch:
    """Return a launch of one kernel."""
    return Launch("add", (2, 1, 1), (128, 1, 1), {"gpu__time_duration.sum": (duration, unit), "mode": ("wide", "")})


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """The place of a report that is not written yet."""
    return tmp_path / "report"


def test_a_launch_of_ncu_belongs_to_the_label_of_its_range(report: Path) -> None:
    ranges = '""3:<default domain>:opperf:none:none"" ""4:<default domain>:opperf.12.forward_backward:none:none""'
    report.write_text(
        "==PROF== Connected to process 7 (/usr/bin/python)\n"
        f'"ID","Kernel Name","Block Size","Grid Size","{START_STOP}","gpu__time_duration.sum","dram__bytes.sum"\n'
        '"","","","","","ns","byte"\n'
        f'"0","add","(128, 1, 1)","(2, 1, 1)","{ranges}","1,234,500","n/a"\n'
        '"1","copy","(1, 1, 1)","(1, 1, 1)","","5",""\n'
        "==PROF== Disconnected from process 7\n"
    )
    metrics: dict[str, tuple[float | str, str]] = {
        "gpu__time_duration.sum": (1234500.0, "ns"),
        "dram__bytes.sum": ("n/a", "byte"),
    }
    assert from_ncu(report) == {"opperf.12.forward_backward": [Launch("add", (2, 1, 1), (128, 1, 1), metrics)]}


@pytest.mark.parametrize("text", ["", "==WARNING== No kernels were profiled.\n"])
def test_a_log_of_ncu_without_a_table_has_no_kernels(report: Path, text: str) -> None:
    report.write_text(text)
    assert from_ncu(report) == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"ID","Kernel Name","Metric Name","Metric Value"\n"0","add","Duration","1"\n', "not the raw page"),
        ('"ID","Kernel Name","a.sum"\n"","","ns"\n"0","ad', "a row has 2 cells, its head 3"),
    ],
)
def test_another_page_of_ncu_and_a_torn_one_are_refused(report: Path, text: str, message: str) -> None:
    report.write_text(text)
    with pytest.raises(ValueError, match=message):
        from_ncu(report)


def test_an_export_of_nsys_without_kernels_has_none_and_a_foreign_file_is_refused(report: Path) -> None:
    with sqlite3.connect(report) as database:
        database.execute("CREATE TABLE NVTX_EVENTS (start INTEGER)")
    database.close()
    assert from_nsys(report) == {}
    report.write_text("no database, but as long as the head of one would have to be: " + 100 * "x")
    with pytest.raises(ValueError, match="not a database"):
        from_nsys(report)


def test_the_launches_of_a_kernel_are_one_entry_with_means() -> None:
    other = Launch("add", (4, 1, 1), (128, 1, 1), {})
    seen = summarize([add(1000.0), other, add(3000.0)], 2)
    assert seen["kernel_time"] == pytest.approx(0.002)
    first, second = seen["kernels"]
    assert (first["launches"], first["grid"], second["launches"], second["grid"]) == (1, [2, 1, 1], 0.5, [4, 1, 1])
    assert first["metrics"] == {
        "gpu__time_duration.sum": {"value": 2000.0, "unit": "ns"},
        "mode": {"value": "wide", "unit": ""},
    }


@pytest.mark.parametrize(("unit", "time"), [("nsecond", 0.002), ("us", 2.0), ("cycle", None)])
def test_the_time_of_kernels_is_in_milliseconds_whatever_the_tools_unit(unit: str, time: float | None) -> None:
    assert summarize([add(2000.0, unit)], 1)["kernel_time"] == (time if time is None else pytest.approx(time))
