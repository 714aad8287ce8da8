"""How long calls took, and what they made a device do: a Kineto (Chrome) trace.

A trace with work on a GPU says how long that took, and how long the host was busy launching it. Work on a device and
the runtime's call that launched it have one `correlation`; the innermost operator that ran on that thread at that time
launched it. `External id` names that operator too, but up to about PyTorch 2.1 it is the `correlation` once more, so it
counts only where the runtime's call is not in the trace.
"""

from __future__ import annotations

import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import ijson

from opperf.domain.errors import InputError
from opperf.domain.files.json_text import JsonObject
from opperf.parent.sources.execution_trace.node import DAMAGE, describe, open_trace

MICROSECOND = 1e-6
#: The category of `record_function` and of the profiler's steps.
LABEL = "user_annotation"
#: The categories of work on a device.
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
#: How the categories of calls end that launch it: `cuda_runtime`, `cuda_driver`.
LAUNCHES = ("_runtime", "_driver")


class Thread(NamedTuple):
    """A thread and the process that it is of, as a Kineto trace names them."""

    process: object
    number: object

    @classmethod
    def of(cls, event: JsonObject) -> Thread:
        """Return the thread of an event."""
        return cls(*(sys.intern(str(event.get(key))) for key in ("pid", "tid")))


@dataclass(frozen=True, slots=True)
class Call:
    """A call in a Kineto trace. `number` is its `Record function id`, `external` its `External id`; 0 is none."""

    name: str
    start: float
    seconds: float
    thread: Thread
    number: int
    external: int


class Rank(NamedTuple):
    """Which of the processes of a distributed program one is."""

    number: int
    of: int


@dataclass(frozen=True)
class Recording:
    """What a Kineto trace holds: its calls, and the seconds on a device of the work that each launched itself.

    `launched` has the places of the calls in `calls`; `device` is the time of all work on a device. `details` is what
    else is said of each call, and `labels` what stands around calls, where that was asked for.
    """

    path: Path
    calls: Sequence[Call]
    launched: Mapping[int, float]
    device: float = 0.0
    rank: Rank | None = None
    details: Sequence[JsonObject] = ()
    labels: Sequence[Call] = ()

    @property
    def clock(self) -> str:
        """Whose time counts: the `device`'s where calls launched work on one, else the `host`'s."""
        return "device" if self.launched else "host"

    def of(self, process: int | None, trace: Path) -> Recording:
        """Return the part that is of the process of an execution trace; raises `InputError` where there is none."""
        processes = {call.thread.process for call in self.calls} - {"None"}
        if process is None or processes <= {str(process)}:
            return self
        if str(process) not in processes:
            raise _foreign(self.path, f"process {', '.join(sorted(map(str, processes)))}", trace, f"process {process}")
        places = [place for place, call in enumerate(self.calls) if call.thread.process == str(process)]
        launched = {new: self.launched[place] for new, place in enumerate(places) if place in self.launched}
        return replace(self, calls=[self.calls[place] for place in places], launched=launched)

    def check_rank(self, ranks: Iterable[Rank], trace: Path) -> None:
        """Raise `InputError` for a trace that another rank of the same program wrote."""
        others = [rank for rank in ranks if self.rank is not None and rank.of == self.rank.of and rank != self.rank]
        if self.rank is not None and others:
            raise _foreign(self.path, f"rank {self.rank.number}", trace, f"rank {others[0].number}")


def _foreign(kineto: Path, own: str, trace: Path, expected: str) -> InputError:
    return InputError(
        f"{kineto}: is of {own}, but {trace} is of {expected}",
        hint="name the Kineto trace that the same process wrote, or leave out `--kineto`",
        slug="bad_trace",
    )


class Launch(NamedTuple):
    """When the runtime was called to start work on a device: the middle of that call, in microseconds."""

    thread: Thread
    time: float
    external: int


@dataclass
class _Launches:
    """Work on a device and what launched it, until all of the file is read.

    `launches` has the runtime's calls by `correlation`; `work` nanoseconds by the `correlation` and the `External id`.
    """

    launches: dict[int, Launch] = field(default_factory=dict)
    work: Counter[tuple[int, int]] = field(default_factory=Counter)

    def add(self, category: str, event: JsonObject, arguments: JsonObject) -> None:
        """Take an event that is no call of an operator."""
        is_launch = category.endswith(LAUNCHES)
        if not is_launch and category not in DEVICE:
            return
        duration = _microseconds(event, "dur")
        launch, external = _number(arguments, "correlation") or 0, _number(arguments, "External id", "external id") or 0
        if not is_launch:
            self.work[launch, external] += round(duration * 1000)
        elif launch:
            self.launches[launch] = Launch(Thread.of(event), _microseconds(event, "ts") + duration / 2, external)

    def seconds(self, calls: Sequence[Call]) -> dict[int, float]:
        """Return the seconds of the work that each call launched, by the call's place."""
        running = _running(calls, self.launches)
        by_external = {call.external: place for place, call in enumerate(calls) if call.external}
        result: Counter[int] = Counter()
        for (launch, external), nanoseconds in self.work.items():
            place = running.get(launch)
            if place is None:
                external = external or (self.launches[launch].external if launch in self.launches else 0)
                place = by_external.get(external) if external != launch else None
            if place is not None:
                result[place] += nanoseconds
        return {place: nanoseconds / 1e9 for place, nanoseconds in result.items()}


def _running(calls: Sequence[Call], launches: Mapping[int, Launch]) -> dict[int, int]:
    """Return the place of the innermost call that ran on the thread of each launch when that was."""
    threads: dict[Thread, list[tuple[float, bool, float, int, int]]] = defaultdict(list)
    for place, call in enumerate(calls):
        end = call.start + call.seconds / MICROSECOND
        threads[call.thread].append((call.start, False, -end, call.external, place))
    for number, launch in launches.items():
        threads[launch.thread].append((launch.time, True, 0.0, 0, number))
    result: dict[int, int] = {}
    for moments in threads.values():
        inside: list[tuple[float, int]] = []
        for time, is_launch, minus_end, _, number in sorted(moments):
            while inside and inside[-1][0] < time:
                inside.pop()
            if not is_launch:
                inside.append((-minus_end, number))
            elif inside:
                result[number] = inside[-1][1]
    return result


def read_kineto(path: Path, *, details: bool = False) -> Recording:
    """Read a Kineto trace, one event at a time; raises `InputError` for anything else."""
    calls: list[Call] = []
    rest: list[JsonObject] = []
    labels: list[Call] = []
    kernels = _Launches()
    read = 0
    with open_trace(path) as file:
        try:
            for event in ijson.items(file, "traceEvents.item", use_float=True):
                read += 1
                if "dur" not in event:
                    continue
                arguments, category = event.get("args", {}), str(event.get("cat"))
                if category == "cpu_op":
                    calls.append(_call(event, arguments))
                    rest += [arguments] if details else []
                elif category == LABEL:
                    labels += [_call(event, arguments)] if details else []
                else:
                    kernels.add(category, event, arguments)
        except (*DAMAGE, ArithmeticError, KeyError, ValueError, TypeError, AttributeError) as error:
            raise InputError(
                f"{path}: damaged after {read} events: {describe(error)}",
                hint="expected the Chrome trace that `torch.profiler` exports",
                slug="bad_trace",
            ) from error
    if not calls:
        hint = "expected the Chrome trace that `torch.profiler` exports of the same run"
        raise InputError(f"{path}: no call of an operator among {read} events", hint=hint, slug="bad_trace")
    device = sum(kernels.work.values()) / 1e9
    return Recording(path, calls, kernels.seconds(calls), device, _rank(path), rest, labels)


def _rank(path: Path) -> Rank | None:
    """Return which rank wrote a Kineto trace, which stands before its events; None where it does not."""
    facts: dict[str, object] = {}
    with open_trace(path) as file:
        for prefix, _, value in ijson.parse(file, use_float=True):
            if prefix.startswith("traceEvents"):
                break
            if prefix in ("distributedInfo.rank", "distributedInfo.world_size"):
                facts[prefix.rpartition(".")[2]] = value
    match facts:
        case {"rank": int(number), "world_size": int(size)}:
            return Rank(number, size)
    return None


def _call(event: JsonObject, arguments: JsonObject) -> Call:
    return Call(
        sys.intern(str(event["name"])),
        _microseconds(event, "ts"),
        _microseconds(event, "dur") * MICROSECOND,
        Thread.of(event),
        _number(arguments, "Record function id") or 0,  # some versions write 0 everywhere
        _number(arguments, "External id") or 0,
    )


def _microseconds(event: JsonObject, name: str) -> float:
    """Return a moment or a duration, 0 where there is none; raises `ValueError` for one that no clock shows."""
    value = float(event.get(name, 0.0))
    if not math.isfinite(value):
        raise ValueError(f"`{name}` is {value}, expected a finite number of microseconds")
    return value


def _number(arguments: JsonObject, *names: str) -> int | None:
    """Return the first number that there is under some names."""
    value = next((arguments[name] for name in names if arguments.get(name) is not None), None)
    return None if value is None else int(value)
