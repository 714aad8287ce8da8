"""A call of a registered operator as a case: arrays by the registry's names, attributes as passed to MXNet."""

from __future__ import annotations

import ast
import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import mxnet as mx
import numpy
from mxnet.base import _LIB, NDArrayHandle, check_call

from opperf.child.backends.common.values import bounds
from opperf.child.backends.mxnet import registry
from opperf.child.backends.mxnet.paths import function_at
from opperf.domain.backend import Unsupported
from opperf.domain.case import Argument, Case, ListOf
from opperf.domain.tensor import ITEM_SIZES, TensorSpec

#: Operators that compute something else in training.
TRAINED = frozenset(
    {"BatchNorm", "BatchNorm_v1", "Dropout", "LeakyReLU", "RNN", "_contrib_BatchNormWithReLU", "_contrib_SyncBatchNorm"}
)


def array_at(address: int) -> Any:
    """Return the array at an address as another array of the same memory, which MXNet frees."""
    copy = NDArrayHandle()
    check_call(_LIB.MXShallowCopyNDArray(NDArrayHandle(address), ctypes.byref(copy)))
    return mx.nd.NDArray(copy)


def spec(array: Any) -> TensorSpec:
    """Return the description of an array and of its values; raises `Unsupported`."""
    description = plain(array)
    return replace(description, range=bounds(array.asnumpy()))


def plain(array: Any) -> TensorSpec:
    """Return the description of an array whatever it holds; raises `Unsupported` for what no case can hold."""
    if array.stype != "default":
        raise Unsupported(f"an array that is {array.stype}")
    name = numpy.dtype(array.dtype).name
    if name not in ITEM_SIZES:
        raise Unsupported(f"an array of {name}")
    return TensorSpec(tuple(array.shape or ()), name)


def case_of(name: str, arrays: Sequence[TensorSpec], attributes: Mapping[str, str], results: Sequence[Any]) -> Case:
    """Return the case of a call; `results` are arrays that it was told to write into.

    Raises `Unsupported` for an operator that no path leads to.
    """
    if name == "Custom":
        raise Unsupported("a custom operator, which needs your code to run")
    signature = registry.signature(name)
    function: Any = function_at(signature.path)
    inputs: dict[str, Argument] = dict(zip(_names(signature, len(arrays)), arrays))
    arguments: dict[str, Argument] = {
        own: _value(text) for own, text in attributes.items() if not _is_default(own, text)
    }
    if name in TRAINED and mx.autograd.is_training():
        arguments["training"] = True
    outputs = [plain(array) for array in results]
    if outputs and not isinstance(function, registry.RegisteredOperator):
        # Inputs of a list go by place, all of them: there `out` can only go by name, as attributes do.
        (arguments if signature.many else inputs)["out"] = outputs[0] if len(outputs) == 1 else ListOf(tuple(outputs))
    elif outputs and function.places is not None and function.places.stop is None:
        inputs.update({f"out{i}": output for i, output in enumerate(outputs)})
    return Case(f"mxnet:{signature.path}", inputs, arguments)


def _names(signature: registry.Signature, count: int) -> list[str]:
    """Return the names of a number of arrays by their places; those of a list are numbered."""
    single = signature.arrays[:-1] if signature.many else signature.arrays
    last = signature.arrays[-1] if signature.many else "array"
    return [*single[:count], *(f"{last}{i}" for i in range(count - len(single)))]


def _is_default(name: str, text: str) -> bool:
    """Whether an attribute is a default, or names the device of the program, which a case leaves open."""
    return name == "ctx" or (name, text) == ("dtype", "None")


def _value(text: str) -> Argument:
    """Return the number, truth value or tuple of such that MXNet spells so; else the text, which it takes as well.

    >>> _value("(5, 5)"), _value("relu"), _value("1e-5")
    ((5, 5), 'relu', '1e-5')
    """
    try:
        value: Any = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    plain = value is None or isinstance(value, (bool, int, float, tuple))
    return value if plain and str(value) == text else text
