"""Graphs within nodes that are too large for a case, entered: their nodes stand beside those around them.

Some models have all of their network in one branch of an `If`, such as one for each sampling rate, or in a `Loop`, such
as one for each window of sound. Which branch is taken and how often a loop turns is known once the model has run, and
within there may be others. Of a loop the first iteration is entered, as often as it turns; the loop itself stays where
it is, to compute what comes after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import onnx
from onnx import TensorProto, helper

from opperf.child.backends.onnxruntime import graphs
from opperf.child.backends.onnxruntime.specs import MOST_GRAPH

BRANCHES = {True: "then_branch", False: "else_branch"}
#: What a run computed under a name; None where that is not known.
Value = Callable[[str], Any]


def enter(model: Any, counts: Mapping[str, int], value: Value) -> tuple[Any, dict[str, int]] | None:
    """Return the model with the nodes of large graphs beside their own, and how often nodes run; None without any.

    Counts are by `key`, 1 where there is none, and 0 for what only computes values for others.
    """
    result = onnx.ModelProto()
    result.CopyFrom(model)
    del result.graph.node[:]
    more = dict(counts)
    is_entered = False
    for node in model.graph.node:
        times = counts.get(key(node), 1)
        inside = (_branch(node, value) or _iteration(node, value, model.graph)) if times else None
        if inside is None:
            result.graph.node.add().CopyFrom(node)
            continue
        is_entered = True
        for inner, count in inside.nodes():
            result.graph.node.add().CopyFrom(inner)
            more[key(inner)] = count * times
        result.graph.initializer.extend(inside.constants())
    return (result, more) if is_entered else None


def key(node: Any) -> str:
    """Return the name of the first result, which no other node of a model has."""
    return next(filter(None, node.output), "")


def tell_turns(graph: Any) -> None:
    """Have the large loops of a graph tell how often they turn, as one more result of each."""
    for node in graph.node:
        if _is_large(node, "Loop"):
            body, name = _graph(node, "body"), _turns(node)
            body.node.append(helper.make_node("Identity", [body.input[0].name], [name]))
            body.output.append(helper.make_tensor_value_info(name, TensorProto.INT64, None))
            node.output.append(name)


def _turns(node: Any) -> str:
    return f"{key(node)}/turns"


def _is_large(node: Any, kind: str) -> bool:
    is_kind = node.op_type == kind and node.domain in ("", "ai.onnx")
    return is_kind and any(one.g.ByteSize() > MOST_GRAPH for one in node.attribute)


def _graph(node: Any, name: str) -> Any:
    return next(one.g for one in node.attribute if one.name == name)


def _branch(node: Any, value: Value) -> _Within | None:
    """Return the branch of a large choice that was taken."""
    condition = value(node.input[0]) if _is_large(node, "If") else None
    if condition is None:
        return None
    branch = _graph(node, BRANCHES[bool(condition.item())])
    within = _Within(node, branch)
    within.pass_on(zip((one.name for one in branch.output), node.output))
    return within


def _iteration(node: Any, value: Value, around: Any) -> _Within | None:
    """Return the first iteration of a large loop, and the loop; None for one that does not turn."""
    numbers = value(_turns(node)) if _is_large(node, "Loop") else None
    if numbers is None or not numbers.size:
        return None
    within = _Within(node, _graph(node, "body"), numbers.size)
    within.begin(node.input, {one.name for one in around.initializer} | set(_constants(around.node)))
    within.keep_loop()
    return within


def _constants(nodes: Sequence[Any]) -> Iterator[str]:
    return (node.output[0] for node in nodes if node.op_type == "Constant")


class _Within:
    """A graph of a node as part of the graph around it, with names that nothing there has."""

    def __init__(self, node: Any, graph: Any, count: int = 1) -> None:
        self._node = node
        self._graph = graph
        self._count = count
        self._place = node.name or key(node)
        self._names = {name: f"{self._place}/{name}" for name in graphs.names_of(graph) if name}
        #: What stands before and after the nodes of the graph, and is no part of it.
        self._before: list[Any] = []
        self._after: list[tuple[Any, int]] = []
        self._values: list[Any] = []

    def pass_on(self, outputs: Any) -> None:
        """Give results the names of the node's; what is none of a graph's node, or has a name already, by another."""
        results = {name for one in self._graph.node for name in one.output}
        renamed: set[str] = set()
        for inside, outside in outputs:
            if inside in results and inside not in renamed:
                self._names[inside] = outside
                renamed.add(inside)
            else:
                name = self._names.get(inside, inside)
                self._after.append((helper.make_node("Identity", [name], [outside]), self._count))

    def begin(self, inputs: Sequence[str], constants: set[str]) -> None:
        """Give a loop's graph what its first iteration gets. A constant is none within: the next has another value."""
        for place, formal in enumerate(self._graph.input):
            name = inputs[place] if 0 < place < len(inputs) else ""
            if name and name not in constants:
                self._names[formal.name] = name
                continue
            inside = self._names[formal.name]
            if not name:  # the number of the iteration, and whether to go on
                rank = len(formal.type.tensor_type.shape.dim)
                number, kind = (0, TensorProto.INT64) if place == 0 else (1, TensorProto.BOOL)
                name = f"{inside}:first"
                self._values.append(helper.make_tensor(name, kind, [1] * rank, [number]))
            self._before.append(helper.make_node("Identity", [name], [inside]))

    def keep_loop(self) -> None:
        """Let the loop compute what comes after it, with the same constants."""
        loop = onnx.NodeProto()
        loop.CopyFrom(self._node)
        body = _graph(loop, "body")
        results = {one.name for one in body.output}
        own = [one for one in self._graph.initializer if one.name in results]
        del body.initializer[:]
        body.initializer.extend(own)
        names = {one.name: self._names[one.name] for one in self._graph.initializer if one.name not in results}
        graphs.rename(loop, names)
        self._after.append((loop, 0))

    def nodes(self) -> Iterator[tuple[Any, int]]:
        """Yield the nodes, called after the one that they are within, each with how often it runs."""
        yield from ((node, 0) for node in self._before)
        for inner in self._graph.node:
            copy = onnx.NodeProto()
            copy.CopyFrom(inner)
            if inner.name:
                copy.name = f"{self._place}/{inner.name}"
            for names in (copy.input, copy.output):
                for place, name in enumerate(names):
                    names[place] = self._names.get(name, name)
            graphs.rename(copy, self._names)
            yield copy, self._count
        yield from self._after

    def constants(self) -> Iterator[Any]:
        """Yield the constants."""
        for constant in self._graph.initializer:
            copy = onnx.TensorProto()
            copy.CopyFrom(constant)
            copy.name = self._names[constant.name]
            yield copy
        yield from self._values
