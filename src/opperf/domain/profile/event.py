"""What a framework's profiler saw of one process: spans with their beginnings and lengths, and memory over time.

Times are whole nanoseconds of the machine's clock (since 1970), so that profiles of several processes are aligned.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from math import inf
from typing import Optional

from opperf.domain.dataclass import dataclass

#: What a span can be: an operator; a kernel on a device; a module or layer; a step of the program; a call of the
#: framework's interface; work of the framework's own.
KINDS = ("operator", "kernel", "module", "step", "api", "task")


#: The name of a task around what a backward runs again.
RECOMPUTATION = "recomputation"


@dataclass(frozen=True)
class Event:
    """One span.

    `thread` is unique within its process. What the profiler does not tell is None, or empty: `shapes` of the inputs
    (`((64, 1, 28, 28), (20, 1, 5, 5))`, an empty one for what is no tensor), the `module` that called it
    (`LeNet.conv1`), the `stack` of Python lines (innermost first), bytes `allocated` within it and the most that were
    held at once (`peak`), floating-point operations (`flops`), nanoseconds on a `device`. `fused` says that the
    framework merged several operators in it. Of one that ran backward, `forward` is when the call began that it
    computes the gradient of. `recomputed` says that it ran a forward for the second time, within a backward.
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
    recomputed: bool = False

    @property
    def end(self) -> int:
        """When it was over."""
        return self.begin + self.duration

    @property
    def phase(self) -> str:
        """What of a training step it is part of, in the words of reports; empty for a forward."""
        return "backward" if self.backward else "recomputed" if self.recomputed else ""


@dataclass(frozen=True)
class Reading:
    """How many bytes were held on a device (`cpu/0`) at a time."""

    time: int
    process: int
    device: str
    size: int


@dataclass(frozen=True)
class Block:
    """Memory that was held when its device held the most, at `time`: `size` bytes, since when and by whom allocated.

    The `operator` is the innermost one that does more than to allocate, in its `module` and phase (empty for a
    forward). `shape` and `dtype` are those of the largest tensor that was seen in it, where shapes were recorded.
    """

    process: int
    device: str
    time: int
    size: int
    begin: int
    operator: str = ""
    module: str = ""
    phase: str = ""
    shape: Optional[tuple[int, ...]] = None
    dtype: str = ""


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
class Stretch:
    """A time in which a process was watched, without a gap."""

    begin: int
    end: int
    process: int


@dataclass(frozen=True)
class Profile:
    """What was seen of one or several processes.

    `processes` says of each, by its number: `framework`, `version`, `command`, and what else is known. `notes` are
    for people: what is missing, and why. `stretches` are the times in which each process was watched; between calls of
    one function, for example, it is not. A process without any was watched from its first span to its last. `blocks`
    are what was alive at the peak of memory, where that was recorded.
    """

    events: tuple[Event, ...] = ()
    readings: tuple[Reading, ...] = ()
    processes: Mapping[int, Mapping[str, object]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    slices: tuple[Slice, ...] = ()
    stretches: tuple[Stretch, ...] = ()
    blocks: tuple[Block, ...] = ()

    def of_kind(self, *kinds: str) -> tuple[Event, ...]:
        """Return the spans of some kinds, in order."""
        return tuple(event for event in self.events if event.kind in kinds)

    def watched(self, begin: int, end: int, process: int | None = None) -> int:
        """Return for how many nanoseconds of a time a process was watched, or any of them.

        >>> Profile(stretches=(Stretch(0, 10, 1), Stretch(90, 100, 1))).watched(5, 100)
        15
        """
        several = {process} if process is not None else {*self.processes, *(one.process for one in self.stretches)}
        stretches = [one for one in self.stretches if one.process in several]
        if several - {one.process for one in stretches} or not stretches:
            return max(0, end - begin)
        return union((max(one.begin, begin), min(one.end, end)) for one in stretches)

    def recomputations(self) -> tuple[Event, ...]:
        """Return the spans in which a backward ran a forward again; Python's part of it is no operator's time."""
        return tuple(event for event in self.events if event.recomputed and event.name == RECOMPUTATION)


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
        tuple(sorted((piece for one in profiles for piece in one.stretches), key=lambda piece: piece.begin)),
        tuple(block for one in profiles for block in one.blocks),
    )


def union(stretches: Iterable[tuple[int, int]]) -> int:
    """Return how long at least one of some stretches lasted.

    >>> union([(0, 4), (2, 6), (8, 9)])
    7
    """
    total, until = 0, -inf
    for begin, end in sorted(stretches):
        if end > max(begin, until):
            total += int(end - max(begin, until))
            until = end
    return total


def highest_peaks(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Return the blocks that each device of each process held at the highest of its peaks."""
    peaks: dict[tuple[int, str], dict[int, list[Block]]] = defaultdict(lambda: defaultdict(list))
    for block in blocks:
        peaks[block.process, block.device][block.time].append(block)
    highest = (max(times.values(), key=lambda several: sum(one.size for one in several)) for times in peaks.values())
    return tuple(block for several in highest for block in several)


def _join(earlier: Mapping[str, object], facts: Mapping[str, object]) -> dict[str, object]:
    """Join two profiles of one process: a script may use two frameworks."""
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


def parents(events: Sequence[Event]) -> list[int | None]:
    """Return for each span the place of the innermost one of its thread that it lies within; None at the top.

    >>> spans = [Event("a", "operator", 0, 10, 1, "main"), Event("b", "operator", 2, 3, 1, "main")]
    >>> parents(spans)
    [None, 0]
    """
    result: list[int | None] = [None] * len(events)
    for places in _threads(events):
        open_spans: list[int] = []
        for place in places:
            while open_spans and events[open_spans[-1]].end < events[place].end:
                open_spans.pop()
            while open_spans and events[open_spans[-1]].end <= events[place].begin:
                open_spans.pop()
            result[place] = open_spans[-1] if open_spans else None
            open_spans.append(place)
    return result


def own_times(events: Sequence[Event], apart: Sequence[Event] = ()) -> list[int]:
    """Return for each span its nanoseconds without those of the spans right within it, nor of those that stand `apart`.

    >>> own_times([Event("a", "operator", 0, 10, 1, "main"), Event("b", "operator", 2, 3, 1, "main")])
    [7, 3]
    """
    spans = [*events, *apart]
    times = [event.duration for event in spans]
    for place, parent in enumerate(parents(spans)):
        if parent is not None:
            times[parent] -= spans[place].duration
    return [max(0, time) for time in times[: len(events)]]


def lanes(events: Sequence[Event]) -> list[tuple[int, int]]:
    """Return for each span its lane of its thread, and how many spans of that lane are around it.

    Spans of one lane lie within each other or apart. A thread has one lane, 0, unless some of its spans partly overlap.

    >>> lanes([Event(name, "task", begin, 10 - begin, 1, "main") for name, begin in (("a", 0), ("b", 2))])
    [(0, 0), (0, 1)]
    >>> lanes([Event(name, "task", begin, 10, 1, "main") for name, begin in (("a", 0), ("b", 2))])
    [(0, 0), (1, 0)]
    """
    result = [(0, 0)] * len(events)
    for places in _threads(events):
        open_ends: list[list[int]] = []  # of the spans that are open in each lane, the innermost last
        for place in places:
            begin, end = events[place].begin, events[place].end
            for ends in open_ends:
                while ends and ends[-1] <= begin:
                    ends.pop()
            lane = next((lane for lane, ends in enumerate(open_ends) if not ends or end <= ends[-1]), len(open_ends))
            if lane == len(open_ends):
                open_ends.append([])
            result[place] = lane, len(open_ends[lane])
            open_ends[lane].append(end)
    return result


def track(thread: str, lane: int) -> str:
    """Return the name of a lane of a thread.

    >>> track("main", 0), track("main", 1)
    ('main', 'main (2)')
    """
    return thread if lane == 0 else f"{thread} ({lane + 1})"


def in_time(event: Event) -> tuple[int, int]:
    """Return the sort key of spans, by which each follows those that enclose it."""
    # Of two that begin together the longer one is outside.
    return event.begin, -event.duration


def _threads(events: Sequence[Event]) -> Iterator[list[int]]:
    """Yield the places of each thread's spans, in time."""
    threads: dict[tuple[int, str], list[int]] = defaultdict(list)
    for place, event in enumerate(events):
        threads[event.process, event.thread].append(place)
    for places in threads.values():
        yield sorted(places, key=lambda place: in_time(events[place]))
