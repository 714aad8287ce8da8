"""Which operators a function runs, by shapes alone: TensorFlow builds the graph of a program that never runs.

The user's code is loaded within a graph, where a tensor is a node and a variable is named and not made: nothing is
allocated or computed, whatever the size. What decides an operator's work is found without a run:

* sizes that a signature leaves open, from what it is called with: TensorFlow infers the shapes of each operator anew;
* whole numbers that follow from shapes and constants: small operators are computed, one at a time;
* how often a loop turns, by its condition, as long as that follows from such numbers.

A mask is assumed to be true everywhere, which is the most that there can be. A condition or a loop that depends on
values is not entered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from math import prod
from typing import Any, TypeAlias

import tensorflow as tf
from tensorflow.python.framework import op_def_registry

from opperf.child.backends.tensorflow import capture, raw_operators
from opperf.child.backends.tensorflow.graph_values import (
    ENTERED,
    GATHERS,
    LOOPS,
    PLACES,
    Frame,
    Unknown,
    called_graph,
)
from opperf.child.backends.tensorflow.programs import REFUSALS
from opperf.domain.call import AbstractCapture

EAGER = tf.__internal__.EagerTensor
Load: TypeAlias = Callable[[], Callable[[], Any]]
#: Elements of what is computed to know a whole number, at most, and turns of a loop that are followed.
MOST_ELEMENTS, MOST_TURNS = 65_536, 100_000
#: Up to so many elements, `tf.function` takes what it finds outside as a constant.
MOST_CONSTANT = 128
#: Tell of shapes, and read no element.
SHAPES = frozenset({"Shape", "ShapeN", "Size", "Rank", "VariableShape"})
#: Hand on what they are given.
PASSING = frozenset({"Identity", "IdentityN", "StopGradient", "PreventGradient", "EnsureShape"})
MOST = "assumed: all elements of a mask are true"
#: What TensorFlow raises where an operator does not fit what is known of its inputs.
MISFITS = (tf.errors.OpError, TypeError, ValueError, LookupError)


def of_call(load: Load) -> AbstractCapture:
    """Load a function and return every operator of its second call, and what was assumed.

    The first call makes what is made once, as the state of an optimizer. Raises `Unsupported` where the function asks
    for the value of a tensor, and what it raises.
    """
    with _graph().as_default():
        function = load()
        try:
            function()
        except REFUSALS as error:
            raise capture.reads_values(error) from error
        frame = Shapes(capture.trace(function))
    calls = [capture.capture_operation(own, place) for own, place in frame.operations() if capture.computes(own)]
    return AbstractCapture(calls, (MOST,) if frame.assumes else ())


@cache
def _graph() -> Any:
    """Return the graph of all functions of a process: libraries keep tensors of their own in it."""
    return tf.Graph()


class Shapes(Frame):
    """A graph that does not run, with what is known of its tensors all the same."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._places = {tensor.name: place for place, tensor in enumerate(getattr(self.graph, "inputs", ()))}
        self._inferred_shapes: dict[str, tuple[int, ...]] = {}
        self._results: dict[str, Any] = {}
        self._ended: dict[str, Sequence[Any]] = {}
        self._around: Shapes | None = None
        self._assumes = False

    @property
    def assumes(self) -> bool:
        """Whether anything in it was assumed of a mask."""
        return self._assumes or any(isinstance(frame, Shapes) and frame.assumes for frame in self._inner.values())

    def constant(self, tensor: Any) -> Any:
        """Return the value of a constant, also of a small one from outside of the function."""
        if _elements(tensor.shape) > MOST_ELEMENTS:
            return None
        if isinstance(tensor, EAGER):
            return tensor.numpy()
        source = self._source(tensor) if self.outer is None else None
        if source is None:
            return super().constant(tensor)
        frame, outside = source
        return frame.constant(outside) if _elements(outside.shape) <= MOST_CONSTANT else None

    def shape(self, tensor: Any) -> tuple[int, ...]:
        """Return the shape of a tensor, or of the variable that it names; raises `Unknown`."""
        if tensor.dtype != tf.resource and tensor.shape.is_fully_defined():
            return tuple(tensor.shape)
        if tensor.name not in self._inferred_shapes:
            self._inferred_shapes[tensor.name] = self._infer(tensor)
        return self._inferred_shapes[tensor.name]

    def integer(self, tensor: Any) -> Any:
        """Return the value of a whole number or a truth that is known, None of any other tensor."""
        if not (tensor.dtype.is_integer or tensor.dtype == tf.bool):
            return None
        try:
            return self.value(tensor)
        except Unknown:
            return None

    def value(self, tensor: Any) -> Any:
        """Return the value of a tensor that follows from shapes and constants; raises `Unknown`."""
        if isinstance(tensor, EAGER):
            return tensor
        if tensor.name not in self._results:
            try:
                self._results[tensor.name] = self._compute(tensor)
            except Unknown as unknown:
                self._results[tensor.name] = unknown
        result = self._results[tensor.name]
        if isinstance(result, Unknown):
            raise result
        return result

    def _source(self, tensor: Any) -> tuple[Shapes, Any] | None:
        """Return the tensor outside of the graph that an input of it is, with its frame; None for any other tensor."""
        place = self._places.get(tensor.name)
        if place is None:
            return None
        if isinstance(self.outer, Shapes):
            return self.outer, self._inputs[place]
        outside = {inside.name: value for value, inside in self.graph.captures}[tensor.name]
        if self._around is None:
            self._around = Shapes(_graph())
        return self._around, outside

    def _infer(self, tensor: Any) -> tuple[int, ...]:
        operation = tensor.op
        if (source := self._source(tensor)) is not None:
            return source[0].shape(source[1])
        if operation.type == "VarHandleOp":
            shape = tf.TensorShape(operation.get_attr("shape"))
        elif tensor.dtype == tf.resource:
            raise Unknown(f"`{tensor.name}` is no variable")
        elif operation.type == PLACES:
            if self.integer(operation.inputs[0]) is not None:
                return tuple(self.value(tensor).shape)
            self._assumes = True
            mask = self.shape(operation.inputs[0])
            return prod(mask), len(mask)
        elif operation.type == GATHERS:
            variable, indices = map(self.shape, operation.inputs)
            return indices + variable[1:]
        elif operation.type in ENTERED:
            inner = self.within(operation)
            assert inner is not None
            return inner.shape(inner.graph.outputs[tensor.value_index])
        else:
            shape = self._inferred(tensor)
        if not shape.is_fully_defined() and tensor.dtype.is_integer:
            shape = self.value(tensor).shape
        if not shape.is_fully_defined():
            raise Unknown(f"the size of `{tensor.name}` depends on values")
        return tuple(shape)

    def _inferred(self, tensor: Any) -> Any:
        """Return the shape that TensorFlow infers of an operator, given all that is known of its inputs."""
        operation = tensor.op
        stand_ins = [self._stand_in(own) for own in operation.inputs]  # ahead: values are computed outside of graphs
        with tf.Graph().as_default() as graph:
            inputs = [stand_in() for stand_in in stand_ins]
            attributes = {name: operation.node_def.attr[name] for name in operation.node_def.attr if name[0] != "_"}
            types = [output.dtype for output in operation.outputs]
            try:
                again = graph.create_op(operation.type, inputs, types, attrs=attributes)
            except MISFITS as error:
                raise Unknown(str(error).partition("\n")[0]) from error
        return again.outputs[tensor.value_index].shape

    def _stand_in(self, tensor: Any) -> Callable[[], Any]:
        """Return how another graph gets a tensor like it: with its number where that is known, else of its shape."""
        if tensor.dtype == tf.resource:
            raise Unknown(f"`{tensor.name}` is kept outside of the graph")
        integer = self.integer(tensor)
        if integer is not None:
            return partial(tf.constant, integer.numpy(), tensor.dtype)
        return partial(
            tf.compat.v1.placeholder, tensor.dtype, None if tensor.dtype == tf.variant else self.shape(tensor)
        )

    def _compute(self, tensor: Any) -> Any:
        operation = tensor.op
        if tensor.dtype in (tf.resource, tf.variant) or self._is_large(tensor):
            raise Unknown(f"`{tensor.name}` depends on values")
        if (source := self._source(tensor)) is not None:
            return source[0].value(source[1])
        if operation.type == "Const":
            return tf.constant(tf.make_ndarray(operation.get_attr("value")))
        if operation.type in PASSING:
            return self.value(operation.inputs[tensor.value_index])
        if operation.type in SHAPES:
            return self._of_shape(tensor)
        if operation.type in LOOPS:
            return self._turned(operation)[tensor.value_index]
        if operation.type in ENTERED:
            inner = self.within(operation)
            assert inner is not None
            return inner.value(inner.graph.outputs[tensor.value_index])
        return self._called(tensor)

    def _is_large(self, tensor: Any) -> bool:
        """Whether a tensor is too large to be computed, as far as TensorFlow infers its shape."""
        if self._source(tensor) is not None or tensor.op.type in ENTERED or tensor.shape.is_fully_defined():
            return bool(_elements(tensor.shape) > MOST_ELEMENTS)
        return _elements(self._inferred(tensor)) > MOST_ELEMENTS

    def _of_shape(self, tensor: Any) -> Any:
        operation = tensor.op
        shape = self.shape(operation.inputs[tensor.value_index])
        number = {"Size": prod(shape), "Rank": len(shape)}.get(operation.type, shape)
        return tf.constant(number, tensor.dtype)

    def _called(self, tensor: Any) -> Any:
        """Compute an operator of numbers that are known; raises `Unknown` for one that keeps a state."""
        operation = tensor.op
        definition = op_def_registry.get(operation.type)
        if definition is None or definition.is_stateful or operation.type not in raw_operators.definitions():
            raise Unknown(f"`{tensor.name}` depends on values")
        operands = iter([self.value(operand) for operand in operation.inputs])
        names, parameters = raw_operators.input_names(definition), raw_operators.parameters(operation.type)
        inputs = {
            names[argument.name]: [next(operands) for _ in range(operation.get_attr(argument.number_attr))]
            if argument.number_attr
            else next(operands)
            for argument in definition.input_arg
        }
        attributes = {own.name: operation.get_attr(own.name) for own in definition.attr if own.name in parameters}
        try:
            results = tf.nest.flatten(getattr(tf.raw_ops, operation.type)(**inputs, **attributes))
        except MISFITS as error:
            raise Unknown(str(error).partition("\n")[0]) from error
        return results[tensor.value_index]

    def _turned(self, loop: Any) -> Sequence[Any]:
        """Follow a loop to its end, and return the integers that it hands on, None for others; raises `Unknown`."""
        if loop.name not in self._ended:
            self._ended[loop.name] = self._follow(loop)
        return self._ended[loop.name]

    def _follow(self, loop: Any) -> Sequence[Any]:
        condition, body = (called_graph(loop, name) for name in ("cond", "body"))
        state: Sequence[Any] = [self.integer(tensor) for tensor in loop.inputs]
        for _ in range(MOST_TURNS):
            if not bool(Turn(condition, loop, self, state).value(condition.outputs[0]).numpy()):
                return state
            turn = Turn(body, loop, self, state)
            state = [turn.integer(tensor) for tensor in body.outputs]
        raise Unknown(f"it turns more than {MOST_TURNS:,} times")


class Turn(Shapes):
    """A graph of a loop in one of its turns, with what is known of the values that the loop carries on."""

    def __init__(self, graph: Any, loop: Any, outer: Frame, state: Sequence[Any]) -> None:
        super().__init__(graph, loop, outer, loop.inputs)
        self._state = state

    def value(self, tensor: Any) -> Any:
        """Return the value of a tensor in this turn; raises `Unknown`."""
        place = self._places.get(tensor.name)
        if place is None:
            return super().value(tensor)
        if self._state[place] is None:
            raise Unknown(f"`{tensor.name}` depends on values")
        return self._state[place]


def _elements(shape: Any) -> int:
    """Return how many elements a shape has; none where that is open."""
    return prod(shape) if shape.is_fully_defined() else 0
