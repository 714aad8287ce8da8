"""What a framework's profiler saw of one process: spans with their beginnings and lengths, and memory over time.

Times are whole nanoseconds of the machine's clock (since 1970), so that profiles of several processes are aligned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

#: What a span can be: an operator; a kernel on a device; a module or layer; a step of the program; a call of the
#: framework's interface; work of the framework's own.
KINDS = ("operator", "kernel", "module", "step", "api", "task")


@dataclass(frozen=True)
class Event:
    """One span.

    `thread` is unique within its process. What the profiler does not tell is None, or empty: `shapes` of the inputs
    (`((64, 1, 28, 28), (20, 1, 5, 5))`, an empty one for what is no tensor), the `module` that called it
    (`LeNet.conv1`), the `stack` of Python lines (innermost first), bytes `allocated` within it and the most that were
    held at once (`peak`), floating-point operations (`flops`), nanoseconds on a `device`. `fused` says that the
    framework merged several operators in it. Of one that ran backward, `forward` is when the call began that it
    computes the gradient of.
    """

    name: str
    kind: str
    begin: int
    duration: int
    process: int
    thread: str
    shapes: tuple[tuple[int, ...], ...] = ()
    module: str = ""
    stack: tuple[str, ...] = ()
    backward: bool = False
    fused: bool = False
    allocated: int | None = None
    peak: int | None = None
    flops: int | None = None
    device: int | None = None
    forward: int | None = None

    @property
    def end(self) -> int:
        """When it was over."""
        return self.begin + self.duration


@dataclass(frozen=True)
class Reading:
    """How many bytes were held on a device (`cpu/0`) at a time."""

    time: int
    process: int
    device: str
    size: int


@dataclass(frozen=True)
class Slice:
    """What the threads of a process did in a stretch of time: nanoseconds that they ran, and waited for a processor.

    Slices of a process may overlap: that a thread waited is known when it runs again.
    """

    begin: int
    end: int
    process: int
    ran: int
    waited: int


@dataclass(frozen=True)
class Profile:
    """What was seen of one or several processes.

    `processes` says of each, by its number: `framework`, `version`, `command`, and what else is known. `notes` are
    for people: what is missing, and why.
    """

    events: tuple[Event, ...] = ()
    readings: tuple[Reading, ...] = ()
    processes: Mapping[int, Mapping[str, object]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    slices: tuple[Slice, ...] = ()

    def of_kind(self, *kinds: str) -> tuple[Event, ...]:
        """Return the spans of some kinds, in order."""
        return tuple(event for event in self.events if event.kind in kinds)


def merge(profiles: Iterable[Profile]) -> Profile:
    """Return one profile of all, in the order of time; their clock is the machine's, so that nothing is shifted."""
    profiles = list(profiles)
    processes: dict[int, Mapping[str, object]] = {}
    for one in profiles:
        for number, facts in one.processes.items():
            processes[number] = _join(processes.get(number, {}), facts)
    return Profile(
        tuple(sorted((event for one in profiles for event in one.events), key=lambda event: event.begin)),
        tuple(sorted((reading for one in profiles for reading in one.readings), key=lambda reading: reading.time)),
        processes,
        tuple(dict.fromkeys(note for one in profiles for note in one.notes)),
        tuple(sorted((piece for one in profiles for piece in one.slices), key=lambda piece: piece.begin)),
    )


def _join(earlier: Mapping[str, object], facts: Mapping[str, object]) -> dict[str, object]:
    """Return what two profiles say of one process: a script may use two frameworks."""
    result = {**earlier, **facts}
    for name in earlier.keys() & facts.keys():
        value = earlier[name]
        if value != facts[name] and isinstance(value, str):
            result[name] = ", ".join(dict.fromkeys([*value.split(", "), *str(facts[name]).split(", ")]))
    return result


def links(events: Sequence[Event]) -> list[tuple[int, int]]:
    """Return the places of both ends of each link, forward first; a graph that is kept has several backwards.

    >>> spans = [Event("mul", "operator", 0, 1, 1, "main"),
    ...          Event("MulBackward0", "operator", 5, 1, 1, "engine", backward=True, forward=0)]
    >>> links(spans)
    [(0, 1)]
    """
    targets = {(one.process, one.forward) for one in events if one.forward is not None}
    # Of operators that begin together, the last is the innermost, which made the node.
    sources = {
        (one.process, one.begin): place
        for place, one in enumerate(events)
        if one.kind == "operator" and (one.process, one.begin) in targets
    }
    return [
        (sources[one.process, one.forward], place)
        for place, one in enumerate(events)
        if one.forward is not None and (one.process, one.forward) in sources
    ]
