"""Which operators a function runs, read from the graph that TensorFlow traces of it.

The function is traced as a whole by `tf.function`, a Keras model and a gradient with it: Python code of one call, whose
tensors have shapes and no values. Constants are known. Integers that the program computes, and dimensions that a
function leaves open, are read from a run of the graph (`graph_values.py`): they decide what an operator does. What
reads, writes or names a variable is no operator here: a case has tensors in its place. Programs within programs are
entered, and so are the branch that is taken and the first iteration of a loop. A list of tensors, which a loop reads
from and writes to, is no argument of a case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import tensorflow as tf

from opperf.child.backends.common.values import bounds
from opperf.child.backends.tensorflow import raw_operators
from opperf.child.backends.tensorflow.graph_values import CALLS, ENTERED, GATHERS, LOOPS, PLACES, Frame, Unknown
from opperf.child.backends.tensorflow.programs import REFUSALS
from opperf.domain.backend import Unsupported
from opperf.domain.call import CapturedCall
from opperf.domain.case import Argument, Case, DType, ListOf
from opperf.domain.tensor import ITEM_SIZES, MOST_LITERAL, TensorSpec

#: Operators of a graph that compute nothing: what they return is there already.
STILL = frozenset({"Const", "Placeholder", "Identity", "IdentityN", "NoOp", "ReadVariableOp", "StopGradient"})
#: What tells one operation from others of its name.
_NUMBER = re.compile(r"_\d+(?=/|$)")
_LOOP = re.compile(r"(.*?/)?while/")
#: Elements of a constant that a case holds, at most.
MOST_ELEMENTS = 64


def of_call(function: Callable[[], Any]) -> list[CapturedCall]:
    """Trace a function and return every operator of its graph, in forward and backward, in order."""
    frame = Frame(trace(function))
    return [capture_operation(one, place) for one, place in frame.operations() if computes(one)]


def trace(function: Callable[[], Any]) -> Any:
    """Return the graph of a function; raises `Unsupported` where it asks for the value of a tensor."""
    try:
        return tf.function(function, autograph=False).get_concrete_function().graph
    except REFUSALS as error:
        raise reads_values(error) from error


def reads_values(error: Exception) -> Unsupported:
    """Return the refusal of a function that asks for the value of a tensor while it is traced."""
    return Unsupported(
        f"it reads a tensor, which tracing does not allow: {str(error).partition(chr(10))[0]}",
        slug="no_capture",
        hint="return the tensor, and read it outside the function",
    )


def computes(operation: Any) -> bool:
    """Whether an operation computes something of tensors, rather than naming, reading or writing one."""
    return operation.type not in STILL and not operation.type.startswith(("VarHandle", "Assign"))


def capture_operation(operation: Any, frame: Frame) -> CapturedCall:
    """Return an operation as a call with its case, or with the reason why it has none."""
    frames = [*_outer_frames(frame)]
    names = [*(_scope(one.call) for one in frames if one.call.type not in CALLS), operation.name]
    words = (word for name in names for word in name.split("/")[:-1])
    scopes = [word for word in dict.fromkeys(words) if not word.startswith("gradient")]
    backward = any(name.startswith("gradient") for name in names)
    try:
        case, why = _case(operation, frame), ""
    except Unsupported as error:
        case, why = None, str(error)
    return CapturedCall(
        f"tf.raw_ops.{operation.type}", case, why, ".".join(scopes), backward=backward, count=frame.count
    )


def _scope(call: Any) -> str:
    """Return how the names begin of what a loop or a condition runs; a gradient stands beside its loop, not in it."""
    return str(call.name) if call.name.endswith("_grad") else f"{call.name}/"


def _outer_frames(frame: Frame) -> Iterator[Frame]:
    """Yield the frames that were entered, the outermost first."""
    if frame.outer is not None:
        yield from _outer_frames(frame.outer)
        yield frame


def _case(operation: Any, frame: Frame) -> Case:
    if operation.type == GATHERS:
        return _gather(operation, frame)
    if operation.type in ENTERED:
        _say_why(operation, frame)
    for tensor in (*operation.inputs, *operation.outputs):
        if tensor.dtype == tf.variant:
            raise Unsupported(f"`{_list_name(tensor, frame)}` is a list of tensors, or another variant")
    definition = raw_operators.definitions().get(operation.type)
    if definition is None:
        raise Unsupported("it keeps a state, or computes nothing with numbers")
    names, tensors = raw_operators.input_names(definition), iter(operation.inputs)
    arrays: dict[str, Argument] = {}
    for argument in definition.input_arg:
        if argument.number_attr:
            count = operation.get_attr(argument.number_attr)
            arrays[names[argument.name]] = ListOf(tuple(_spec(next(tensors), frame) for _ in range(count)))
        else:
            arrays[names[argument.name]] = _spec(next(tensors), frame, mask=operation.type == PLACES)
    of_inputs = {name for argument in definition.input_arg for name in (argument.type_attr, argument.number_attr)}
    attributes = {
        attribute.name: _attribute(operation.get_attr(attribute.name))
        for attribute in definition.attr
        if attribute.name not in of_inputs and attribute.name in raw_operators.parameters(operation.type)
    }
    return Case(f"tensorflow:{raw_operators.PREFIX}{operation.type}", arrays, attributes)


def _list_name(tensor: Any, frame: Frame) -> str:
    """Return how a reason calls a list of tensors; those that a loop keeps for its gradient by the loop alone."""
    scope = "" if frame.call is None or frame.call.type not in LOOPS else _scope(frame.call)
    name = _NUMBER.sub("", scope if _LOOP.match(scope) else tensor.op.name)
    loop = _LOOP.match(name)
    return name if loop is None else f"{loop[0]}..."


def _say_why(operation: Any, frame: Frame) -> None:
    """Raise `Unsupported` with the reason why a condition or a loop is not entered."""
    try:
        frame.within(operation)
    except Unknown as error:
        raise Unsupported(f"it is not entered: {error}") from error


def _gather(operation: Any, frame: Frame) -> Case:
    """Return an operator that takes rows of a variable as the one that takes them of a tensor."""
    variable, indices = operation.inputs
    dtype = str(operation.get_attr("dtype").name)
    if dtype not in ITEM_SIZES:
        raise Unsupported(f"rows of a variable of {dtype}")
    try:
        shape = frame.shape(variable)
    except Unknown as error:
        raise Unsupported(f"rows of a variable: {error}") from error
    arrays = {
        "params": TensorSpec(shape, dtype),
        "indices": _spec(indices, frame),
        "axis": TensorSpec((), "int32", literal=(0,)),
    }
    own = {"batch_dims": _attribute(operation.get_attr("batch_dims"))}
    return Case(f"tensorflow:{raw_operators.PREFIX}GatherV2", arrays, own)


def _spec(tensor: Any, frame: Frame, *, mask: bool = False) -> TensorSpec:
    """Return the description of an input; of a constant, of integers and of a mask, what is known of its values."""
    dtype = str(tensor.dtype.name)
    if dtype not in ITEM_SIZES:
        raise Unsupported(f"an input of {dtype}, {tensor.shape}")
    try:
        shape = frame.shape(tensor)
    except Unknown as error:
        raise Unsupported(f"an input of {dtype}, {tensor.shape}: {error}") from error
    value = _value(tensor, frame)
    if value is None and (tensor.dtype.is_integer or mask):
        with suppress(Unknown):
            value = frame.value(tensor).numpy()
    if value is None:
        return TensorSpec(shape, dtype)
    value = np.asarray(value)
    if value.size and value.size <= (MOST_LITERAL if mask else MOST_ELEMENTS) and value.dtype.kind in "iufb":
        return TensorSpec(shape, dtype, literal=tuple(value.ravel().tolist()))
    return TensorSpec(shape, dtype, range=bounds(value))


def _value(tensor: Any, frame: Frame) -> Any:
    """Return the value of a tensor that is known while a graph is made, None for another."""
    if tensor.op.type == "ShapeN":  # of which TensorFlow itself does not tell
        shape = tensor.op.inputs[tensor.value_index].shape
        return shape.as_list() if shape.is_fully_defined() else None
    return frame.constant(tensor)


def _attribute(value: Any) -> Argument:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, tf.DType):
        return DType(str(value.name))
    if isinstance(value, tf.TensorShape) and value.rank is not None:
        return tuple(value.as_list())
    if isinstance(value, list):
        return tuple(_attribute(one) for one in value)
    if isinstance(value, (bool, int, float, str)):
        return value
    raise Unsupported(f"an attribute that is {type(value).__name__}")
