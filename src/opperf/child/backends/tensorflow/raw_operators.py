"""TensorFlow's registered operators, `tf.raw_ops`, and cases of them by what the registry says of their inputs.

The registry tells of each input its name and which element types it takes, and of each attribute its default. An input
is a square matrix of floats where nothing else is known of it: by the operator's name, else by its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from inspect import signature, unwrap
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import kernels, op_def_registry

from opperf.child.backends.naming.notation import SIDES, attributes, inputs, tensor
from opperf.child.backends.naming.paths import Refusal
from opperf.child.backends.tensorflow.raw_rules import ATTRIBUTES, INPUTS, OPERATORS
from opperf.domain.case import Argument, Case, DType, ListOf
from opperf.domain.tensor import ITEM_SIZES, TensorSpec

#: How the path of an operator begins.
PREFIX = "tf.raw_ops."
#: What operators are named like that end the process, open a file, wait for a step of a graph, or need a TPU.
LEFT_OUT = (
    "Abort", "Assert", "BoostedTrees", "CheckPinned", "Const", "ControlTrigger", "Copy", "Cudnn", "Debug", "Enter",
    "Exit", "FakeParam", "ImmutableConst", "LoopCond", "Merge", "NextIteration", "NoOp", "Placeholder", "Sdca",
    "Switch", "TPU", "Unbatch", "Xla",
)  # fmt: skip
LEFT_OUT_PARTS = ("SparseCore",)
#: Operators with a state that does no more than make the next numbers.
DRAWING = (
    "Multinomial", "ParameterizedTruncatedNormal", "RandomGamma", "RandomPoissonV2", "RandomShuffle",
    "RandomStandardNormal", "RandomUniform", "RandomUniformInt", "TruncatedNormal",
)  # fmt: skip
#: Element types that no tensor of opperf has.
FOREIGN = frozenset({tf.string, tf.resource, tf.variant, tf.qint8, tf.quint8, tf.qint16, tf.quint16, tf.qint32})
#: What an input is made of where it may be several, best first.
PREFERRED = ("float32", "complex64", "int32", "int64", "bool", "uint8", "int8", "float64", "uint32", "uint64")


@cache
def definitions() -> Mapping[str, Any]:
    """Return the registry's definition of each operator that computes with numbers alone."""
    registry = {name: op_def_registry.get(name) for name in dir(tf.raw_ops) if not name.startswith("_")}
    return {name: own for name, own in registry.items() if own is not None and _refusal(own) is None}


def _refusal(definition: Any) -> str | None:
    """Say why an operator is not measured; None for one that computes with numbers alone."""
    arguments = (*definition.input_arg, *definition.output_arg)
    if definition.name.startswith(LEFT_OUT) or any(part in definition.name for part in LEFT_OUT_PARTS):
        return "it ends the process, opens a file, belongs to a graph, or needs another device"
    if any(one.is_ref for one in arguments) or (definition.is_stateful and definition.name not in DRAWING):
        return "it keeps a state, or reads or writes more than its inputs and outputs"
    if any(one.type == "func" for one in definition.attr):
        return "it calls a function that is passed to it"
    if any(one.type_list_attr or _types(definition, one) <= FOREIGN for one in arguments):
        return "it takes or returns text, quantized numbers or objects, and opperf makes tensors of numbers"
    if 0 < definition.deprecation.version <= tf.version.GRAPH_DEF_VERSION:
        return "TensorFlow supports it only in old graphs"
    return None if _kernels(definition.name) else "TensorFlow has no kernel of it for a CPU or a GPU"


@cache
def _kernels(name: str) -> list[Any]:
    """Return the kernels that are registered for an operator; XLA adds its own when it is first used."""
    return [one for one in kernels.get_registered_kernels_for_op(name).kernel if one.device_type in ("CPU", "GPU")]


def _types(definition: Any, argument: Any) -> frozenset[Any]:
    """Return which element types an input or output may have, as far as that is limited."""
    if argument.type:
        return frozenset({tf.as_dtype(argument.type)})
    attribute = next(one for one in definition.attr if one.name == argument.type_attr)
    return _limits(definition, attribute) or frozenset({tf.float32})


def _limits(own: Any, attribute: Any) -> frozenset[Any]:
    """Return which values an element type may have, to the operator and to one of its kernels; none for any."""
    constraints = [one for kernel in _kernels(own.name) for one in kernel.constraint if one.name == attribute.name]
    by_kernels = {tf.as_dtype(one) for constraint in constraints for one in constraint.allowed_values.list.type}
    by_operator = {tf.as_dtype(one) for one in attribute.allowed_values.list.type}
    return frozenset(by_operator & by_kernels or by_operator or by_kernels)


def paths() -> list[str]:
    """Return the path of each operator."""
    return [PREFIX + name for name in definitions()]


def resolve(path: str) -> Callable[..., Any]:
    """Return an operator, which takes its inputs by place too; raises `LookupError`, or `Refusal`."""
    name = path.removeprefix(PREFIX)
    if name not in definitions():
        own = op_def_registry.get(name) if hasattr(tf.raw_ops, name) else None
        raise LookupError(path) if own is None else Refusal(path, str(_refusal(own)))
    function: Callable[..., Any] = unwrap(getattr(tf.raw_ops, name))  # what is around it refuses inputs by place
    return function


def examples(path: str, size: str) -> list[Case]:
    """Return the case of an operator at a size; none where nothing tells what an attribute may be."""
    name = path.removeprefix(PREFIX)
    if name not in definitions() or size not in SIDES:
        return []
    side = SIDES[size]
    if name in OPERATORS:
        text, values = OPERATORS[name]
        return [Case(f"tensorflow:{path}", inputs(text, side), attributes(values, side))]
    definition = definitions()[name]
    types = {one.name: _element_type(definition, one) for one in definition.attr if one.type == "type"}
    names = input_names(definition)
    arrays = {names[one.name]: _input(one, types, side) for one in definition.input_arg}
    from_inputs = {name for one in definition.input_arg for name in (one.type_attr, one.number_attr)}
    required = [one for one in definition.attr if not one.HasField("default_value") and one.name not in from_inputs]
    others = {one.name: _attribute(one, types, side) for one in required}
    if None in (*arrays.values(), *others.values()):
        return []
    return [Case(f"tensorflow:{path}", arrays, others)]


def parameters(name: str) -> tuple[str, ...]:
    """Return the names in Python of an operator's arguments, inputs and attributes."""
    return tuple(signature(getattr(tf.raw_ops, name)).parameters)


def input_names(definition: Any) -> dict[str, str]:
    """Return the names in Python of an operator's inputs, by those of the registry; a few differ."""
    registry = [one.name for one in definition.input_arg]
    python = parameters(definition.name)
    usual = {*registry, "name", *(one.name for one in definition.attr)}
    others = iter([name for name in python if name not in usual])
    return {name: name if name in python else next(others) for name in registry}


def _element_type(definition: Any, attribute: Any) -> str | None:
    """Return the default of an element type, else the best of those allowed."""
    if attribute.HasField("default_value"):
        return str(tf.as_dtype(attribute.default_value.type).name)
    dtypes = {one.name for one in _limits(definition, attribute)}
    return next((name for name in PREFERRED if not dtypes or name in dtypes), None)


def _input(argument: Any, types: Mapping[str, str | None], side: int) -> Argument:
    dtype = types.get(argument.type_attr) if argument.type_attr else tf.as_dtype(argument.type).name
    if dtype not in ITEM_SIZES:
        return None
    rule = INPUTS.get(argument.name, "n,n")
    if isinstance(rule, str):
        spec = tensor(rule, side)
        spec = TensorSpec(spec.shape, dtype, spec.strides, spec.values, spec.range)
    else:
        shape = () if isinstance(rule, int) else (len(rule),)
        spec = TensorSpec(shape, dtype, literal=(rule,) if isinstance(rule, int) else rule)
    return ListOf((spec, spec)) if argument.number_attr else spec


def _attribute(attribute: Any, types: Mapping[str, str | None], side: int) -> Argument:
    if attribute.type == "type":
        dtype = types[attribute.name]
        return None if dtype is None else DType(dtype)
    if attribute.allowed_values.list.s:
        return str(attribute.allowed_values.list.s[0].decode())
    usual = ATTRIBUTES.get(attribute.name, {"int": 1, "float": 1.0, "bool": False}.get(attribute.type))
    value: Argument = usual(side) if callable(usual) else usual
    return value
