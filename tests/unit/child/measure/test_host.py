"""What the machine took, read from a folder that looks like the kernel's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from opperf.child.measure.host import HostReading, doubts, read

QUIET = HostReading(0.0, 0, 0.0)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root folder with the kernel's counters: two seconds stolen, five thermal events, 1.5 s held back."""
    ticks = 2 * os.sysconf("SC_CLK_TCK")
    files = {
        "proc/stat": f"cpu  1 2 3 4 5 6 7 {ticks} 0 0\ncpu0 1 2 3 4 5 6 7 {ticks} 0 0\n",
        "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count": "2\n",
        "sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count": "3\n",
        "sys/fs/cgroup/cpu.stat": "usage_usec 9\nthrottled_usec 1500000\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_kernel_tells_of_all_three(root: Path) -> None:
    assert read(root) == HostReading(2.0, 5, 1.5)


def test_what_the_kernel_does_not_keep_is_zero(tmp_path: Path) -> None:
    assert read(tmp_path) == QUIET


def test_an_old_kernel_without_the_stolen_field_is_read(root: Path) -> None:
    (root / "proc/stat").write_text("cpu  1 2 3 4\n")
    assert read(root).stolen == 0.0


def test_this_machine_is_read() -> None:
    result = read()
    assert min(result.stolen, result.throttled, result.capped) >= 0


def test_a_quiet_machine_is_not_doubted() -> None:
    assert doubts(HostReading(5.0, 3, 2.0), HostReading(5.0, 3, 2.0), 1.0) == []


@pytest.mark.parametrize(("stolen", "doubted"), [(0.009, False), (0.011, True)])
def test_more_than_a_hundredth_of_all_cpu_time_stolen_is_doubted(
    stolen: float, doubted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    result = doubts(QUIET, HostReading(stolen * 2 * 10, 0, 0.0), 10.0)
    assert ([doubt.slug for doubt in result] == ["stolen_time"]) is doubted


def test_no_time_between_two_readings_is_no_division() -> None:
    assert doubts(QUIET, HostReading(1.0, 0, 0.0), 0.0) == []


@pytest.mark.parametrize(
    ("after", "slug"), [(HostReading(0.0, 1, 0.0), "throttled"), (HostReading(0.0, 0, 0.25), "cpu_quota")]
)
def test_throttling_and_quotas_are_doubted(after: HostReading, slug: str) -> None:
    assert [doubt.slug for doubt in doubts(QUIET, after, 1.0)] == [slug]
