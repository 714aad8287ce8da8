"""What NVIDIA's management library says of a GPU, by a library that answers as NVML does."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from opperf.child.measure import gpu
from opperf.child.measure.gpu import Gpu, doubts

NOT_SUPPORTED, NOT_FOUND = 3, 6


class Library:
    """Answers for one GPU of that name; what is not among the answers is not supported."""

    def __init__(self, **answers: int) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def _find(self, name: str) -> int:
        self.asked.append(name)
        return 0 if name in ("1", "GPU-ab12") else NOT_FOUND

    def nvmlDeviceGetHandleByIndex_v2(self, index: Any, handle: Any) -> int:  # NVML's own names
        return self._find(str(index.value))

    def nvmlDeviceGetHandleByUUID(self, name: bytes, handle: Any) -> int:
        return self._find(name.decode())

    def __getattr__(self, name: str) -> Any:
        def ask(handle: Any, *arguments: Any) -> int:
            key = "_".join([name.removeprefix("nvmlDeviceGet"), *map(str, arguments[:-1])])
            if key not in self.answers:
                return NOT_SUPPORTED
            result, answer = arguments[-1]._obj, self.answers[key]
            setattr(result, "violation" if isinstance(result, gpu.Held) else "value", answer)
            return 0

        return ask


EVERYTHING = {
    "ClockInfo_1": 1980,
    "ClockInfo_2": 3201,
    "PowerUsage": 123_456,
    "Temperature_0": 41,
    "TotalEccErrors_1_0": 0,
    "CurrentClocksThrottleReasons": 0x24,
    "ViolationStatus_0": 7,
    "ViolationStatus_1": 8,
}


def test_a_reading_has_clocks_in_hertz_power_temperature_errors_and_reasons() -> None:
    assert Gpu(Library(**EVERYTHING), "1").read() == {
        "sm_clock": 1_980_000_000,
        "memory_clock": 3_201_000_000,
        "power": 123_456,
        "temperature": 41,
        "ecc_errors": 0,
        "throttle_reasons": 0x24,
        "power_held_ns": 7,
        "heat_held_ns": 8,
    }


class Divided(Library):
    """Answers for a part of a GPU (MIG), and for the whole, whose handle is `WHOLE`."""

    WHOLE = 7

    def nvmlDeviceGetDeviceHandleFromMigDeviceHandle(self, handle: Any, whole: Any) -> int:
        whole._obj.value = self.WHOLE
        return 0

    def nvmlDeviceGetName(self, handle: Any, buffer: Any, length: Any) -> int:
        buffer.value = b"H100" if handle.value == self.WHOLE else b"H100 MIG 1g.10gb"
        return 0

    def nvmlDeviceGetUUID(self, handle: Any, buffer: Any, length: Any) -> int:
        buffer.value = b"GPU-ab12" if handle.value == self.WHOLE else b"MIG-cc"
        return 0

    def nvmlSystemGetDriverVersion(self, buffer: Any, length: Any) -> int:
        buffer.value = b"580.1"
        return 0

    def nvmlDeviceGetMigMode(self, handle: Any, current: Any, pending: Any) -> int:
        current._obj.value = 1
        return 0


def test_a_part_of_a_gpu_is_described_by_its_own_name_and_the_limits_of_the_whole() -> None:
    answers = {"MaxClockInfo_1": 1980, "MaxClockInfo_2": 2619, "MemoryBusWidth": 5120, "EnforcedPowerLimit": 700_000}
    assert Gpu(Divided(**answers), "1").describe() == {
        "name": "H100 MIG 1g.10gb",
        "uuid": "MIG-cc",
        "driver": "580.1",
        "power_limit": 700_000,
        "sm_clock_max": 1_980_000_000,
        "memory_bandwidth": 3_352_320_000_000,
        "mig": True,
    }


def test_what_a_gpu_does_not_support_is_left_out() -> None:
    assert Gpu(Library(PowerUsage=5), "GPU-ab12").read() == {"power": 5}


def test_a_device_that_throttled_is_doubted_and_an_idle_one_is_not() -> None:
    (warning,) = doubts({"throttle_reasons": 0x8}, {"throttle_reasons": 0x1}, 1.0)
    assert (warning.slug, "slowdown of the hardware" in warning.message) == ("gpu_throttled", True)
    assert doubts({"throttle_reasons": 0x1}, {"throttle_reasons": 0x3}, 1.0) == []


def test_the_time_that_the_clock_was_held_down_is_believed_and_not_the_reason_of_a_moment() -> None:
    stale = {"throttle_reasons": 0x24, "power_held_ns": 10**9, "heat_held_ns": 0}
    assert doubts(stale, stale, 0.5) == []
    idle = {"throttle_reasons": 0x1, "power_held_ns": 12 * 10**8, "heat_held_ns": 0}
    (warning,) = doubts(stale | {"throttle_reasons": 0x1}, idle, 0.5)
    assert warning.message == "the GPU ran below its normal clock, because of its power limit, for 40 % of the time"


def test_processes_of_others_on_the_gpu_are_told_and_those_of_the_same_command_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for pid, command in ((11, b"7"), (12, b"8"), (13, None)):
        (tmp_path / str(pid)).mkdir()
        variables = b"" if command is None else b"OPPERF_COMMAND=" + command + b"\0"
        (tmp_path / str(pid) / "environ").write_bytes(b"HOME=/\0" + variables)
    monkeypatch.setenv("OPPERF_COMMAND", "7")
    assert gpu.others({os.getpid(), 11, 12, 13, 14}, tmp_path) == {12, 13, 14}
    (warning,) = doubts({"others": 0}, {"others": 3}, 1.0)
    assert (warning.slug, "3 processes of others" in warning.message) == ("gpu_shared", True)


def test_new_errors_of_the_memory_are_told_and_old_ones_are_not() -> None:
    assert [one.slug for one in doubts({"ecc_errors": 2}, {"ecc_errors": 3}, 1.0)] == ["ecc_errors"]
    assert doubts({"ecc_errors": 2}, {"ecc_errors": 2}, 1.0) == []


@pytest.mark.parametrize(
    ("visible", "device", "asked"),
    [
        (None, "cuda:1", ["1"]),
        ("3, 1", "cuda:1", ["1"]),
        ("GPU-ab12", "cuda", ["GPU-ab12"]),
        ("GPU-a", "cuda", ["GPU-a", "0"]),
        ("0,2", "cuda:1", ["2"]),
        ("", "cuda:0", [""]),
        ("1", "cuda:1", []),
    ],
)
def test_a_device_is_that_which_cuda_was_told_to_show(
    visible: str | None, device: str, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    library = Library()
    monkeypatch.setattr(gpu, "_load", lambda: library)
    if visible is None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert (gpu.gpu_of(device) is not None) == (asked in (["1"], ["GPU-ab12"]))
    assert library.asked == asked


def test_a_cpu_has_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "_load", lambda: pytest.fail("nobody asks"))
    assert gpu.gpu_of("cpu") is None
