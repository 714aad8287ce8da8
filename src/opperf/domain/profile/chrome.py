"""A profile as Chrome trace events, which Perfetto and chrome://tracing show, and back.

The format is Google's "Trace Event Format": complete events (`X`) with times in microseconds, counters (`C`), arrows
from a call to its backward (`s` and `f`), and names of processes and threads (`M`). A double cannot hold nanoseconds
since 1970, so times count from the first span, and `opperf.epoch` says when that was. Perfetto drops a span that partly
overlaps another of its thread, so those stand on threads of their own, `main (2)`; what thread they are of is in the
name's arguments.

A stack of Python lines stands once in `stackFrames`, whatever was called from there, and spans name it by `sf`; `line`
is its innermost one, for viewers that know no stacks. A file that has them in the spans' arguments is read as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from itertools import islice
from math import inf, nextafter
from pathlib import Path
from typing import Annotated, Optional, Union, get_type_hints

from opperf.domain.codec import decode, read_as
from opperf.domain.errors import InputError
from opperf.domain.files.destination import write_parts
from opperf.domain.profile.event import (
    KINDS,
    Block,
    Event,
    Profile,
    Reading,
    Slice,
    Stretch,
    in_time,
    lanes,
    links,
    track,
)
from opperf.domain.type_hint import OneOf, Unread, kind_of, wrong

SCHEMA_VERSION = 1
#: The fields of a span besides its name, kind, time and place.
DETAILS = tuple(
    field
    for field in fields(Event)
    if field.name not in ("name", "kind", "begin", "duration", "process", "thread", "stack")
)
#: Lines of a stack: what is beyond is cut off.
DEEPEST = 1000

#: How what a profile says is read: of very many spans, so once for all.
DETAIL_KINDS = {
    name: kind_of(hint)
    for name, hint in get_type_hints(Event).items()
    if name == "stack" or name in {one.name for one in DETAILS}
}
NAME, NUMBER, KIND = kind_of(str), kind_of(int), kind_of(Annotated[str, OneOf(KINDS)])
ARGUMENTS = kind_of(Mapping[str, Unread])
#: What is known of a process, where it is: the command is a line, and was a list of its words.
FACTS: Mapping[str, object] = {
    "framework": Optional[str],
    "version": Optional[str],
    "name": Optional[str],
    "command": Union[str, tuple[str, ...], None],
    "threads": Optional[int],
    "peak_flop_rate": Optional[float],
    "parameters": Optional[Mapping[str, int]],
}
#: Microseconds of 30 years.
LONGEST = 1e15


def to_trace(profile: Profile) -> dict[str, object]:
    """Return the document; its spans are in the order of time, and come back so."""
    stacks = Frames()
    return {"displayTimeUnit": "ns", "traceEvents": list(entries(profile, stacks)), **rest(profile, stacks)}


def entries(profile: Profile, stacks: Frames) -> Iterator[dict[str, object]]:
    """Yield the trace events one by one; the stacks that they name are added to `stacks`."""
    epoch = epoch_of(profile)
    # Of two that begin together, Perfetto takes the first for the outer one.
    events = sorted(profile.events, key=in_time)
    places = [(event.process, event.thread, lane) for event, (lane, _) in zip(events, lanes(events))]
    # Threads are numbered: the system's own numbers may be beyond what a double holds, as MXNet's are.
    threads = {place: number for number, place in enumerate(dict.fromkeys(places), 1)}
    processes = {*profile.processes, *(event.process for event in events), *(one.process for one in profile.readings)}
    yield from (_metadata("process_name", number, 0, name=_title(profile, number)) for number in sorted(processes))
    for (process, thread, lane), number in threads.items():
        yield _metadata("thread_name", process, number, name=track(thread, lane), thread=thread)
    yield from (_span(event, threads[place], epoch, stacks) for event, place in zip(events, places))
    yield from _arrows(events, [threads[place] for place in places], epoch)
    yield from (_counter(reading, epoch) for reading in profile.readings)


def rest(profile: Profile, stacks: Frames) -> dict[str, object]:
    """Return everything in the document but its trace events."""
    return {
        **({"stackFrames": stacks.frames} if stacks.frames else {}),
        "opperf": {
            "schema_version": SCHEMA_VERSION,
            "epoch": epoch_of(profile),
            "processes": {str(number): dict(facts) for number, facts in profile.processes.items()},
            "notes": list(profile.notes),
            **({"slices": _columns(profile)} if profile.slices else {}),
            **({"stretches": _stretches(profile)} if profile.stretches else {}),
            **({"blocks": _blocks(profile)} if profile.blocks else {}),
        },
    }


def _columns(profile: Profile) -> dict[str, list[int]]:
    """Return the slices as columns; times count from the first span."""
    epoch = epoch_of(profile)
    columns = {field.name: [getattr(piece, field.name) for piece in profile.slices] for field in fields(Slice)}
    return {**columns, **{name: [time - epoch for time in columns[name]] for name in ("begin", "end")}}


def _stretches(profile: Profile) -> list[list[int]]:
    """Return process, beginning and end of each stretch; times count from the first span."""
    epoch = epoch_of(profile)
    return [[one.process, one.begin - epoch, one.end - epoch] for one in profile.stretches]


def _blocks(profile: Profile) -> list[dict[str, object]]:
    """Return the blocks of memory at its peak; times count from the first span."""
    epoch = epoch_of(profile)
    return [{**asdict(one), "time": one.time - epoch, "begin": one.begin - epoch} for one in profile.blocks]


def _read_blocks(value: object, epoch: int, where: str) -> tuple[Block, ...]:
    """Read what was alive at the peak of memory; raises `InputError` that names the place."""
    place = f"{where}: opperf.blocks"
    entries = read_as(Sequence[Mapping[str, Unread]], value, place)
    blocks = (decode(Block, entry, f"{place}[{i}]") for i, entry in enumerate(entries))
    return tuple(replace(one, time=epoch + one.time, begin=epoch + one.begin) for one in blocks)


def _slices(value: object, epoch: int, where: str) -> tuple[Slice, ...]:
    """Read the columns of slices; raises `InputError` that names the place."""
    place = f"{where}: opperf.slices"
    columns = read_as(Mapping[str, tuple[int, ...]], value, place)
    rows = [columns.get(field.name, ()) for field in fields(Slice)]
    if len({len(row) for row in rows}) > 1:
        raise InputError(f"{place}: columns of different lengths", slug="bad_profile")
    return tuple(
        Slice(epoch + begin, epoch + end, process, ran, waited) for begin, end, process, ran, waited in zip(*rows)
    )


def epoch_of(profile: Profile) -> int:
    """Return the nanoseconds since 1970 that times of the document count from: those of the first span or reading."""
    times = (*(event.begin for event in profile.events), *(reading.time for reading in profile.readings))
    return min(times, default=0)


class Frames:
    """The lines of stacks, each once beneath the line that called it, as the format has them."""

    def __init__(self) -> None:
        self.frames: dict[str, dict[str, object]] = {}
        self._numbers: dict[tuple[int, str], int] = {}
        self._whole: dict[tuple[str, ...], int] = {}

    def number(self, stack: tuple[str, ...]) -> int:
        """Return the name of a stack, which is added where it is new."""
        if stack not in self._whole:
            number = 0
            for line in reversed(stack[:DEEPEST]):
                caller, number = number, self._numbers.setdefault((number, line), len(self._numbers) + 1)
                if str(number) not in self.frames:
                    self.frames[str(number)] = {"name": line, **({"parent": str(caller)} if caller else {})}
            self._whole[stack] = number
        return self._whole[stack]


class _Read:
    """Stacks as they are read, each once."""

    def __init__(self, frames: Mapping[str, Mapping[str, object]]) -> None:
        self._frames = frames
        self._stacks: dict[int, tuple[str, ...]] = {}

    def stack(self, number: object) -> tuple[str, ...]:
        """Return the lines of a stack; raises `KeyError` for one that is not there."""
        first = NUMBER.read(number, "sf")
        if first not in self._stacks:
            lines: list[str] = []
            place = str(first)
            while place and len(lines) < DEEPEST:
                lines.append(NAME.read(self._frames[place]["name"], f"stackFrames.{place}.name"))
                place = NAME.read(self._frames[place].get("parent", ""), f"stackFrames.{place}.parent")
            self._stacks[first] = tuple(lines)
        return self._stacks[first]


def from_trace(document: object, where: str) -> Profile:
    """Read a document that `to_trace` made; raises `InputError` that names the place."""
    head = document if isinstance(document, dict) else {}
    section = head.get("opperf")
    if not isinstance(section, dict) or section.get("schema_version") != SCHEMA_VERSION:
        raise InputError(f"{where}: not a profile of opperf", hint="write one with `opperf profile SCRIPT.py`")
    entries = read_as(Sequence[Mapping[str, Unread]], head.get("traceEvents"), f"{where}: traceEvents")
    epoch = read_as(int, section.get("epoch"), f"{where}: opperf.epoch")
    facts = read_as(Mapping[str, Mapping[str, object]], section.get("processes"), f"{where}: opperf.processes")
    stacks = _Read(read_as(Mapping[str, Mapping[str, object]], head.get("stackFrames", {}), f"{where}: stackFrames"))
    threads: dict[tuple[object, object], str] = {}
    events, readings = [], []
    try:
        for i, entry in enumerate(entries):
            place = f"traceEvents[{i}]"
            if entry["ph"] == "M" and entry["name"] == "thread_name":
                threads[entry["pid"], entry["tid"]] = read_as(str, entry["args"]["thread"], "args.thread")
            elif entry["ph"] == "X":
                events.append(_event(entry, threads, epoch, stacks))
            elif entry["ph"] == "C":
                readings.append(_reading(entry, epoch))
        place = "opperf.processes"
        processes = {int(number): head for number, head in facts.items()}
        for number, head in facts.items():
            for name in FACTS.keys() & head.keys():
                read_as(FACTS[name], head[name], f"{number}.{name}")
    except (KeyError, TypeError, ValueError) as problem:
        raise InputError(
            f"{where}: {place}: not as opperf writes it ({type(problem).__name__}: {problem})", slug="bad_profile"
        ) from problem
    except InputError as problem:
        raise InputError(f"{where}: {place}.{problem.message}", hint=problem.hint, slug=problem.slug) from problem
    notes = read_as(tuple[str, ...], section.get("notes"), f"{where}: opperf.notes")
    slices = _slices(section.get("slices", {}), epoch, where)
    rows = read_as(tuple[tuple[int, int, int], ...], section.get("stretches", []), f"{where}: opperf.stretches")
    stretches = tuple(Stretch(epoch + begin, epoch + end, process) for process, begin, end in rows)
    blocks = _read_blocks(section.get("blocks", []), epoch, where)
    return Profile(tuple(events), tuple(readings), processes, notes, slices, stretches, blocks)


def _title(profile: Profile, number: int) -> str:
    """Return the name of a process: its framework, its own name, its number."""
    facts = profile.processes.get(number, {})
    return " ".join(str(word) for word in (facts.get("framework"), facts.get("name"), number) if word)


def _metadata(what: str, process: int, number: int, **names: str) -> dict[str, object]:
    return {"ph": "M", "name": what, "pid": process, "tid": number, "args": names}


def _span(event: Event, thread: int, epoch: int, stacks: Frames) -> dict[str, object]:
    details = {field.name: getattr(event, field.name) for field in DETAILS}
    arguments = {field.name: details[field.name] for field in DETAILS if details[field.name] != field.default}
    return {
        "ph": "X",
        "name": event.name,
        "cat": event.kind,
        "ts": _microseconds(event.begin - epoch),
        "dur": _microseconds(event.duration),
        "pid": event.process,
        "tid": thread,
        **({"sf": stacks.number(event.stack)} if event.stack else {}),
        "args": arguments | ({"line": event.stack[0]} if event.stack else {}),
    }


def _arrows(events: Sequence[Event], threads: Sequence[int], epoch: int) -> Iterator[dict[str, object]]:
    """Yield both ends of each arrow: they are for viewers, and not read back, since spans tell their `forward`."""
    for number, (source, target) in enumerate(links(events), 1):
        for phase, place in (("s", source), ("f", target)):
            event = events[place]
            time = _microseconds(event.begin - epoch)
            # An end binds to the span around it, as a start does, and not to the next one that begins.
            end = {"bp": "e"} if phase == "f" else {}
            arrow = {"ph": phase, "name": "backward", "cat": "flow", "id": number, "ts": time}
            yield {**arrow, "pid": event.process, "tid": threads[place], **end}


def _counter(reading: Reading, epoch: int) -> dict[str, object]:
    time = _microseconds(reading.time - epoch)
    return {"ph": "C", "name": reading.device, "ts": time, "pid": reading.process, "args": {"bytes": reading.size}}


def _event(
    entry: Mapping[str, object], threads: Mapping[tuple[object, object], str], epoch: int, stacks: _Read
) -> Event:
    """Return a span; raises `InputError` that names the key."""
    arguments = ARGUMENTS.read(entry["args"], "args")
    details = {name: DETAIL_KINDS[name].read(value, name) for name, value in arguments.items() if name in DETAIL_KINDS}
    if "sf" in entry:
        details["stack"] = stacks.stack(entry["sf"])
    return Event(
        NAME.read(entry["name"], "name"),
        KIND.read(entry["cat"], "cat"),
        epoch + _nanoseconds(entry["ts"], "ts"),
        _nanoseconds(entry["dur"], "dur"),
        NUMBER.read(entry["pid"], "pid"),
        threads[entry["pid"], entry["tid"]],
        **details,
    )


def _reading(entry: Mapping[str, object], epoch: int) -> Reading:
    """Return how much memory was held at a time; raises `InputError` that names the key."""
    size = NUMBER.read(ARGUMENTS.read(entry["args"], "args")["bytes"], "args.bytes")
    device = NAME.read(entry["name"], "name")
    return Reading(epoch + _nanoseconds(entry["ts"], "ts"), NUMBER.read(entry["pid"], "pid"), device, size)


def _microseconds(nanoseconds: int) -> float:
    """Return the double that is no less: viewers cut off parts of nanoseconds, and 1.001 * 1000 is below 1001."""
    value = nanoseconds / 1000
    return value if value * 1000 >= nanoseconds else nextafter(value, inf)


def _nanoseconds(microseconds: object, name: str) -> int:
    if isinstance(microseconds, (int, float)) and 0 <= microseconds <= LONGEST:
        return round(microseconds * 1000)
    raise wrong(microseconds, name, "microseconds, at most those of 30 years")


#: How many trace events are converted to text at once.
TOGETHER = 1000


def save(profile: Profile, path: Path) -> None:
    """Write a profile as Chrome trace events, whole or not at all; raises `InputError` when it cannot be written.

    Perfetto shows the escapes of JSON as they are written, so names have none. Only half characters do, as a command
    may have that is no UTF-8.
    """
    write_parts(path, (part.encode("utf-8", "backslashreplace") for part in text(profile)))


def text(profile: Profile) -> Iterator[str]:
    """Yield the text of the document bit by bit: as a whole it takes several times what the profile does."""
    stacks = Frames()
    items = entries(profile, stacks)
    yield '{"displayTimeUnit": "ns", "traceEvents": ['
    separator = ""
    while some := list(islice(items, TOGETHER)):
        yield separator + json.dumps(some, ensure_ascii=False)[1:-1]
        separator = ", "
    yield "], " + json.dumps(rest(profile, stacks), ensure_ascii=False)[1:] + "\n"
