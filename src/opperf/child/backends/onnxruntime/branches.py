"""Branches of an `If` that are too large for a case, entered: the nodes of the one that was taken stand in its place.

Some models have all of their network in one branch, such as one for each sampling rate. Which branch is taken is known
once the model has run, and within it there may be others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import onnx
from onnx import helper

from opperf.child.backends.onnxruntime import graphs
from opperf.child.backends.onnxruntime.specs import MOST_GRAPH

BRANCHES = {True: "then_branch", False: "else_branch"}


def enter(model: Any, value: Callable[[str], Any]) -> Any | None:
    """Return the model with the branches that were taken in place of large choices; None where there are none.

    `value` is what a run computed under a name, None where that is not known.
    """
    large = [node for node in model.graph.node if _is_large(node) and value(node.input[0]) is not None]
    if not large:
        return None
    result = onnx.ModelProto()
    result.CopyFrom(model)
    del result.graph.node[:]
    for node in model.graph.node:
        if not any(node is one for one in large):
            result.graph.node.add().CopyFrom(node)
            continue
        side = BRANCHES[bool(value(node.input[0]).item())]
        branch = next(one.g for one in node.attribute if one.name == side)
        within = _Within(node, branch)
        result.graph.node.extend(within.nodes())
        result.graph.initializer.extend(within.constants())
    return result


def _is_large(node: Any) -> bool:
    is_choice = node.op_type == "If" and node.domain in ("", "ai.onnx")
    return is_choice and any(one.g.ByteSize() > MOST_GRAPH for one in node.attribute)


class _Within:
    """A branch of a node as part of the graph around it, with names that nothing there has."""

    def __init__(self, node: Any, branch: Any) -> None:
        self._branch = branch
        self._place = node.name or node.output[0]
        results = {name for one in branch.node for name in one.output}
        self._names = {name: f"{self._place}/{name}" for name in graphs.names_of(branch) if name}
        #: Results of the choice that are none of a node's, or of one that has another name already.
        self._passed_on: list[tuple[str, str]] = []
        renamed: set[str] = set()
        for inside, outside in zip((one.name for one in branch.output), node.output):
            if inside in results and inside not in renamed:
                self._names[inside] = outside
                renamed.add(inside)
            else:
                self._passed_on.append((self._names.get(inside, inside), outside))

    def nodes(self) -> Iterator[Any]:
        """Yield the nodes, called after the one that they are within."""
        for inner in self._branch.node:
            copy = onnx.NodeProto()
            copy.CopyFrom(inner)
            if inner.name:
                copy.name = f"{self._place}/{inner.name}"
            for names in (copy.input, copy.output):
                for place, name in enumerate(names):
                    names[place] = self._names.get(name, name)
            graphs.rename(copy, self._names)
            yield copy
        for inside, outside in self._passed_on:
            yield helper.make_node("Identity", [inside], [outside])

    def constants(self) -> Iterator[Any]:
        """Yield the constants."""
        for constant in self._branch.initializer:
            copy = onnx.TensorProto()
            copy.CopyFrom(constant)
            copy.name = self._names[constant.name]
            yield copy
