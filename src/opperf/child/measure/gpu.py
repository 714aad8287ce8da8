"""What NVIDIA's management library says of a GPU: which it is, and around a trial how it ran, and who else was there.

The library comes with the driver, and is asked through its C interface
(https://docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceQueries.html). Where it is missing, nothing is said.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, Union

from opperf.domain.device import COMMAND, SHOWN
from opperf.domain.reason import Warning
from opperf.domain.units import plural

LIBRARY = "libnvidia-ml.so.1"
#: Reasons to run below the clock that was asked for (nvmlClocksThrottleReason* in nvml.h). Others are the user's wish.
THROTTLES = {
    0x4: "its power limit",
    0x8: "a slowdown of the hardware",
    0x20: "its temperature",
    0x40: "its temperature, by the hardware",
    0x80: "the power supply's brake",
}
#: Counters of the time that something held the clock down (nvmlPerfPolicyType_t), and the reasons that they stand for.
#: A reason is that of a moment: behind the last wait a GPU idles, and has forgotten it.
HELD = {"power_held_ns": (0, 0x4), "heat_held_ns": (1, 0x20 | 0x40)}
#: The share of the time of the samples from which on that is told.
MOST_HELD = 0.01
#: What nvml.h calls the clocks of the multiprocessors and the memory, the sensor of the GPU, errors that are not
#: corrected, and counts since the driver was loaded.
SM_CLOCK, MEMORY_CLOCK, GPU_SENSOR, UNCORRECTED, VOLATILE = 1, 2, 0, 1, 0
#: Characters that a name, a UUID or a version has at most, and processes that are told.
LONGEST, MOST_PROCESSES = 96, 64

Reading = Mapping[str, int]
Number: TypeAlias = Union[ctypes.c_uint, ctypes.c_ulonglong]


class Memory(ctypes.Structure):
    """What nvml.h calls nvmlMemory_t, in bytes."""

    _fields_ = [(name, ctypes.c_ulonglong) for name in ("total", "free", "used")]


class Held(ctypes.Structure):
    """What nvml.h calls nvmlViolationTime_t: microseconds of any, and nanoseconds in which the clock was held down."""

    _fields_ = [(name, ctypes.c_ulonglong) for name in ("reference", "violation")]


class Process(ctypes.Structure):
    """What nvml.h calls nvmlProcessInfo_t."""

    _fields_ = [
        ("pid", ctypes.c_uint),
        ("memory", ctypes.c_ulonglong),
        ("instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    ]


class Gpu:
    """One GPU, or a part of one (MIG); `library` is NVML as `ctypes` loads it, `name` an index or a UUID."""

    def __init__(self, library: Any, name: str) -> None:
        """Find it; raises `LookupError` for one that is not there."""
        self._library = library
        self._handle = self._find(name)
        parent = ctypes.c_void_p()
        # A part has memory and processes of its own, but clocks and power are those of the whole.
        is_part = self._answers("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", ctypes.byref(parent))
        self._whole = parent if is_part else self._handle

    def _find(self, name: str) -> ctypes.c_void_p:
        library, handle = self._library, ctypes.c_void_p()
        if name.isdecimal():
            code = library.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(int(name)), ctypes.byref(handle))
        else:
            code = library.nvmlDeviceGetHandleByUUID(name.encode(), ctypes.byref(handle))
        if code == 0:
            return handle
        place = 0
        while name and not name.isdecimal():  # CUDA takes the beginning of a UUID too
            if library.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(place), ctypes.byref(handle)) != 0:
                break
            if self._text("nvmlDeviceGetUUID", handle).startswith(name):
                return handle
            place += 1
        raise LookupError(name)

    def describe(self) -> dict[str, object]:
        """Return properties that stay: name, UUID, driver, power limit in milliwatts, highest clock in Hz, modes.

        And the bytes that its memory could move in a second, by its highest clock.
        """
        result: dict[str, object] = {
            "name": self._text("nvmlDeviceGetName", self._handle),  # of a part it has the profile
            "uuid": self._text("nvmlDeviceGetUUID", self._handle),
            "driver": self._text("nvmlSystemGetDriverVersion"),
        }
        numbers = {"power_limit": "nvmlDeviceGetEnforcedPowerLimit", "mode": "nvmlDeviceGetComputeMode"}
        for name, function in numbers.items():
            for value in self._ask(function, ctypes.c_uint()):
                result[name] = value
        for megahertz in self._ask("nvmlDeviceGetMaxClockInfo", ctypes.c_uint(), SM_CLOCK):
            result["sm_clock_max"] = megahertz * 1_000_000
        for megahertz in self._ask("nvmlDeviceGetMaxClockInfo", ctypes.c_uint(), MEMORY_CLOCK):
            for bits in self._ask("nvmlDeviceGetMemoryBusWidth", ctypes.c_uint()):  # twice in each turn of the clock
                result["memory_bandwidth"] = 2 * megahertz * 1_000_000 * bits // 8
        for name, function in (("ecc", "nvmlDeviceGetEccMode"), ("mig", "nvmlDeviceGetMigMode")):
            current, pending = ctypes.c_uint(), ctypes.c_uint()
            if self._answers(function, ctypes.byref(current), ctypes.byref(pending), handle=self._whole):
                result[name] = bool(current.value)
        return {name: value for name, value in result.items() if value != ""}

    def read(self) -> Reading:
        """Return the present readings.

        Clocks in Hz, power in milliwatts, degrees Celsius, errors, bits of reasons for a lower clock, the nanoseconds
        that it was held down, and how many processes of others are there.
        """
        return dict(self._values())

    def energy(self) -> int | None:
        """Read its energy since the driver was loaded, in millijoules; None where it does not tell."""
        return next(self._ask("nvmlDeviceGetTotalEnergyConsumption", ctypes.c_ulonglong()), None)

    def free_memory(self) -> int | None:
        """Return the bytes that nobody has taken; None where it does not tell."""
        memory = self._memory()
        return None if memory is None else int(memory.free)

    def total_memory(self) -> int | None:
        """Return the bytes that it has; None where it does not tell."""
        memory = self._memory()
        return None if memory is None else int(memory.total)

    def _memory(self) -> Memory | None:
        memory = Memory()
        return memory if self._answers("nvmlDeviceGetMemoryInfo", ctypes.byref(memory)) else None

    def _values(self) -> Iterator[tuple[str, int]]:
        wide = ctypes.c_ulonglong
        for name, clock in (("sm_clock", SM_CLOCK), ("memory_clock", MEMORY_CLOCK)):
            for megahertz in self._ask("nvmlDeviceGetClockInfo", ctypes.c_uint(), clock):
                yield name, megahertz * 1_000_000
        for value in self._ask("nvmlDeviceGetPowerUsage", ctypes.c_uint()):
            yield "power", value
        for value in self._ask("nvmlDeviceGetTemperature", ctypes.c_uint(), GPU_SENSOR):
            yield "temperature", value
        for value in self._ask("nvmlDeviceGetTotalEccErrors", wide(), UNCORRECTED, VOLATILE):
            yield "ecc_errors", value
        for value in self._ask("nvmlDeviceGetCurrentClocksThrottleReasons", wide()):
            yield "throttle_reasons", value
        for name, (policy, _) in HELD.items():
            counter = Held()
            if self._answers("nvmlDeviceGetViolationStatus", policy, ctypes.byref(counter), handle=self._whole):
                yield name, int(counter.violation)
        others = self._others()
        if others is not None:
            yield "others", others

    def _others(self) -> int | None:
        """Count the processes of others; None where this one is not told, as in a container that has ids of its own."""
        count, processes = ctypes.c_uint(MOST_PROCESSES), (Process * MOST_PROCESSES)()
        if not self._answers("nvmlDeviceGetComputeRunningProcesses_v3", ctypes.byref(count), processes):
            return None
        ids = {int(process.pid) for process in processes[: count.value]}
        return len(others(ids)) if os.getpid() in ids else None

    def _ask(self, name: str, result: Number, *arguments: int) -> Iterator[int]:
        """Yield the number that a function answers, nothing where this GPU or driver has no answer."""
        if self._answers(name, *arguments, ctypes.byref(result), handle=self._whole):
            yield int(result.value)

    def _answers(self, name: str, *arguments: object, handle: ctypes.c_void_p | None = None) -> bool:
        """Whether a function of the library, which an old or a new one may lack, has answered."""
        function: Callable[..., int] | None = getattr(self._library, name, None)
        return function is not None and function(self._handle if handle is None else handle, *arguments) == 0

    def _text(self, name: str, *handles: ctypes.c_void_p) -> str:
        """Return the text that a function answers, an empty one where it does not."""
        buffer = ctypes.create_string_buffer(LONGEST)
        function: Callable[..., int] | None = getattr(self._library, name, None)
        if function is None or function(*handles, buffer, ctypes.c_uint(LONGEST)) != 0:
            return ""
        return buffer.value.decode(errors="replace")


def others(ids: set[int], processes: Path = Path("/proc")) -> set[int]:
    """Return which processes belong to nobody here: neither this one nor a child of the same command."""
    family = os.environ.get(COMMAND)
    return {one for one in ids - {os.getpid()} if family is None or _command(processes / str(one)) != family}


def _command(process: Path) -> str | None:
    """Return the command that has started a process, as the variables of a child say; None for what is no child."""
    with suppress(OSError):
        for variable in (process / "environ").read_bytes().split(b"\0"):
            name, _, value = variable.partition(b"=")
            if name.decode(errors="replace") == COMMAND:
                return value.decode(errors="replace")
    return None


def gpu_of(device: str) -> Gpu | None:
    """Return the GPU that a framework calls `cuda:1`; None for any other device, and where NVML does not know it.

    CUDA numbers those that `CUDA_VISIBLE_DEVICES` leaves visible, up to the first that it does not know. NVML numbers
    all, by their places on the bus.
    """
    kind, _, index = device.partition(":")
    library = _load() if kind == "cuda" else None
    if library is None:
        return None
    place, text = int(index or 0), os.environ.get(SHOWN)
    names: Sequence[str] = [] if text is None else [name.strip() for name in text.split(",")]
    try:
        return Gpu(library, str(place) if text is None else names[place])
    except (LookupError, AttributeError):
        return None


@cache
def _load() -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL(LIBRARY)
        return library if library.nvmlInit_v2() == 0 else None
    except (OSError, AttributeError):
        return None


def doubts(before: Reading, after: Reading, seconds: float, *, in_turns: bool = False) -> list[Warning]:
    """Return the warnings for two readings around the `seconds` of a trial's samples.

    Of a trial that is measured `in_turns` they are the same for each: for how long is left out.

    >>> [warning.message for warning in doubts({}, {"throttle_reasons": 0x24}, 1.0)]
    ['the GPU ran below its normal clock, because of its power limit and its temperature']
    >>> [warning.message for warning in doubts({"power_held_ns": 5}, {"power_held_ns": 250_000_005}, 1.0)]
    ['the GPU ran below its normal clock, because of its power limit, for 25 % of the time']
    """
    result = [*_throttling(before, after, seconds, says_how_long=not in_turns)]
    errors = after.get("ecc_errors", 0) - before.get("ecc_errors", 0)
    if errors > 0:
        text = f"the GPU's memory had {errors} uncorrected errors"
        result.append(Warning("ecc_errors", text, "do not trust this GPU"))
    strangers = max(reading.get("others", 0) for reading in (before, after))
    if strangers:
        text = f"{plural(strangers, 'process')} of others ran on this GPU, which serves them in turn"
        result.append(Warning("gpu_shared", text, "`nvidia-smi` lists them; take a GPU that is free"))
    return result


def _throttling(before: Reading, after: Reading, seconds: float, *, says_how_long: bool) -> Iterator[Warning]:
    """Yield a warning where the clock was held down: by the counters of that time where there are any."""
    reasons, share = before.get("throttle_reasons", 0) | after.get("throttle_reasons", 0), 0.0
    for name, (_, bits) in HELD.items():
        if name in before and name in after:
            part = (after[name] - before[name]) / 1e9 / (seconds or 1.0)
            reasons = reasons & ~bits | (bits & -bits if part > MOST_HELD else 0)
            share = max(share, part)
    causes = [text for bit, text in THROTTLES.items() if reasons & bit]
    if causes:
        share = share if says_how_long else 0.0
        how_long = f", for {min(share, 1):.0%} of the time".replace("%", " %") if share > MOST_HELD else ""
        text = f"the GPU ran below its normal clock, because of {' and '.join(causes)}{how_long}"
        yield Warning("gpu_throttled", text, "fix its clocks below the limit: `nvidia-smi --lock-gpu-clocks`")
