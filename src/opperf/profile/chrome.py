"""A profile as Chrome trace events, which Perfetto and chrome://tracing show, and back.

The format is Google's "Trace Event Format": complete events (`X`) with times in microseconds, counters (`C`), and names
of processes and threads (`M`). A double cannot hold nanoseconds since 1970, so times count from the first span, and
`opperf.epoch` says when that was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from opperf.errors import InputError
from opperf.profile.event import KINDS, Event, Profile, Reading

SCHEMA_VERSION = 1
#: What a span says besides its name, kind, time and place.
DETAILS = tuple(
    field for field in fields(Event) if field.name not in ("name", "kind", "begin", "duration", "process", "thread")
)


def to_trace(profile: Profile) -> dict[str, Any]:
    """Return the document."""
    times = [event.begin for event in profile.events] + [reading.time for reading in profile.readings]
    epoch = min(times, default=0)
    threads: dict[tuple[int, str], int] = {}
    for event in profile.events:
        threads.setdefault((event.process, event.thread), len(threads) + 1)
    numbers = sorted({*profile.processes, *(process for process, _ in threads)})
    return {
        "displayTimeUnit": "ns",
        "traceEvents": [
            *(_named("process_name", number, 0, _title(profile, number)) for number in numbers),
            *(_named("thread_name", process, number, thread) for (process, thread), number in threads.items()),
            *(_span(event, threads[event.process, event.thread], epoch) for event in profile.events),
            *(_counter(reading, epoch) for reading in profile.readings),
        ],
        "opperf": {
            "schema_version": SCHEMA_VERSION,
            "epoch": epoch,
            "processes": {str(number): dict(facts) for number, facts in profile.processes.items()},
            "notes": list(profile.notes),
        },
    }


def from_trace(document: Any, where: str) -> Profile:
    """Read a document that `to_trace` made; raises `InputError` that names the place."""
    own = document.get("opperf") if isinstance(document, dict) else None
    if not isinstance(own, dict) or own.get("schema_version") != SCHEMA_VERSION:
        raise InputError(f"{where}: not a profile of opperf", hint="write one with `opperf profile SCRIPT.py`")
    try:
        entries = document["traceEvents"]
        threads = {
            (entry["pid"], entry["tid"]): entry["args"]["name"]
            for entry in entries
            if entry["ph"] == "M" and entry["name"] == "thread_name"
        }
        return Profile(
            tuple(_event(entry, threads, own["epoch"]) for entry in entries if entry["ph"] == "X"),
            tuple(
                Reading(own["epoch"] + _nanoseconds(entry["ts"]), entry["pid"], entry["name"], entry["args"]["bytes"])
                for entry in entries
                if entry["ph"] == "C"
            ),
            {int(number): facts for number, facts in own["processes"].items()},
            tuple(own["notes"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise InputError(f"{where}: a damaged profile ({type(problem).__name__}: {problem})") from problem


def _title(profile: Profile, number: int) -> str:
    framework = profile.processes.get(number, {}).get("framework", "")
    return f"{framework} {number}".strip()


def _named(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}}


def _span(event: Event, thread: int, epoch: int) -> dict[str, Any]:
    details = {field.name: getattr(event, field.name) for field in DETAILS}
    return {
        "ph": "X",
        "name": event.name,
        "cat": event.kind,
        "ts": (event.begin - epoch) / 1000,
        "dur": event.duration / 1000,
        "pid": event.process,
        "tid": thread,
        "args": {field.name: details[field.name] for field in DETAILS if details[field.name] != field.default},
    }


def _counter(reading: Reading, epoch: int) -> dict[str, Any]:
    time = (reading.time - epoch) / 1000
    return {"ph": "C", "name": reading.device, "ts": time, "pid": reading.process, "args": {"bytes": reading.held}}


def _event(entry: Mapping[str, Any], threads: Mapping[tuple[int, int], str], epoch: int) -> Event:
    if entry["cat"] not in KINDS:
        raise ValueError(f"no kind `{entry['cat']}`")
    details = dict(entry["args"])
    if "shapes" in details:
        details["shapes"] = tuple(tuple(shape) for shape in details["shapes"])
    if "stack" in details:
        details["stack"] = tuple(details["stack"])
    return Event(
        entry["name"],
        entry["cat"],
        epoch + _nanoseconds(entry["ts"]),
        _nanoseconds(entry["dur"]),
        entry["pid"],
        threads[entry["pid"], entry["tid"]],
        **details,
    )


def _nanoseconds(microseconds: float) -> int:
    return round(microseconds * 1000)
