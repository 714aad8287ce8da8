"""A Kineto trace alone as the nodes of an execution trace, as far as it tells: many more of them are public.

Who called whom is told by times: on one thread, a call that lies within another one was made by it. The overloads and
the names of arguments are found by the schemas of the PyTorch that runs the operators again.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from opperf.domain.errors import InputError
from opperf.domain.files.json_text import JsonObject
from opperf.parent.sources.execution_trace.argument import DTYPES
from opperf.parent.sources.execution_trace.durations import Durations
from opperf.parent.sources.execution_trace.kineto import MICROSECOND, Call, Recording, Thread
from opperf.parent.sources.execution_trace.node import Node
from opperf.parent.sources.execution_trace.overload import (
    Recorded,
    TypesBySize,
    choose_overload,
    describe_arguments,
    read_arguments,
)

#: Returns the schemas of operators by their names, or a reason where there is none.
Schemas = Callable[[Collection[str]], Mapping[str, "Sequence[str] | str"]]
#: What operators are called; functions of autograd and regions of compiled code have other names.
_OPERATOR = re.compile(r"(?!profiler::)[A-Za-z_]\w*::[A-Za-z_]\w*")
#: Older traces count whole microseconds, so that a call may seem to end so much after the one that made it.
ROUNDING = 1.0
#: A child needs some 40 ms to say that an operator is not there; programs call a few hundred.
MOST_OPERATORS = 2000
#: The node above all others; calls are numbered from the next one in the order in which they began.
ROOT = 1


def nodes_of(recording: Recording, schemas: Schemas) -> tuple[list[Node], Durations]:
    """Return the nodes of a Kineto trace that was read with its details, and how long each took.

    Raises `InputError` for one that was recorded without shapes.
    """
    arguments = [read_arguments(details) for details in recording.details]
    if not any(arguments):
        raise InputError(
            f"{recording.path}: no shapes of inputs are in this Kineto trace",
            hint="record it with `record_shapes=True`, or name the execution trace and give this one as `--kineto`",
            slug="bad_trace",
        )
    names = sorted({call.name for call in recording.calls if _OPERATOR.fullmatch(call.name)})
    if len(names) > MOST_OPERATORS:
        message = f"{recording.path}: calls {len(names):,} different operators, expected {MOST_OPERATORS:,} at most"
        raise InputError(message, slug="bad_trace")
    overloads = schemas(names)
    types = _types_by_size(arguments)
    nodes = [Node(ROOT, ROOT, "[pytorch|profiler|kineto]", "", (), (), (), ())]
    places: dict[int, int] = {}
    for number, parent, call, place in _tree(recording):
        if place is None:
            nodes.append(Node(number, parent, call.name, "", (), (), (), ()))
        else:
            nodes.append(_node(number, parent, call.name, arguments[place], recording.details[place], overloads, types))
            places[number] = place
    return nodes, _durations(recording, places)


def _tree(recording: Recording) -> Iterator[tuple[int, int, Call, int | None]]:
    """Yield the number of each call and label, that of what it lies within, and its place among the calls."""
    spans = [*((call, place) for place, call in enumerate(recording.calls)), *((one, None) for one in recording.labels)]
    spans.sort(key=lambda span: (span[0].start, -span[0].seconds, span[1] is not None, span[0].external))
    open_spans: dict[Thread, list[tuple[float, int]]] = defaultdict(list)
    for number, (call, place) in enumerate(spans, ROOT + 1):
        around, end = open_spans[call.thread], call.start + call.seconds / MICROSECOND
        while around and not _lies_within(call, end, around[-1][0]):
            around.pop()
        yield number, around[-1][1] if around else ROOT, call, place
        around.append((end, number))


def _lies_within(call: Call, end: float, around: float) -> bool:
    """Whether a call lies within one that began before it and ends at `around`, by the microseconds of the trace."""
    begins = call.start < around or (call.start == around and not call.seconds)
    return begins and end <= around + ROUNDING


def _node(
    number: int,
    parent: int,
    name: str,
    arguments: Sequence[Recorded] | None,
    details: JsonObject,
    schemas: Mapping[str, Sequence[str] | str],
    types: TypesBySize,
) -> Node:
    kernel = str(details.get("kernel_backend") or "")
    if kernel or name not in schemas:
        file = str(details.get("kernel_file") or "")
        return Node(number, parent, name, "", (), (), (), (), kernel_backend=kernel, kernel_file=file)
    signatures = schemas[name]
    if isinstance(signatures, str):
        return _left_out(number, parent, name, signatures)
    if arguments is None:
        return _left_out(number, parent, name, "its inputs were not recorded")
    fit = choose_overload(signatures, arguments)
    if fit is None:
        return _left_out(number, parent, name, "no overload of it takes what was recorded")
    schema, one = fit
    try:
        words, assumed = describe_arguments(one, arguments, types)
    except ValueError as error:
        return Node(number, parent, name, schema, (), (), (), (), reason=str(error))
    kinds, values, shapes, strides = ([word[i] for word in words] for i in range(4))
    return Node(number, parent, name, schema, values, shapes, kinds, strides, assumed=assumed)


def _left_out(number: int, parent: int, name: str, reason: str) -> Node:
    return Node(number, parent, name, name, (), (), (), (), reason=reason)


def _types_by_size(arguments: Iterable[Sequence[Recorded] | None]) -> TypesBySize:
    """Return the element types of tensors by their sizes."""
    types: dict[tuple[int, ...], set[str]] = defaultdict(set)
    for one in arguments:
        for argument in one or ():
            if argument.word in DTYPES:
                types[tuple(argument.sizes)].add(argument.word)
    return {sizes: frozenset(words) for sizes, words in types.items()}


def _durations(recording: Recording, places: Mapping[int, int]) -> Durations:
    calls, launched = recording.calls, recording.launched
    return Durations(
        host={number: calls[place].seconds for number, place in places.items()},
        begins={number: calls[place].start * MICROSECOND for number, place in places.items()},
        launched={number: launched[place] for number, place in places.items() if place in launched},
        way="",
    )
