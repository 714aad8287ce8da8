"""What other makers' profilers are started with, and what is said where one is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from opperf.domain.errors import InputError
from opperf.parent.workers import vendor_tools
from opperf.parent.workers.vendor_tools import wrap

SCRIPT = ("python", "train.py", "--epochs", "2")


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The one folder on the path, with a program for each tool."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in vendor_tools.TOOLS:
        (folder / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(folder))
    return folder


def test_nsight_systems_records_kernels_ranges_and_waiting(tools: Path, tmp_path: Path) -> None:
    vendor = wrap("nsys", SCRIPT, tmp_path)
    assert vendor.command == (
        *(str(tools / "nsys"), "profile", "--trace=cuda,nvtx,osrt", "--force-overwrite=true"),
        *(f"--output={tmp_path / 'opperf'}", *SCRIPT),
    )
    assert (vendor.ranges, vendor.report) == ("nvtx", tmp_path / "opperf.nsys-rep")
    assert f"`nsys stats {vendor.report}`" in vendor.note


def test_nsight_compute_looks_at_so_many_kernels_and_leaves_stdout_alone(tools: Path, tmp_path: Path) -> None:
    vendor = wrap("ncu", SCRIPT, tmp_path)
    assert vendor.command == (
        *(str(tools / "ncu"), "--nvtx", "--target-processes", "all", "--launch-count", "200", "--log-file", "stderr"),
        *("--force-overwrite", "--export", str(tmp_path / "opperf"), *SCRIPT),
    )
    assert (vendor.ranges, vendor.report) == ("nvtx", tmp_path / "opperf.ncu-rep")
    assert vendor.note.startswith("the first 200 kernels; ")


def test_vtune_samples_into_a_folder_that_is_not_there_yet(tools: Path, tmp_path: Path) -> None:
    (tmp_path / "opperf_vtune").mkdir()
    vendor = wrap("vtune", SCRIPT, tmp_path)
    assert vendor.report == tmp_path / "opperf_vtune_2"
    assert vendor.command == (
        *(str(tools / "vtune"), "-collect", "hotspots", "-knob", "sampling-mode=sw", "-no-summary", "-quiet"),
        *("-result-dir", str(vendor.report), "--", *SCRIPT),
    )
    assert vendor.ranges == "itt"


@pytest.mark.usefixtures("tools")
def test_a_report_in_a_folder_with_blanks_can_be_read_by_the_command_in_the_note(tmp_path: Path) -> None:
    vendor = wrap("nsys", SCRIPT, tmp_path / "two words")
    assert f"`nsys-ui '{tmp_path}/two words/opperf.nsys-rep'`" in vendor.note


@pytest.mark.parametrize("tool", vendor_tools.TOOLS)
def test_a_tool_that_is_missing_is_named_with_how_to_get_it(
    tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        InputError, match=rf"^`--with {tool}` needs .*, which is not installed: no program `{tool}`\n\nhint: "
    ) as caught:
        wrap(tool, SCRIPT, tmp_path)
    assert caught.value.slug == "no_tool"


def test_a_tool_that_opperf_does_not_know_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no tool `nsight`") as caught:
        wrap("nsight", SCRIPT, tmp_path)
    assert caught.value.slug == "unknown_tool"


@pytest.mark.usefixtures("tools")
def test_perf_is_refused_where_the_kernel_keeps_it_for_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    level = tmp_path / "perf_event_paranoid"
    level.write_text("3\n")
    monkeypatch.setattr(vendor_tools, "PARANOID", level)
    monkeypatch.setattr(vendor_tools, "_names_its_functions", lambda python: False)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(InputError, match=r"perf_event_paranoid` is 3\n\nhint: `sudo sysctl") as caught:
        wrap("perf", SCRIPT, tmp_path)
    assert caught.value.slug == "no_tool"
    level.write_text("2\n")
    assert "record" in wrap("perf", SCRIPT, tmp_path).command
    level.write_text("3\n")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert "record" in wrap("perf", SCRIPT, tmp_path).command
