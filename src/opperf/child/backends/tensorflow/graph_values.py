"""What the tensors of a graph are when the program runs: shapes of those with open dimensions, integers, and masks.

Tracing knows constants alone. A batch of any size leaves a dimension open in everything that follows. A gradient
computes many an argument that decides what another operation does: the inverse of a permutation, the shape of what a
slice came from, how many rows a table has. So the graph runs once more, with what it was called with, and returns
these. Of what changes a state only that runs which others wait for. The same run tells which branch of a condition is
taken and how often a loop turns, so that these are entered too; of a loop the first iteration, as often as it turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import tensorflow as tf

#: Operations that call a function of the graph's.
CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
#: Operations that run one of two graphs, or one graph as long as another says so.
CHOICES = frozenset({"If", "StatelessIf"})
LOOPS = frozenset({"While", "StatelessWhile"})
#: Takes rows of a variable, as `GatherV2` does of a tensor.
GATHERS = "ResourceGather"
#: Returns as many places as a mask has.
PLACES = "Where"
ENTERED = CALLS | CHOICES | LOOPS
#: What TensorFlow raises where a graph cannot be read anew or run: a graph of 2 GiB, a queue that has ended.
FAILURES = (tf.errors.OpError, TypeError, ValueError, LookupError)


def called_graph(call: Any, function: str = "f") -> Any:
    """Return the graph of a function that an operation calls."""
    return call.graph._get_function(call.get_attr(function).name).graph


class Unknown(Exception):
    """What a run of the program did not tell; the message says why."""


class Frame:
    """A graph as it is called: how often by which call, with what, in which other frame; the outermost has no call."""

    def __init__(
        self, graph: Any, call: Any = None, outer: Frame | None = None, inputs: Sequence[Any] = (), turns: int = 1
    ) -> None:
        self.graph, self.call, self.outer = graph, call, outer
        self._inputs = inputs
        #: How often it is called in the whole program.
        self.count: int = turns * (1 if outer is None else outer.count)
        self._inner: dict[Any, Frame] = {}

    def operations(self) -> Iterator[tuple[Any, Frame]]:
        """Yield the operations in order, each with its frame, and in place of what is entered those within.

        A condition or a loop that cannot be entered is yielded itself.
        """
        for operation in self.graph.get_operations():
            try:
                inner = self.within(operation)
            except Unknown:
                inner = None
            if inner is None:
                yield operation, self
            else:
                yield from inner.operations()

    def within(self, operation: Any) -> Frame | None:
        """Return the graph that an operation runs; None for another operation. Raises `Unknown`."""
        if operation not in self._inner:
            frame = self._enter(operation)
            if frame is None:
                return None
            self._inner[operation] = frame
        return self._inner[operation]

    def _enter(self, operation: Any) -> Frame | None:
        inputs = operation.inputs
        if operation.type in CALLS:
            return type(self)(called_graph(operation), operation, self, inputs)
        if operation.type in CHOICES:
            branch = "then_branch" if bool(self.value(inputs[0]).numpy().any()) else "else_branch"
            return type(self)(called_graph(operation, branch), operation, self, inputs[1:])
        if operation.type in LOOPS:
            return type(self)(called_graph(operation, "body"), operation, self, inputs, self._turns(operation))
        return None

    def _turns(self, loop: Any) -> int:
        """Return how often a loop turns: TensorFlow has it count that as its first value. Raises `Unknown`."""
        if not _is_counter(called_graph(loop, "body")):
            raise Unknown("it does not count how often it turns")
        turns = int(self.value(loop.outputs[0]).numpy()) - int(self.value(loop.inputs[0]).numpy())
        if turns < 1:
            raise Unknown("it does not turn")
        return turns

    def constant(self, tensor: Any) -> Any:
        """Return the value of a tensor that is known while a graph is made, None for another."""
        return tf.get_static_value(tensor)

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
                if operation.type in ENTERED or tensor.dtype.is_integer or operation.type == PLACES:
                    values[tensor.name] = None
                is_open = tensor.dtype != tf.variant and not tensor.shape.is_fully_defined()
                if (operation.type == GATHERS) if tensor.dtype == tf.resource else is_open:
                    shapes[tensor.name] = None
            if operation.type in LOOPS:
                values[operation.outputs[0].name] = None
        try:
            results = _run(self.graph, self._arguments, [*shapes], [*values])
        except FAILURES as error:
            raise Unknown(f"the graph does not run alone: {str(error).partition(chr(10))[0]}") from error
        return dict(zip(shapes, results)), dict(zip(values, results[len(shapes) :]))

    @property
    def _arguments(self) -> Sequence[Any]:
        """What the inputs of the graph are; raises `Unknown`."""
        if self.outer is not None:
            return [self.outer.value(tensor) for tensor in self._inputs]
        outside = {inside.name: value for value, inside in self.graph.captures}
        return [outside[tensor.name] for tensor in self.graph.inputs]


def _is_counter(body: Any) -> bool:
    """Whether the first value of a loop is one more after each iteration."""
    operation = body.outputs[0].op
    while operation.type == "Identity":
        operation = operation.inputs[0].op
    if operation.type not in ("Add", "AddV2") or operation.inputs[0] is not body.inputs[0]:
        return False
    step = tf.get_static_value(operation.inputs[1])
    return step is not None and int(step) == 1


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
