"""Graphs among the attributes of a node: the branches of an `If`, the body of a `Loop` or a `Scan`.

What is computed inside may use values from around the node, by their names. A case has no names of values, so there
they are called by their places in a list, which is an input of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def outer(node: Any) -> list[str]:
    """Return the names of values from around a node that its graphs use, each once."""
    return list(dict.fromkeys(_used_inside(node)))


def outer_name(place: int) -> str:
    """Return the name in the graphs of a case of a value from around a node."""
    return f"outer:{place}"


def domains(node: Any) -> set[str]:
    """Return the domains of the operators in the graphs of a node, as files write them."""
    inside = [inner for graph in _graphs(node) for inner in graph.node]
    return {inner.domain for inner in inside}.union(*map(domains, inside))


def rename(node: Any, names: Mapping[str, str]) -> None:
    """Call values from around a node otherwise in its graphs, but where a graph has one of that name itself."""
    for graph in _graphs(node):
        own = names_of(graph)
        others = {name: new for name, new in names.items() if name not in own}
        for inner in graph.node:
            for place, name in enumerate(inner.input):
                inner.input[place] = others.get(name, name)
            rename(inner, others)


def names_of(graph: Any) -> set[str]:
    """Return the names that a graph gives: to its inputs, constants and results."""
    own = {one.name for one in (*graph.input, *graph.initializer)}
    own |= {one.values.name for one in graph.sparse_initializer}
    return own | {name for inner in graph.node for name in inner.output}


def _graphs(node: Any) -> Iterator[Any]:
    """Yield the graphs among the attributes of a node."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def _used_inside(node: Any) -> Iterator[str]:
    """Yield the names that the graphs of a node use and do not make, some more than once."""
    for graph in _graphs(node):
        own = names_of(graph)
        for inner in graph.node:
            yield from (name for name in (*inner.input, *_used_inside(inner)) if name and name not in own)
