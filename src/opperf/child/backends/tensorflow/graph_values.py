"""What integers a graph's operations get when the program runs: shapes, permutations, counts and indices.

Tracing knows constants alone. A gradient computes many an argument that decides what another operation does: the
inverse of a permutation, the shape of what a slice came from, how many rows a table has. They follow from constants,
variables and inputs, so the operations on the way to them are run one by one, each once, and nothing else is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from opperf.child.backends.tensorflow import raw_operators

#: Operations that call a function of the graph's.
CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
#: What reads a state and changes none, or draws numbers.
READING = frozenset({"ReadVariableOp", "ResourceGather", "ResourceGatherNd", *raw_operators.DRAWING})
#: What hands on its inputs one by one, or a single one.
HANDING_ON = frozenset({"Identity", "IdentityN", "StopGradient", "PreventGradient"})


def called_graph(call: Any) -> Any:
    """Return the graph of the function that an operation calls."""
    return call.graph._get_function(call.get_attr("f").name).graph


class Unknown(Exception):
    """A value that only the whole program has."""


class Frame:
    """A graph as it is called once: by which call, in which other frame; the outermost has no call."""

    def __init__(self, graph: Any, call: Any = None, outer: Frame | None = None) -> None:
        self.graph, self._call, self._outer = graph, call, outer
        self._inner: dict[Any, Frame] = {}
        self._results: dict[Any, Sequence[Any]] = {}

    def operations(self) -> Iterator[tuple[Any, Frame]]:
        """Yield the operations in the order in which they run, each with its frame, and of a call those within."""
        for operation in self.graph.get_operations():
            if operation.type in CALLS:
                yield from self._within(operation).operations()
            else:
                yield operation, self

    def value(self, tensor: Any) -> Any:
        """Return the value of a tensor as an eager tensor; raises `Unknown`."""
        try:
            return self._value(tensor)
        except RecursionError as error:
            raise Unknown("it is too far from what is known") from error

    def _value(self, tensor: Any) -> Any:
        operation = tensor.op
        if operation.type == "Placeholder":
            return self._argument(tensor)
        if operation not in self._results:
            self._results[operation] = self._run(operation)
        return self._results[operation][tensor.value_index]

    def _within(self, call: Any) -> Frame:
        if call not in self._inner:
            self._inner[call] = Frame(called_graph(call), call, self)
        return self._inner[call]

    def _argument(self, tensor: Any) -> Any:
        if self._outer is None:
            values = [outside for outside, inside in self.graph.captures if inside is tensor]
        else:
            places = [place for place, inside in enumerate(self.graph.inputs) if inside is tensor]
            values = [self._outer.value(self._call.inputs[place]) for place in places]
        if not values:
            raise Unknown("an input of the program")
        return values[0]

    def _run(self, operation: Any) -> Sequence[Any]:
        if operation.type in CALLS:
            within = self._within(operation)
            return [within.value(output) for output in within.graph.outputs]
        if operation.type == "Const":
            return [tf.constant(tf.get_static_value(operation.outputs[0]), operation.outputs[0].dtype)]
        if operation.op_def.is_stateful and operation.type not in READING:
            raise Unknown(f"{operation.type} changes a state")
        values = [self._value(one) for one in operation.inputs]
        if operation.type in HANDING_ON:
            return values
        try:
            results = getattr(tf.raw_ops, operation.type)(**_arguments(operation, values))
        except (AttributeError, TypeError, ValueError, tf.errors.OpError) as error:
            raise Unknown(f"{operation.type} does not run alone: {error}") from error
        return list(results) if isinstance(results, (list, tuple)) else [results]


def _arguments(operation: Any, values: Sequence[Any]) -> dict[str, Any]:
    """Return the arguments of an operation by the names that Python has for them."""
    own, rest = operation.op_def, iter(values)
    names = raw_operators.input_names(own)
    lists = {one.name: one.number_attr or one.type_list_attr for one in own.input_arg}
    arguments = {
        names[name]: [next(rest) for _ in range(_count(operation, kind))] if kind else next(rest)
        for name, kind in lists.items()
    }
    python = raw_operators.parameters(operation.type)
    others = (one.name for one in own.attr if one.name in python and one.name not in arguments)
    return arguments | {name: operation.get_attr(name) for name in others}


def _count(operation: Any, attribute: str) -> int:
    value = operation.get_attr(attribute)
    return value if isinstance(value, int) else len(value)
