"""What the tensors of a graph are when the program runs: shapes of those with open dimensions, integers, and masks.

Tracing knows constants alone. A batch of any size leaves a dimension open in everything that follows. A gradient
computes many an argument that decides what another operation does: the inverse of a permutation, the shape of what a
slice came from, how many rows a table has. So the graph runs once more, with what it was called with, and returns
these. Of what changes a state only that runs which others wait for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import tensorflow as tf

#: Operations that call a function of the graph's.
CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
#: Takes rows of a variable, as `GatherV2` does of a tensor.
GATHERS = "ResourceGather"
#: Returns as many places as a mask has.
PLACES = "Where"
#: What TensorFlow raises where a graph cannot be read anew or run: a graph of 2 GiB, a queue that has ended.
FAILURES = (tf.errors.OpError, TypeError, ValueError, LookupError)


def called_graph(call: Any) -> Any:
    """Return the graph of the function that an operation calls."""
    return call.graph._get_function(call.get_attr("f").name).graph


class Unknown(Exception):
    """What a run of the program did not tell; the message says why."""


class Frame:
    """A graph as it is called once: by which call, in which other frame; the outermost has no call."""

    def __init__(self, graph: Any, call: Any = None, outer: Frame | None = None) -> None:
        self.graph, self._call, self._outer = graph, call, outer
        self._inner: dict[Any, Frame] = {}

    def operations(self) -> Iterator[tuple[Any, Frame]]:
        """Yield the operations in the order in which they run, each with its frame, and of a call those within."""
        for operation in self.graph.get_operations():
            if operation.type in CALLS:
                yield from self._within(operation).operations()
            else:
                yield operation, self

    def shape(self, tensor: Any) -> tuple[int, ...]:
        """Return the shape of an operation's input, or that of a variable that it names; raises `Unknown`."""
        if tensor.dtype != tf.resource and tensor.shape.is_fully_defined():
            return tuple(tensor.shape)
        return tuple(int(size) for size in self._result(self._shapes, tensor))

    def value(self, tensor: Any) -> Any:
        """Return an integer input of an operation, or a mask, as an eager tensor; raises `Unknown`."""
        return self._result(self._values, tensor)

    def _result(self, results: Mapping[str, Any], tensor: Any) -> Any:
        if tensor.name not in results:
            raise Unknown(f"`{tensor.name}` is not computed where the program is")
        return results[tensor.name]

    def _within(self, call: Any) -> Frame:
        if call not in self._inner:
            self._inner[call] = Frame(called_graph(call), call, self)
        return self._inner[call]

    @property
    def _shapes(self) -> Mapping[str, Any]:
        return self._run[0]

    @property
    def _values(self) -> Mapping[str, Any]:
        return self._run[1]

    @cached_property
    def _run(self) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The shapes of open inputs; the values of integers, masks and what calls take; by the names of tensors."""
        values, shapes = dict[str, None](), dict[str, None]()
        for operation in self.graph.get_operations():
            for tensor in operation.inputs:
                if operation.type in CALLS or tensor.dtype.is_integer or operation.type == PLACES:
                    values[tensor.name] = None
                is_open = tensor.dtype != tf.variant and not tensor.shape.is_fully_defined()
                if (operation.type == GATHERS) if tensor.dtype == tf.resource else is_open:
                    shapes[tensor.name] = None
        try:
            results = _run(self.graph, self._arguments, [*shapes], [*values])
        except FAILURES as error:
            raise Unknown(f"the graph does not run alone: {str(error).partition(chr(10))[0]}") from error
        return dict(zip(shapes, results)), dict(zip(values, results[len(shapes) :]))

    @property
    def _arguments(self) -> Sequence[Any]:
        """What the inputs of the graph are; raises `Unknown`."""
        if self._outer is not None:
            return [self._outer.value(tensor) for tensor in self._call.inputs]
        outside = {inside.name: value for value, inside in self.graph.captures}
        return [outside[tensor.name] for tensor in self.graph.inputs]


def _run(graph: Any, arguments: Sequence[Any], shapes: Sequence[str], values: Sequence[str]) -> Sequence[Any]:
    """Return the shapes of some tensors of a graph, then the values of others, from one run of a copy."""
    definition = graph.as_graph_def()
    copy = tf.compat.v1.wrap_function(lambda: tf.compat.v1.import_graph_def(definition, name=""), [])
    find = copy.graph.as_graph_element
    with copy.graph.as_default():
        sizes = [_shape(find(name)) for name in shapes]
    run = copy.prune([find(tensor.name) for tensor in graph.inputs], [*sizes, *map(find, values)])
    results: Sequence[Any] = run(*arguments)
    return results


def _shape(tensor: Any) -> Any:
    """Return the node of the shape of a tensor, or of the variable that it names."""
    return tf.raw_ops.VariableShape(input=tensor) if tensor.dtype == tf.resource else tf.shape(tensor)
