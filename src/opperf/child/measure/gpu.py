"""What NVIDIA's management library says of a GPU around a trial: clocks, power, temperature, errors, and throttling.

The library comes with the driver, and is asked through its C interface
(https://docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceQueries.html). Where it is missing, nothing is said.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias, Union

from opperf.domain.reason import Warning

LIBRARY = "libnvidia-ml.so.1"
#: Reasons to run below the clock that was asked for (nvmlClocksThrottleReason* in nvml.h). Others are the user's wish.
THROTTLES = {
    0x4: "its power limit",
    0x8: "a slowdown of the hardware",
    0x20: "its temperature",
    0x40: "its temperature, by the hardware",
    0x80: "the power supply's brake",
}
#: What nvml.h calls the clocks of the multiprocessors and the memory, the sensor of the GPU, errors that are not
#: corrected, and counts since the driver was loaded.
SM_CLOCK, MEMORY_CLOCK, GPU_SENSOR, UNCORRECTED, VOLATILE = 1, 2, 0, 1, 0

Reading = Mapping[str, int]
Whole: TypeAlias = Union[ctypes.c_uint, ctypes.c_ulonglong]


class Gpu:
    """One GPU; `library` is NVML as `ctypes` loads it, `name` an index or a UUID."""

    def __init__(self, library: Any, name: str) -> None:
        """Find it; raises `LookupError` for one that is not there."""
        self._library = library
        self._handle = ctypes.c_void_p()
        if name.isdecimal():
            code = library.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(int(name)), ctypes.byref(self._handle))
        else:
            code = library.nvmlDeviceGetHandleByUUID(name.encode(), ctypes.byref(self._handle))
        if code != 0:
            raise LookupError(name)

    def read(self) -> Reading:
        """Return the present readings: clocks in Hz, power in milliwatts, degrees Celsius, errors, bits of reasons."""
        return dict(self._values())

    def energy(self) -> int | None:
        """Read its energy since the driver was loaded, in millijoules; None where it does not tell."""
        return next(self._ask(self._library.nvmlDeviceGetTotalEnergyConsumption, ctypes.c_ulonglong()), None)

    def _values(self) -> Iterator[tuple[str, int]]:
        library, wide = self._library, ctypes.c_ulonglong
        for name, clock in (("sm_clock", SM_CLOCK), ("memory_clock", MEMORY_CLOCK)):
            for megahertz in self._ask(library.nvmlDeviceGetClockInfo, ctypes.c_uint(), clock):
                yield name, megahertz * 1_000_000
        for value in self._ask(library.nvmlDeviceGetPowerUsage, ctypes.c_uint()):
            yield "power", value
        for value in self._ask(library.nvmlDeviceGetTemperature, ctypes.c_uint(), GPU_SENSOR):
            yield "temperature", value
        for value in self._ask(library.nvmlDeviceGetTotalEccErrors, wide(), UNCORRECTED, VOLATILE):
            yield "ecc_errors", value
        for value in self._ask(library.nvmlDeviceGetCurrentClocksThrottleReasons, wide()):
            yield "throttle_reasons", value

    def _ask(
        self, function: Callable[..., int], result: ctypes.c_uint | ctypes.c_ulonglong, *arguments: int
    ) -> Iterator[int]:
        """Yield what a function answers, nothing where this GPU or driver has no answer."""
        if function(self._handle, *arguments, ctypes.byref(result)) == 0:
            yield int(result.value)


def gpu_of(device: str) -> Gpu | None:
    """Return the GPU that a framework calls `cuda:1`; None for any other device, and where NVML does not know it.

    CUDA numbers those that `CUDA_VISIBLE_DEVICES` leaves visible. NVML numbers all, by their places on the bus.
    """
    kind, _, index = device.partition(":")
    library = _load() if kind == "cuda" else None
    if library is None:
        return None
    visible = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    place = int(index or 0)
    try:
        return Gpu(library, visible[place] if visible else str(place))
    except (LookupError, AttributeError):
        return None


@cache
def _load() -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL(LIBRARY)
        return library if library.nvmlInit_v2() == 0 else None
    except (OSError, AttributeError):
        return None


def doubts(before: Reading, after: Reading) -> list[Warning]:
    """Return the warnings for two readings around a trial.

    >>> [warning.message for warning in doubts({}, {"throttle_reasons": 0x24})]
    ['the GPU ran below its normal clock, because of its power limit and its temperature']
    """
    result = []
    reasons = before.get("throttle_reasons", 0) | after.get("throttle_reasons", 0)
    causes = [text for bit, text in THROTTLES.items() if reasons & bit]
    if causes:
        result.append(
            Warning(
                "gpu_throttled",
                f"the GPU ran below its normal clock, because of {' and '.join(causes)}",
                "fix its clocks below the limit: `nvidia-smi --lock-gpu-clocks`",
            )
        )
    errors = after.get("ecc_errors", 0) - before.get("ecc_errors", 0)
    if errors > 0:
        result.append(
            Warning("ecc_errors", f"the GPU's memory had {errors} uncorrected errors", "do not trust this GPU")
        )
    return result
