"""Through which operators of a graph a gradient flows, as autograd computes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: How autograd names the arrays that it computes gradients of; what else operators read is `null12`.
VARIABLE = "var"
#: Behind these operators all gradients are zero, and none is computed.
STOPPING = frozenset({"BlockGrad"})


def flowing(graph: Mapping[str, Any]) -> list[bool]:
    """Return of each node of a graph, as MXNet writes it, whether one flows through it: from a head, to a variable.

    >>> flowing({"nodes": [{"op": "null", "name": "var1"}, {"op": "exp", "inputs": [[0, 0]]}], "heads": [[1, 0]]})
    [True, True]
    """
    moves: list[bool] = []
    for node in graph["nodes"]:
        if node["op"] == "null":
            moves.append(node["name"].startswith(VARIABLE))
        else:
            moves.append(node["op"] not in STOPPING and any(moves[entry[0]] for entry in node["inputs"]))
    nodes_reached = {head[0] for head in graph["heads"]}
    for place in reversed(range(len(moves))):
        if place in nodes_reached and moves[place]:
            nodes_reached.update(entry[0] for entry in graph["nodes"][place].get("inputs", ()))
    return [move and place in nodes_reached for place, move in enumerate(moves)]
