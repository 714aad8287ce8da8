"""A cached graph, which a hybridized block runs as a whole, run operator by operator.

So each operator is seen with its arrays, and autograd records it by itself. The results are the graph's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import mxnet as mx

from opperf.child.backends.mxnet import registry


def run(graph: Any, arrays: Sequence[Any], entered: Callable[[str], None]) -> list[Any] | None:
    """Return the results of a graph, a symbol, from the arrays of its inputs; None where it has graphs within.

    `entered` is told the name of each operator before that is called. Raises `MXNetError` where a shape is known only
    to the graph as a whole.
    """
    document = json.loads(graph.tojson(remove_amp_cast=False))
    nodes = document["nodes"]
    if any("subgraphs" in node for node in nodes):
        return None
    inputs = dict(zip(graph.list_inputs(), arrays))
    values: dict[tuple[int, int], Any] = {}
    for place, node in enumerate(nodes):
        if node["op"] == "null":
            made = [inputs[node["name"]]]
        else:
            entered(node["name"])
            made = called(node, [values[entry[0], entry[1]] for entry in node["inputs"]])
        values.update({(place, i): array for i, array in enumerate(made)})
    numpy = isinstance(graph, mx.sym.np._Symbol)
    results = [values[head[0], head[1]] for head in document["heads"]]
    return [array.as_np_ndarray() if numpy else array.as_nd_ndarray() for array in results]


def called(node: Any, arrays: Sequence[Any]) -> list[Any]:
    """Return what an operator of a graph makes of arrays; raises `MXNetError` for one that is not registered."""
    operator = registry.find(node["op"])
    if operator is None:
        raise mx.MXNetError(f"no operator {node['op']}")
    attributes = {name: text for name, text in node.get("attrs", {}).items() if not name.startswith("__")}
    made = operator(*arrays, **attributes)
    return made if isinstance(made, list) else [made]
