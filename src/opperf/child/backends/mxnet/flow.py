"""Through which operators of a graph a gradient flows, as autograd computes it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

#: How autograd names the arrays that it computes gradients of; what else operators read is `null12`.
VARIABLE = "var"
#: Behind these operators all gradients are zero, and none is computed: steps, comparisons, places and counts.
STOPPING = frozenset({
    "BlockGrad", "sign", "round", "around", "rint", "ceil", "floor", "trunc", "fix", "logical_not", "bitwise_not",
    "zeros_like", "ones_like", "full_like", "arange_like", "index_array", "argmax", "argmin", "argmax_channel",
    "argsort", "one_hot", "shape_array", "size_array", "isnan", "isinf", "isfinite", "equal", "not_equal", "greater",
    "greater_equal", "lesser", "lesser_equal", "less", "less_equal", "logical_and", "logical_or", "logical_xor",
})  # fmt: skip
#: What the names of spellings of one operator begin and end with.
_AROUND = re.compile(r"^_?(npi_|npx_|np_|contrib_)?(broadcast_)?|_scalar$")
#: What `topk` returns that has a gradient.
VALUES = ("value", "both")


def stops(node: Mapping[str, Any]) -> bool:
    """Whether no gradient flows through an operator.

    >>> [stops({"op": name}) for name in ("broadcast_greater", "_equal_scalar", "_contrib_arange_like", "_mod", "topk")]
    [True, True, True, False, True]
    """
    if node["op"] == "topk":
        return node.get("attrs", {}).get("ret_typ") not in VALUES
    return _AROUND.sub("", node["op"]) in STOPPING


def flowing(graph: Mapping[str, Any], blocked: Mapping[str, Collection[int]] | None = None) -> list[bool]:
    """Return of each node of a graph, as MXNet writes it, whether one flows through it: from a head, to a variable.

    None flows through the inputs of an operator that are `blocked`, by its name: integers and indices.

    >>> flowing({"nodes": [{"op": "null", "name": "var1"}, {"op": "exp", "inputs": [[0, 0]]}], "heads": [[1, 0]]})
    [True, True]
    """
    moves: list[bool] = []
    sources: list[list[int]] = []
    for node in graph["nodes"]:
        shut = (blocked or {}).get(node["name"], ())
        sources.append([entry[0] for i, entry in enumerate(node.get("inputs", ())) if i not in shut])
        if node["op"] == "null":
            moves.append(node["name"].startswith(VARIABLE))
        else:
            moves.append(not stops(node) and any(moves[source] for source in sources[-1]))
    nodes_reached = {head[0] for head in graph["heads"]}
    for place in reversed(range(len(moves))):
        if place in nodes_reached and moves[place]:
            nodes_reached.update(sources[place])
    return [move and place in nodes_reached for place, move in enumerate(moves)]
