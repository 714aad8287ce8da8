"""What was alive when a device held the most memory: who allocated it, and which tensor it held.

PyTorch's tree of events knows the address of each block, and with shapes the storages of the operators' inputs: so the
shape of a block is that of the largest tensor that an operator read from it while it lived.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any, TypeAlias

from opperf.domain.profile.event import Block, Event

#: Blocks that are named one by one, the largest; the others are summed up.
MOST_BLOCKS = 1000
#: What only allocates for the operator around it.
ALLOCATES = ("aten::empty", "aten::new_empty", "aten::resize_", "aten::set_")
SMALLER = "(smaller blocks)"
#: Finds the innermost span of a thread at a time, and those around it, from the inside.
SpansAt: TypeAlias = Callable[[int, int], Iterable[Event]]


def blocks_at_peak(tree: Sequence[Any], spans_at: SpansAt) -> tuple[Block, ...]:
    """Return the blocks of each device at the time at which it held the most, the largest first.

    Only what was allocated since the start of the tree counts.
    """
    allocations: dict[str, list[Any]] = defaultdict(list)
    tensors: dict[int, list[tuple[int, tuple[int, ...], str]]] = defaultdict(list)
    for node in _nodes(tree):
        fields = node.extra_fields
        if node.tag.name == "Allocation":
            allocations[_device(fields)].append(node)
        else:
            for storage, shape, dtype in _tensors(fields):
                tensors[storage].append((node.start_time_ns, shape, dtype))
    result: list[Block] = []
    for device, changes in allocations.items():
        changes.sort(key=lambda node: node.start_time_ns)
        result += _bounded([_block(node, device, time, end, spans_at, tensors) for node, time, end in _alive(changes)])
    return tuple(result)


def _nodes(tree: Sequence[Any]) -> Iterator[Any]:
    stack = list(tree)
    while stack:
        node = stack.pop()
        yield node
        stack.extend(node.children)


def _device(fields: Any) -> str:
    return f"{fields.device.type}/{max(0, fields.device.index or 0)}"


def _tensors(fields: Any) -> Iterator[tuple[int, tuple[int, ...], str]]:
    """Yield storage, shape and type of each tensor that an operator takes, where that was recorded."""
    for argument in getattr(fields, "inputs", ()) or ():
        for tensor in argument if isinstance(argument, list) else (argument,):
            storage = getattr(tensor, "storage_data_ptr", None)
            if storage:
                yield storage, tuple(tensor.sizes), str(tensor.dtype).removeprefix("torch.")


def _alive(changes: Sequence[Any]) -> list[tuple[Any, int, float]]:
    """Return the allocations that were alive at the peak, each with the time of the peak, and when it was freed."""
    live: dict[int, Any] = {}
    ends: dict[int, int] = {}
    total = peak = time = 0
    alive: list[Any] = []
    for node in changes:
        size, address = node.extra_fields.alloc_size, node.extra_fields.ptr
        if size > 0:
            live[address] = node
            total += size
        elif address in live:  # what was allocated before is not known, and its end changes nothing
            freed = live.pop(address)
            ends[id(freed)] = node.start_time_ns
            total -= freed.extra_fields.alloc_size
        if total > peak:
            peak, time, alive = total, node.start_time_ns, list(live.values())
    return [(node, time, ends.get(id(node), inf)) for node in alive]


def _block(
    node: Any,
    device: str,
    time: int,
    end: float,
    spans_at: SpansAt,
    tensors: Mapping[int, Sequence[tuple[int, tuple[int, ...], str]]],
) -> Block:
    fields, begin = node.extra_fields, node.start_time_ns
    around = list(spans_at(node.start_tid, begin))
    operators = [one for one in around if one.kind == "operator"]
    maker = next((one for one in operators if not one.name.startswith(ALLOCATES)), next(iter(operators), None))
    module = next((one.module for one in around if one.module), "")
    seen_tensors = [(shape, dtype) for at, shape, dtype in tensors.get(fields.ptr, ()) if begin <= at <= end]
    shape, dtype = max(seen_tensors, key=lambda one: _elements(one[0]), default=(None, ""))
    block = Block(os.getpid(), device, time, fields.alloc_size, begin, module=module, shape=shape, dtype=dtype)
    return block if maker is None else replace(block, operator=maker.name, phase=maker.phase)


def _elements(shape: Sequence[int]) -> int:
    count = 1
    for length in shape:
        count *= length
    return count


def _bounded(blocks: Sequence[Block]) -> list[Block]:
    ordered = sorted(blocks, key=lambda block: -block.size)
    rest = ordered[MOST_BLOCKS:]
    if not rest:
        return ordered
    first = rest[0]
    others = Block(first.process, first.device, first.time, sum(one.size for one in rest), first.begin, SMALLER)
    return [*ordered[:MOST_BLOCKS], others]


class SpanIndex:
    """Finds what ran in a thread at a time."""

    def __init__(self, threads: Sequence[int], events: Sequence[Event], above: Sequence[int | None]) -> None:
        self._events, self._above = events, above
        self._begins: dict[int, tuple[list[int], list[int]]] = {}
        for place, thread in enumerate(threads):
            times, places = self._begins.setdefault(thread, ([], []))
            times.append(events[place].begin)
            places.append(place)

    def at(self, thread: int, time: int) -> Iterator[Event]:
        """Yield the spans that were open in a thread, from the inside; spans are in order of time in each thread."""
        times, places = self._begins.get(thread, ([], []))
        last = bisect_right(times, time) - 1
        place = places[last] if last >= 0 else None
        while place is not None:
            if self._events[place].end >= time:
                yield self._events[place]
            place = self._above[place]
