"""What a window of PyTorch's profiler saw, as events.

* Operators are nested as they were called; one that does nothing but call itself once more is one operator, as in
  PyTorch's own table.
* An operator of a backward belongs to the module whose operator made its node of the graph: autograd numbers the nodes
  of a thread, and the profiler tells the number of forward and backward.
* An operator that a backward runs again belongs to the module that is called again (`recomputation`).
* Memory and device time of a call are those within it, the calls inside of it included.
* Ranges that somebody names (`record_function`, an optimizer's step), the engine's own work and the phases of the
  compiler are tasks.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from operator import itemgetter, methodcaller
from typing import Any

import torch
from torch.autograd import DeviceType

from opperf.child.backends.common.python_stacks import Stacks
from opperf.child.backends.torch.modules import RANGE
from opperf.child.backends.torch.peak_memory import SpanIndex, blocks_at_peak
from opperf.child.backends.torch.recomputation import Again, recomputations
from opperf.domain.profile.event import Block, Event, Profile, Reading, parents
from opperf.domain.profile.watching import Watching

#: Events on the CPU that are the profiler's, the allocator's or CUDA's interface, and no operators.
NO_OPERATORS = ("[", "ProfilerStep", "cuda", "cuLaunch", "Activity Buffer", "Command Buffer", "Runtime Triggered")
#: What the profiler's own table leaves out as well: they compute nothing.
NOTHING = ("[", "profiler::", "aten::is_leaf", "aten::output_nr", "aten::_version")
MEMORY = "[memory]"
#: The engine's own spans, in which it calls a node of the graph and adds up gradients.
ENGINE = "autograd::engine::evaluate_function: "
#: A compiled graph bears a hash of everything that it was made from, which says nothing of what it is.
COMPILED = re.compile(r"^## Call CompiledFxGraph \w+ ##$")
#: Several operators in one: a compiled graph on a CPU, which does not tell its loops apart, or one compiled kernel.
FUSED = re.compile(r"^CompiledFxGraph$|^triton_|cpp_fused_")
#: What the profiler calls frames of Python, functions in C, and modules.
PYTHON_CALL = re.compile(r"^(.*\(\d+\): |<(built-in |method|slot |class ).*>$|nn\.Module: )")
#: Of what kind a span is to PyTorch (ATen/record_function.h): a node of a backward, a range that somebody named.
BACKWARD, USER = 1, 7


def plain(name: str) -> str:
    """Return a name without what differs from one compilation to the next.

    >>> plain("## Call CompiledFxGraph fxyz12 ##")
    'CompiledFxGraph'
    """
    return COMPILED.sub("CompiledFxGraph", name)


def profile_of(
    results: Any,
    watching: Watching,
    thread: Callable[[int], str],
    stacks: Stacks | None = None,
    gaps: Sequence[tuple[int, int]] = (),
) -> Profile:
    """Return the profile in the profiler's results; `thread` names a thread by the system's number.

    What began in one of the `gaps`, which are in order, is left out.
    """
    spans, kernels, changes = _sort(one for one in results.events() if not _is_within(one.start_ns(), gaps))
    events = [_event(one, watching, thread, stacks) for one in spans]
    above = parents(events)
    is_node = [one.scope() == BACKWARD or event.name.startswith(ENGINE) for one, event in zip(spans, events)]
    again, around = recomputations(events, above, is_node)
    backward = _inherit(above, [True if node else None if one is None else False for node, one in zip(is_node, again)])
    modules = _modules(events, above, again)
    nodes = _makers(spans, events, above, backward)
    # What runs again was called here, and not by the operator whose gradient is computed.
    makers = _inherit(above, [place if one is not None else nodes[place] for place, one in enumerate(again)])
    launchers = _launch(spans, kernels)
    device = _on_device(above, launchers, kernels)
    memory = _memory(spans, events, above, changes, watching)
    notes = []
    for place, (event, node, maker) in enumerate(zip(events, nodes, makers)):
        source = place if maker is None else maker
        notes.append(
            replace(
                event,
                module=modules[source] or "",
                stack=events[source].stack,
                backward=bool(backward[place]),
                recomputed=again[place] is not None,
                allocated=memory[place][0],
                peak=memory[place][1],
                device=device.get(place),
                # The engine's span around a node stands for the same.
                forward=events[node].begin if node is not None and event.kind == "operator" else None,
            )
        )
    on_device = [_kernel(one, None if place is None else notes[place]) for one, place in zip(kernels, launchers)]
    readings = _readings(changes, results.trace_start_ns()) if watching.memory else []
    blocks: tuple[Block, ...] = ()
    if watching.memory:
        index = SpanIndex([one.start_thread_id() for one in spans], notes, above)
        blocks = blocks_at_peak(results.experimental_event_tree(), index.at)
    return Profile((*_show(notes, above, watching), *around, *on_device), tuple(readings), blocks=blocks)


def _sort(raw_spans: Iterable[Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the spans on the CPU, those around others first; what ran on devices; and changes of memory."""
    spans, kernels, changes = [], [], []
    for span in raw_spans:
        if is_of_python(span, by_name=not hasattr(span, "is_python_function")):
            continue
        name = span.name()
        if name == MEMORY:
            changes.append(span)
        elif name.startswith(NOTHING) or _hidden(span):
            continue
        elif span.device_type() != DeviceType.CPU:
            if not span.is_user_annotation():
                kernels.append(span)
        elif not span.is_async() and span.start_thread_id() == span.end_thread_id():
            spans.append(span)
    spans.sort(key=lambda one: (one.device_resource_id(), one.start_ns(), -one.duration_ns()))
    return spans, kernels, sorted(changes, key=methodcaller("start_ns"))


def _is_within(time: int, gaps: Sequence[tuple[int, int]]) -> bool:
    place = bisect_right(gaps, time, key=itemgetter(0)) - 1
    return place >= 0 and time < gaps[place][1]


def is_of_python(span: Any, *, by_name: bool) -> bool:
    """Whether a span is a call of Python; PyTorch up to 2.11 shows that only `by_name`."""
    if not by_name:
        return bool(span.is_python_function())
    try:
        return not span.is_user_annotation() and PYTHON_CALL.match(span.name()) is not None
    except UnicodeDecodeError:  # PyTorch's copy of a Python name may be no text any more
        return True


def _hidden(one: Any) -> bool:
    """Whether the profiler's own table leaves a span out; older versions of PyTorch hide none."""
    return hasattr(one, "is_hidden_event") and bool(one.is_hidden_event())


def _event(span: Any, watching: Watching, thread: Callable[[int], str], stacks: Stacks | None) -> Event:
    """Return a single span, without what encloses it."""
    name = plain(span.name())
    return Event(
        name.removeprefix(RANGE),
        _kind(span, name),
        span.start_ns(),
        max(0, span.duration_ns()),
        os.getpid(),
        thread(span.device_resource_id()),
        shapes=_shapes(span) if watching.shapes else (),
        stack=() if stacks is None else stacks.at(span.device_resource_id(), span.start_ns()),
        fused=bool(FUSED.search(name)),
        flops=span.flops() or None,
    )


def _kind(span: Any, name: str) -> str:
    if name.startswith(RANGE):
        return "module"
    if FUSED.search(name):
        return "operator"
    if span.scope() == USER or name.startswith(ENGINE):
        return "task"
    if name.startswith(NO_OPERATORS):
        return "api"
    # Otherwise it is a mark of the compiler, or of C++ code.
    is_operator = "::" in name or span.scope() == BACKWARD or span.sequence_nr() >= 0 or _is_bare(name)
    return "operator" if is_operator else "task"


@cache
def _is_bare(name: str) -> bool:
    """Whether a name is an operator's without its namespace, as some call themselves."""
    return hasattr(torch.ops.aten, name)


def _shapes(span: Any) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of the inputs, those of a list of tensors one by one, where PyTorch tells them."""
    result: list[tuple[int, ...]] = []
    for shape in getattr(span, "structured_input_shapes", span.shapes)():
        several = bool(shape) and not isinstance(shape[0], int)
        result += [tuple(inner) for inner in shape] if several else [tuple(shape)]
    return tuple(result)


def _inherit(above: Sequence[int | None], values: Sequence[Any]) -> list[Any]:
    """Return for each span its own value, or where that is None the value of the span around it."""
    result: list[Any] = []
    for outer, value in zip(above, values):
        result.append(result[outer] if value is None and outer is not None else value)
    return result


def _modules(events: Sequence[Event], above: Sequence[int | None], again: Sequence[Again | None]) -> list[str | None]:
    """Return the module around each span; what a node runs again outside of modules is of the one around them."""
    result: list[str | None] = []
    for event, outer, one in zip(events, above, again):
        is_first = one is not None and (outer is None or again[outer] is not one)
        own = event.name if event.kind == "module" else one.module if one is not None and is_first else None
        result.append(result[outer] if own is None and outer is not None else own)
    return result


def _makers(
    spans: Sequence[Any], events: Sequence[Event], above: Sequence[int | None], backward: Sequence[bool | None]
) -> list[int | None]:
    """Return for each node of a backward, and the engine's span around it, the place of the operator that made it.

    An operator that makes no node bears the number of the next one that does, so the last one of a number made it.
    """
    nodes = {
        (one.start_thread_id(), one.sequence_nr()): place
        for place, one in enumerate(spans)
        if not backward[place] and one.sequence_nr() >= 0
    }
    makers: list[int | None] = [None] * len(spans)
    for place, one in enumerate(spans):
        if one.scope() == BACKWARD:
            makers[place] = nodes.get((one.fwd_thread_id(), one.sequence_nr()))
            outer = above[place]
            if outer is not None and events[outer].name.startswith(ENGINE):
                makers[outer] = makers[place]
    return makers


def _launch(spans: Sequence[Any], kernels: Sequence[Any]) -> list[int | None]:
    """Return for each kernel the place of the operator that launched it."""
    numbers = {one.correlation_id(): place for place, one in enumerate(spans) if one.linked_correlation_id() == 0}
    return [numbers.get(kernel.linked_correlation_id()) for kernel in kernels]


def _on_device(above: Sequence[int | None], launchers: Sequence[int | None], kernels: Sequence[Any]) -> dict[int, int]:
    """Return the nanoseconds on a device by the place of each span that launched something, itself or within."""
    totals: Counter[int] = Counter()
    for kernel, place in zip(kernels, launchers):
        while place is not None:
            totals[place] += kernel.duration_ns()
            place = above[place]
    return dict(totals)


def _kernel(span: Any, caller: Event | None) -> Event:
    device = span.device_type().name.lower()
    return Event(
        span.name(),
        "kernel",
        span.start_ns(),
        span.duration_ns(),
        os.getpid(),
        f"{device}:{span.device_index()} stream {span.device_resource_id()}",
        module="" if caller is None else caller.module,
        backward=caller is not None and caller.backward,
        recomputed=caller is not None and caller.recomputed,
        fused=bool(FUSED.search(span.name())),
        device=span.duration_ns(),
    )


def _memory(
    spans: Sequence[Any],
    events: Sequence[Event],
    above: Sequence[int | None],
    changes: Sequence[Any],
    watching: Watching,
) -> Sequence[tuple[int | None, int | None]]:
    """Return for each span the bytes that were allocated within it, and the most above its start that were held."""
    if not watching.memory:
        return [(None, None)] * len(events)
    begins: dict[int, tuple[list[int], list[int]]] = {}
    for place, one in enumerate(spans):
        times, places = begins.setdefault(one.device_resource_id(), ([], []))
        times.append(events[place].begin)
        places.append(place)
    allocated, live, most = [0] * len(spans), [0] * len(spans), [0] * len(spans)
    for change in changes:
        times, places = begins.get(change.device_resource_id(), ([], []))
        last = bisect_right(times, change.start_ns()) - 1
        # All that are open lie around the last one that began, or are that one.
        around = places[last] if last >= 0 else None
        while around is not None:
            if events[around].end >= change.start_ns():
                allocated[around] += max(0, change.nbytes())
                live[around] += change.nbytes()
                most[around] = max(most[around], live[around])
            around = above[around]
    return list(zip(allocated, most))


def _readings(changes: Sequence[Any], start: int) -> list[Reading]:
    """Return the bytes held on each device of those allocated since the start; each may be let go once only."""
    totals: dict[str, int] = {}
    result: list[Reading] = []
    for change in changes:
        device = f"{change.device_type().name.lower()}/{max(0, change.device_index())}"
        if device not in totals:
            result.append(Reading(start, os.getpid(), device, 0))
        totals[device] = max(0, totals.get(device, 0) + change.nbytes())
        result.append(Reading(change.start_ns(), os.getpid(), device, totals[device]))
    return result


def _show(events: Sequence[Event], above: Sequence[int | None], watching: Watching) -> list[Event]:
    """Return the spans without those that stand for the one around them, and without what was not asked for."""
    within = Counter(above)
    return [
        event
        for event, outer in zip(events, above)
        if not (outer is not None and within[outer] == 1 and events[outer].name == event.name)
        and (event.kind != "api" or watching.api)
    ]
