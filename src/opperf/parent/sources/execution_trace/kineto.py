"""How long recorded calls took: a Kineto (Chrome) trace of the same run, joined to an execution trace.

Both number their calls, and versions of PyTorch differ in how. A call's `Record function id` is the `rf_id` of its
node from PyTorch 2.4 on; in some earlier versions its `External id` is. Where neither is, calls are joined by their
order: each thread of the execution trace is looked for among the threads of the Kineto trace, call by call, by name.
Whichever it is, names must agree, or the two are of different runs.

A trace with work on a GPU says how long that took, and how long the host was busy launching it. Work on a
device has the `External id` of the call that launched it, the innermost one; where it has none, the `correlation` of
the runtime's call leads there.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import ijson

from opperf.domain.errors import InputError
from opperf.domain.files.json_text import JsonObject
from opperf.parent.sources.execution_trace.node import DAMAGE, Node, describe, open_trace

MICROSECOND = 1e-6
#: The categories of work on a device.
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
#: How the categories of calls end that launch it: `cuda_runtime`, `cuda_driver`.
LAUNCHES = ("_runtime", "_driver")
#: The share of names that must agree where two traces are joined. Two files of one run agree in all but the few
#: calls that one of them names otherwise; by chance some 30 % of a training loop's calls do.
AGREEMENT = 0.9
#: How many calls in a row must match to find where a thread begins, and how far apart those runs start.
RUN, STRIDE = 6, 16
#: A place is tried if this share of the runs votes for it.
VOTES = 0.5


@dataclass(frozen=True, slots=True)
class Call:
    """A call in a Kineto trace. `number` is its `Record function id`, `external` its `External id`; 0 is none."""

    name: str
    start: float
    seconds: float
    thread: object
    number: int
    external: int


@dataclass(frozen=True)
class Recording:
    """What a Kineto trace holds: its calls, and the seconds on a device of the work that each launched itself.

    `launched` has the places of the calls in `calls`.
    """

    path: Path
    calls: Sequence[Call]
    launched: Mapping[int, float]

    @property
    def clock(self) -> str:
        """Whose time counts: the `device`'s where there was work on one, else the `host`'s."""
        return "device" if self.launched else "host"


class Mark(NamedTuple):
    """What identifies the call of a node."""

    id: int
    thread: int
    name: str
    number: int
    is_operator: bool


@dataclass(frozen=True)
class Durations:
    """The seconds of the nodes of one execution trace, by their ids.

    `host` holds what a node called, too; `begins` when it began, where one call alone is the node's; `launched` the
    work on a device that it launched itself. `way` says how the calls were joined.
    """

    host: Mapping[int, float]
    begins: Mapping[int, float]
    launched: Mapping[int, float]
    way: str


@dataclass
class _Launches:
    """Work on a device, until all of the file is read: by the call that launched it, or by the runtime's."""

    launches: dict[int, int] = field(default_factory=dict)
    by_call: Counter[int] = field(default_factory=Counter)
    by_launch: Counter[int] = field(default_factory=Counter)

    def add(self, category: str, arguments: Mapping[str, object], nanoseconds: int) -> None:
        """Take an event that is no call of an operator."""
        call, launch = _number(arguments, "External id", "external id"), _number(arguments, "correlation")
        if category.endswith(LAUNCHES) and call is not None and launch is not None:
            self.launches[launch] = call
        elif category in DEVICE and call:
            self.by_call[call] += nanoseconds
        elif category in DEVICE and launch is not None:
            self.by_launch[launch] += nanoseconds

    def seconds(self, calls: Sequence[Call]) -> dict[int, float]:
        """Return the seconds of the work that each call launched, by the call's place."""
        for launch, nanoseconds in self.by_launch.items():
            self.by_call[self.launches.get(launch, 0)] += nanoseconds
        places = {call.external: place for place, call in enumerate(calls) if call.external}
        return {places[call]: nanoseconds / 1e9 for call, nanoseconds in self.by_call.items() if call in places}


def read_kineto(path: Path) -> Recording:
    """Read a Kineto trace, one event at a time; raises `InputError` for anything else."""
    calls: list[Call] = []
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
                else:
                    kernels.add(category, arguments, round(float(event["dur"]) * 1000))
        except (*DAMAGE, ArithmeticError, KeyError, ValueError, TypeError, AttributeError) as error:
            raise InputError(
                f"{path}: damaged after {read} events: {describe(error)}",
                hint="expected the Chrome trace that `torch.profiler` exports",
                slug="bad_trace",
            ) from error
    if not calls:
        hint = "expected the Chrome trace that `torch.profiler` exports of the same run"
        raise InputError(f"{path}: no call of an operator among {read} events", hint=hint, slug="bad_trace")
    return Recording(path, calls, kernels.seconds(calls))


def _call(event: JsonObject, arguments: JsonObject) -> Call:
    return Call(
        sys.intern(str(event["name"])),
        float(event.get("ts", 0.0)),
        float(event["dur"]) * MICROSECOND,
        f"{event.get('pid')}/{event.get('tid')}",
        _number(arguments, "Record function id") or 0,  # some versions write 0 everywhere
        _number(arguments, "External id") or 0,
    )


def _number(arguments: JsonObject, *names: str) -> int | None:
    """Return the first number that there is under some names."""
    value = next((arguments[name] for name in names if arguments.get(name) is not None), None)
    return None if value is None else int(value)


def join(recording: Recording, nodes: Iterable[Node]) -> Durations:
    """Find the calls of an execution trace in a Kineto trace of the same run.

    Of the ways to join them the first counts by which names agree; where they agree by none, that which joins most.
    """
    # A trace may have millions of nodes, whose arguments are not needed here.
    marks = [
        Mark(node.id, node.thread, sys.intern(node.name), node.record_function, node.is_operator) for node in nodes
    ]
    ways: list[tuple[str, Callable[[], Mapping[int, Sequence[int]]]]] = [
        ("`Record function id`", lambda: _by_number(marks, recording.calls, lambda call: call.number)),
        ("`External id`", lambda: _by_number(marks, recording.calls, lambda call: call.external)),
        ("their order", lambda: _by_order(marks, recording.calls)),
    ]
    best: Mapping[int, Sequence[int]] = {}
    name = ways[0][0]
    for way, pairs in ways:
        places = pairs()
        agreeing = {
            mark.id: places[mark.id]
            for mark in marks
            if mark.id in places and all(recording.calls[place].name == mark.name for place in places[mark.id])
        }
        if len(agreeing) > len(best):
            best, name = agreeing, way
        if agreeing and len(agreeing) >= AGREEMENT * len(places):
            break
    repeats = max((len(places) for places in best.values()), default=1)
    return Durations(
        host={node: _mean(recording.calls[place].seconds for place in places) for node, places in best.items()},
        begins={
            node: recording.calls[places[0]].start * MICROSECOND for node, places in best.items() if len(places) == 1
        },
        launched={
            node: _mean(recording.launched.get(place, 0.0) for place in places)
            for node, places in best.items()
            if any(place in recording.launched for place in places)
        },
        way=name if repeats == 1 else f"{name}, the mean of {repeats} equal steps",
    )


def _mean(seconds: Iterable[float]) -> float:
    values = list(seconds)
    return sum(values) / len(values)


def _by_number(
    marks: Sequence[Mark], calls: Sequence[Call], number: Callable[[Call], int]
) -> Mapping[int, Sequence[int]]:
    """Return the place of the call that has a node's number, for each operator that has one."""
    places = {number(call): place for place, call in enumerate(calls) if number(call)}
    return {mark.id: (places[mark.number],) for mark in marks if mark.is_operator and mark.number in places}


def _by_order(marks: Sequence[Mark], calls: Sequence[Call]) -> Mapping[int, Sequence[int]]:
    """Return the places of the calls that stand where nodes do, in the thread whose names agree best.

    Where a thread repeats the same calls, as the steps of a training loop do, a node has one call in each repetition.
    """
    shared = {mark.name for mark in marks} & {call.name for call in calls}
    in_trace = _threads((mark.thread, mark.id, mark.name) for mark in sorted(marks) if mark.name in shared)
    in_kineto = _threads(
        (call.thread, place, call.name)
        for place, call in sorted(
            enumerate(calls), key=lambda one: (one[1].start, -one[1].seconds, one[1].external, one[0])
        )
        if call.name in shared
    )
    pairs: dict[int, Sequence[int]] = {}
    for ids, names in in_trace:
        offsets, places = max(
            ((list(_offsets(names, others)), places) for places, others in in_kineto),
            key=lambda one: len(one[0]),
            default=([], []),
        )
        if offsets:
            pairs |= {node: tuple(places[at + i] for at in offsets) for i, node in enumerate(ids)}
    return pairs


def _threads(rows: Iterable[tuple[object, int, str]]) -> list[tuple[list[int], list[str]]]:
    """Return the numbers and the names of each thread, in their order."""
    threads: dict[object, tuple[list[int], list[str]]] = defaultdict(lambda: ([], []))
    for thread, number, name in rows:
        numbers, names = threads[thread]
        numbers.append(number)
        names.append(name)
    return list(threads.values())


def _offsets(names: Sequence[str], others: Sequence[str]) -> Iterator[int]:
    """Yield where a thread's names stand among another's, from the first such place on.

    Runs of a few names vote for where it may begin; at each such place the names must agree. Places do not overlap.
    """
    runs: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place in range(len(others) - RUN + 1):
        runs[tuple(others[place : place + RUN])].append(place)
    starts = range(0, len(names) - RUN + 1, STRIDE)
    votes: Counter[int] = Counter()
    for start in starts:
        votes.update(place - start for place in runs.get(tuple(names[start : start + RUN]), ()))
    free = 0
    for offset in sorted(offset for offset, count in votes.items() if count >= VOTES * len(starts)):
        if offset < free or offset + len(names) > len(others):
            continue
        equal = sum(mine == other for mine, other in zip(names, others[offset : offset + len(names)]))
        if equal >= AGREEMENT * len(names):
            yield offset
            free = offset + len(names)
