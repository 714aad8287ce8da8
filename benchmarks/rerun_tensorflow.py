"""Run in TensorFlow's environment: trace functions, run every operator of their graphs again, and print how it does.

python rerun_tensorflow.py FOLDER FILE:FUNCTION...

The graphs are computed operator by operator, with the tensors and variables that a function reads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

import tensorflow as tf
from rerun import RecordedCall, look, main
from tensorflow.python.framework import op_def_registry

from opperf.child.backends.tensorflow import capture, graph_values, raw_operators
from opperf.child.backends.tensorflow.runtime import TensorflowBackend
from opperf.domain.backend import HostValue
from opperf.domain.plan import Side

backend = TensorflowBackend(Side("tensorflow"))
#: An operation, what it takes and what it returns.
Computed = tuple[Any, Sequence[Any], Sequence[Any]]


def compute(graph: Any, values: dict[str, Any]) -> Iterator[Computed]:
    """Yield what each operation takes and returns, in the order of `Frame.operations`; of a loop the first iteration.

    `values` are those of the graph's inputs, by the names of its tensors; those of the others are put there.
    """
    pending = deque(graph.get_operations())
    while pending:
        operation = pending.popleft()
        if any(tensor.name not in values for tensor in operation.inputs):
            pending.append(operation)  # a loop whose gradient is taken reads lists that are made after it
            continue
        taken = [values[tensor.name] for tensor in operation.inputs]
        if operation.type in graph_values.CALLS:
            returned = yield from call(graph_values.called_graph(operation), taken)
        elif operation.type in graph_values.CHOICES:
            chosen = "then_branch" if bool(taken[0]) else "else_branch"
            returned = yield from call(graph_values.called_graph(operation, chosen), taken[1:])
        elif operation.type in graph_values.LOOPS:
            condition, body = (graph_values.called_graph(operation, name) for name in ("cond", "body"))
            returned, turns = taken, 0
            while bool(finish(call(condition, returned))[0]):
                iteration = call(body, returned)
                returned = finish(iteration) if turns else (yield from iteration)
                turns += 1
        elif operation.type == "Placeholder":
            returned = [values[operation.outputs[0].name]]
        elif operation.type == "IdentityN":  # which takes tensors of several types, unlike any other
            returned = taken
        else:
            returned = results(operation, taken)
            yield operation, taken, returned
        values.update((tensor.name, value) for tensor, value in zip(operation.outputs, returned))


def call(graph: Any, taken: Sequence[Any]) -> Generator[Computed, None, list[Any]]:
    """Yield what each operation of a graph takes and returns that is called, and return what the graph does."""
    values = {place.name: value for place, value in zip(graph.inputs, taken)}
    yield from compute(graph, values)
    return [values[tensor.name] for tensor in graph.outputs]


def finish(computed: Generator[Computed, None, list[Any]]) -> list[Any]:
    """Return what a graph returns, of whose operations nothing is asked."""
    while True:
        try:
            next(computed)
        except StopIteration as stopped:
            result: list[Any] = stopped.value
            return result


def results(operation: Any, taken: Sequence[Any]) -> list[Any]:
    """Return what TensorFlow computes of an operation when it is called by itself."""
    if operation.type == "Const":
        return [tf.constant(tf.make_ndarray(operation.get_attr("value")))]
    own = op_def_registry.get(operation.type)
    names, rest = raw_operators.input_names(own), iter(taken)
    inputs: dict[str, Any] = {}
    for one in own.input_arg:
        if one.number_attr or one.type_list_attr:
            several = operation.get_attr(one.number_attr or one.type_list_attr)
            count = several if one.number_attr else len(several)
            inputs[names[one.name]] = [next(rest) for _ in range(count)]
        else:
            inputs[names[one.name]] = next(rest)
    parameters = raw_operators.parameters(operation.type)
    attributes = {one.name: operation.get_attr(one.name) for one in own.attr if one.name in parameters}
    result = getattr(tf.raw_ops, operation.type)(**inputs, **attributes)
    return [leaf for leaf in tf.nest.flatten(result) if leaf is not None]


def numbers(tensors: Sequence[Any]) -> list[HostValue]:
    """Return the elements of tensors."""
    return [backend.to_host(tensor) for tensor in tensors]


def kept(function: Callable[[], Any]) -> Iterator[RecordedCall]:
    """Trace a function, and yield every operator of its graph that computes."""
    graph = capture.trace(function)
    inputs = {place.name: outside for outside, place in graph.captures}
    frames = dict(graph_values.Frame(graph).operations())
    for operation, taken, returned in compute(graph, inputs):
        if not capture.computes(operation):
            continue
        call = capture.capture_operation(operation, frames[operation])
        if operation.type == graph_values.GATHERS:  # a case has a tensor in the place of a variable, and an axis
            taken = [tf.raw_ops.ReadVariableOp(resource=taken[0], dtype=returned[0].dtype), taken[1], tf.constant(0)]
        if call.case is None:
            yield RecordedCall(call)
            continue
        drawn = "drawn" if operation.type in raw_operators.DRAWING else ""
        looks = [look(backend, one) for one in returned]
        yield RecordedCall(call, numbers(taken), looks, numbers(returned), undecided=drawn)


if __name__ == "__main__":
    main(backend, kept)
