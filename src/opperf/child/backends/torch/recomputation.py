"""What a backward computes a second time: gradient checkpointing frees results of a forward, and runs it again.

A node of a backward calls no module for itself. So a module within one is called again, and so is everything that
the node ran before its last module ended: the node needs the results before it can begin.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from opperf.domain.dataclass import dataclass
from opperf.domain.profile.event import RECOMPUTATION, Event


@dataclass
class Again:
    """What one node of a backward runs again: until when, and the module around the modules that it calls."""

    until: int
    module: str


def recomputations(
    events: Sequence[Event], above: Sequence[int | None], is_node: Sequence[bool]
) -> tuple[list[Again | None], list[Event]]:
    """Return for each span what it is a part of, None for one that runs for the first time, and spans around them.

    `above` has the place of the span around each, which comes before it; `is_node` says which are nodes of a backward.
    """
    nodes: list[int | None] = []
    by_node: dict[int, Again] = {}
    called = {event.name for event in events if event.kind == "module"}
    for place, (event, outer) in enumerate(zip(events, above)):
        node = place if is_node[place] else None if outer is None else nodes[outer]
        nodes.append(node)
        if node is not None and event.kind == "module":
            again = by_node.setdefault(node, Again(0, _caller(event.name, called)))
            again.until = max(again.until, event.end)
    result: list[Again | None] = []
    for place, (event, node) in enumerate(zip(events, nodes)):
        again_of_node = None if node is None or node == place else by_node.get(node)
        result.append(again_of_node if again_of_node is not None and event.begin < again_of_node.until else None)
    return result, [_span(events[node], again) for node, again in by_node.items()]


def _caller(module: str, called: Set[str]) -> str:
    """Return the module that calls a module: a list between them is never called, and is none."""
    parent = outer = module.rpartition(".")[0]
    while outer and outer not in called:
        outer = outer.rpartition(".")[0]
    return outer or parent


def _span(node: Event, again: Again) -> Event:
    """Return the span in which a node ran something again, Python between the operators included."""
    return Event(
        RECOMPUTATION, "task", node.begin, again.until - node.begin, node.process, node.thread,
        module=again.module, recomputed=True,
    )  # fmt: skip
