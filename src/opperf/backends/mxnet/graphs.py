"""A cached graph, which a hybridized block runs as a whole, run operator by operator.

So each operator is seen with its arrays, and autograd records it by itself. The results are the graph's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import mxnet as mx

from opperf.backends.mxnet import registered


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
        made = inputs[node["name"]] if node["op"] == "null" else _called(node, values, entered)
        for i, array in enumerate(made if isinstance(made, list) else [made]):
            values[place, i] = array
    numpy = isinstance(graph, mx.sym.np._Symbol)
    results = [values[head[0], head[1]] for head in document["heads"]]
    return [array.as_np_ndarray() if numpy else array.as_nd_ndarray() for array in results]


def _called(node: Any, values: dict[tuple[int, int], Any], entered: Callable[[str], None]) -> Any:
    operator = registered.find(node["op"])
    if operator is None:
        raise mx.MXNetError(f"no operator {node['op']}")
    entered(node["name"])
    attributes = {name: text for name, text in node.get("attrs", {}).items() if not name.startswith("__")}
    return operator(*(values[entry[0], entry[1]] for entry in node["inputs"]), **attributes)
