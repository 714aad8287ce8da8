"""The calls of an execution trace in a Kineto trace of the same run: how long each took.

Both number their calls, and versions of PyTorch differ in how. A call's `Record function id` is the `rf_id` of its
node from PyTorch 2.4 on; in some earlier versions its `External id` is. Where neither is, calls are joined by their
order: each thread of the execution trace is looked for among the threads of the Kineto trace, call by call, by name.
Whichever it is, names must agree, or the two are of different runs. Two processes of one program run the same calls, so
the process and the rank must be the same, where they are known.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from opperf.parent.sources.execution_trace.kineto import MICROSECOND, Call, Rank, Recording
from opperf.parent.sources.execution_trace.node import Node, nodes, process

#: The note that PyTorch makes of each communication between processes.
COMMUNICATION = "record_param_comms"
#: The share of names that must agree where two traces are joined. Two files of one run agree in all but the few
#: calls that one of them names otherwise; by chance some 30 % of a training loop's calls do.
AGREEMENT = 0.9
#: How many calls in a row must match to find where a thread begins, and how far apart those runs start.
RUN, STRIDE = 6, 16
#: A place is tried if this share of the runs votes for it.
VOTES = 0.5


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


def join(recording: Recording, trace: Path) -> Durations:
    """Find the calls of an execution trace in a Kineto trace of the same run.

    Of the ways to join them the first counts by which names agree; where they agree by none, that which joins most.
    Raises `InputError` for a Kineto trace of another process, or of another rank.
    """
    recording = recording.of(process(trace), trace)
    # A trace may have millions of nodes, whose arguments are not needed here.
    marks: list[Mark] = []
    ranks: set[Rank] = set()
    for node in nodes(trace):
        marks.append(Mark(node.id, node.thread, sys.intern(node.name), node.record_function, node.is_operator))
        ranks |= _ranks(node)
    recording.check_rank(ranks, trace)
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


def _ranks(node: Node) -> set[Rank]:
    """Return the rank that a note about communication has: it stands before the name of what is done.

    The size of its group, which stands last, says whether it is the rank in the whole program.
    """
    if node.name != COMMUNICATION:
        return set()
    number: object = None
    for value in node.values:
        if isinstance(value, str):
            size = node.values[-1]
            return {Rank(number, size)} if isinstance(number, int) and isinstance(size, int) else set()
        number = value
    return set()


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
