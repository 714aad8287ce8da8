"""How long recorded calls took: a Kineto (Chrome) trace of the same run, joined by the number of each call.

A trace with work on a GPU says how long that took, beside how long the host was busy with launching it. Work on a
device has the `External id` of the call that launched it, the innermost one; where it has none, the `correlation` of
the runtime's call leads there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ijson

from opperf.errors import InputError
from opperf.sources.execution_trace.packed import DAMAGED, opened, told

MICROSECOND = 1e-6
#: The categories of work on a device.
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
#: How the categories of calls end that launch it: `cuda_runtime`, `cuda_driver`.
LAUNCHES = ("_runtime", "_driver")


@dataclass
class Durations:
    """What a trace says of each recorded call: its name and its seconds on the host, what it called included.

    `device` has the seconds of the work that a call itself launched.
    """

    host: dict[int, tuple[str, float]] = field(default_factory=dict)
    device: Mapping[int, float] = field(default_factory=dict)

    @property
    def clock(self) -> str:
        """Whose time counts: the `device`'s where there was work on one, else the `host`'s."""
        return "device" if self.device else "host"

    def of(self, record_function: int, name: str) -> float | None:
        """Return how long a call took on the host, None where that is not recorded."""
        return self.host[record_function][1] if self._is_same(record_function, name) else None

    def launched(self, record_function: int, name: str) -> float | None:
        """Return how long the work took that a call itself launched, None where there is none."""
        return self.device.get(record_function) if self._is_same(record_function, name) else None

    def _is_same(self, record_function: int, name: str) -> bool:
        return bool(record_function) and record_function in self.host and self.host[record_function][0] == name


@dataclass
class _Launched:
    """Work on a device, until all of the file is read: by the call that launched it, or by the runtime's."""

    calls: dict[int, int] = field(default_factory=dict)
    launches: dict[int, int] = field(default_factory=dict)
    by_call: Counter[int] = field(default_factory=Counter)
    by_launch: Counter[int] = field(default_factory=Counter)

    def add(self, category: str, arguments: Mapping[str, Any], nanoseconds: int) -> None:
        """Take an event that is no call of an operator."""
        call, launch = _number(arguments, "External id", "external id"), _number(arguments, "correlation")
        if category.endswith(LAUNCHES) and call is not None and launch is not None:
            self.launches[launch] = call
        elif category in DEVICE and call:
            self.by_call[call] += nanoseconds
        elif category in DEVICE and launch is not None:
            self.by_launch[launch] += nanoseconds

    def seconds(self) -> dict[int, float]:
        """Return the seconds of the work that each recorded call launched."""
        for launch, nanoseconds in self.by_launch.items():
            self.by_call[self.launches.get(launch, 0)] += nanoseconds
        return {self.calls[call]: spent / 1e9 for call, spent in self.by_call.items() if call in self.calls}


def read_durations(path: Path) -> Durations:
    """Read a Kineto trace, one event at a time; raises `InputError` for what is none."""
    host: dict[int, tuple[str, float]] = {}
    launched = _Launched()
    read = operators = 0
    with opened(path) as file:
        try:
            for event in ijson.items(file, "traceEvents.item", use_float=True):
                read += 1
                if "dur" not in event:
                    continue
                arguments, category = event.get("args", {}), str(event.get("cat"))
                if category != "cpu_op":
                    launched.add(category, arguments, round(float(event["dur"]) * 1000))
                    continue
                operators += 1
                number, call = _number(arguments, "Record function id"), _number(arguments, "External id")
                if number:  # some versions write 0 everywhere
                    host[number] = (str(event["name"]), float(event["dur"]) * MICROSECOND)
                    if call:
                        launched.calls[call] = number
        except (*DAMAGED, ArithmeticError, KeyError, ValueError, TypeError, AttributeError) as error:
            raise InputError(
                f"{path}: damaged after {read} events: {told(error)}",
                hint="expected the Chrome trace that `torch.profiler` exports",
                slug="bad_trace",
            ) from error
    if not operators:
        hint = "expected the Chrome trace that `torch.profiler` exports of the same run"
        raise InputError(f"{path}: no call of an operator among {read} events", hint=hint, slug="bad_trace")
    if not host:
        raise InputError(
            f"{path}: none of its {operators} calls has a `Record function id`, by which they are found again",
            hint="PyTorch writes it from 2.4 on; leave `--kineto` out",
            slug="bad_trace",
        )
    return Durations(host, launched.seconds())


def _number(arguments: Mapping[str, Any], *names: str) -> int | None:
    """Return the first number that there is under some names."""
    found = next((arguments[name] for name in names if arguments.get(name) is not None), None)
    return None if found is None else int(found)
