"""The original's operators on arrays: its names and its defaults, where they are not the catalog's.

Every other operator of the catalog is here too, under its own name in capitals (`LogSumExp` is `Logsumexp`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import mxnet as mx

from opperf.catalog import catalog
from opperf.child.backends.binding import Call, bindings
from opperf.child.backends.mxnet.custom_add_one import NAME
from opperf.compat.dl_operator_benchmark.benchmark import BenchmarkSpec
from opperf.compat.dl_operator_benchmark.layers import fill_parameter
from opperf.compat.dl_operator_benchmark.spelling import Spelling
from opperf.compat.in_process import InProcess, Subject
from opperf.domain.dataclass import dataclass

#: Where the catalog writes into its first input, as the original calls it.
IN_PLACE = {"lhs": "this", "rhs": "other"}
SORTED = (1024, 1000)


@dataclass(frozen=True)
class InPlaceFunction(Spelling):
    """An operator for which MXNet has a sign of Python alone, as `%=`; it may write into its first array."""

    function: Callable[..., Any] = operator.imod

    def subject(self, here: InProcess, parameters: Mapping[str, Any], context: Any) -> Subject:
        """Return the subject: nothing flows back through what is overwritten."""
        arrays = super().subject(here, parameters, context).bound.arguments
        return here.of_function(self.function, arrays, differentiable=())


def original() -> dict[str, BenchmarkSpec]:
    """Return the original's classes on arrays."""
    result: dict[str, BenchmarkSpec] = {}
    for name, (neutral, path) in {
        "Add": ("add", "nd.add"),
        "Subtract": ("subtract", "nd.subtract"),
        "Multiply": ("multiply", "nd.multiply"),
        "Divide": ("divide", "nd.divide"),
        "Modulo": ("remainder", "nd.modulo"),
        "Negative": ("negative", "nd.negative"),
        "Lesser": ("less", "nd.lesser"),
        "LesserEqual": ("less_equal", "nd.lesser_equal"),
        "Greater": ("greater", "nd.greater"),
        "GreaterEqual": ("greater_equal", "nd.greater_equal"),
        "Equal": ("equal", "nd.equal"),
        "NotEqual": ("not_equal", "nd.not_equal"),
        "LogicalAnd": ("logical_and", "nd.logical_and"),
        "LogicalOr": ("logical_or", "nd.logical_or"),
        "LogicalXor": ("logical_xor", "nd.logical_xor"),
        "Log": ("log", "nd.log"),
        "Exp": ("exp", "nd.exp"),
    }.items():
        result[name] = Spelling(neutral, words_of(name), path, backward=True)
    for name, neutral in (("LogicalNot", "logical_not"), ("Sqrt", "sqrt"), ("Square", "square")):
        result[name] = Spelling(neutral, words_of(name), f"nd.{neutral}", backward=True, filled="data_initializer")
    result["Power"] = Spelling("power", "Power", "nd.power", {"lhs": "base", "rhs": "exp"}, backward=True)
    for name, neutral, key in (
        ("IAdd", "add_inplace", "Inplace_Add"),
        ("ISub", "subtract_inplace", "Inplace_Subtract"),
        ("IMul", "multiply_inplace", "Inplace_Multiply"),
        ("IDiv", "divide_inplace", "Inplace_Division"),
    ):
        result[name] = Spelling(neutral, key, words=IN_PLACE, backward=False)
    # What is left of a division is left of it again: nothing piles up, and nothing need be put back.
    result["IMod"] = InPlaceFunction("remainder", "Inplace_Modulo", "nd.modulo", IN_PLACE, backward=False)
    return {**result, **_create(), **_multiply(), **_sort(), "CustomOpElementwiseAdd": CustomAddition()}


def _create() -> dict[str, BenchmarkSpec]:
    square = {"shape": (1024, 1024)}
    numbers = {"start": 1, "stop": 100, "step": 1.0, "repeat": 10}
    return {
        "Zeros": Spelling("zeros", "Zeros", "nd.zeros", attributes=square),
        "Ones": Spelling("ones", "Ones", "nd.ones", attributes=square),
        "ZerosLike": Spelling("zeros_like", "Zeros_Like", "nd.zeros_like"),
        "OnesLike": Spelling("ones_like", "Ones_Like", "nd.ones_like"),
        "Full": Spelling("full", "Full", "nd.full", attributes={**square, "val": 1.0}),
        "Arange": Spelling("arange", "Arange", "nd.arange", attributes=numbers),
    }


def _multiply() -> dict[str, BenchmarkSpec]:
    flags = {"transpose_a": False, "transpose_b": False, "forward_stype": None}
    plain = {"lhs": (1024, 1024), "rhs": (1024, 1000), **flags}
    batch = {"lhs": (32, 1024, 1024), "rhs": (32, 1024, 1000), **flags}
    return {
        "Dot": Spelling("matmul", "Dot", "nd.dot", attributes=plain, backward=True),
        "BatchDot": Spelling("batch_matmul", "Batch_Dot", "nd.batch_dot", attributes=batch, backward=True),
    }


def _sort() -> dict[str, BenchmarkSpec]:
    order = {"data": SORTED, "axis": -1, "is_ascend": True}
    both = "Forward_Backward"
    most = {"data": SORTED, "axis": -1, "k": 10, "ret_typ": "indices", "is_ascend": True}
    place = {"data": SORTED, "axis": -1, "keepdims": False}
    return {
        "Sort": Spelling("sort", "Sort", "nd.sort", attributes=order, backward=False),
        "ArgSort": Spelling("argsort", "ArgSort", "nd.argsort", attributes=order, backward=False),
        "TopK": Spelling("topk", "TopK", "nd.topk", attributes=most, backward=False, always=both),
        "ArgMax": Spelling("argmax", "ArgMax", "nd.argmax", attributes=place, backward=False, always=both),
        "ArgMin": Spelling("argmin", "ArgMin", "nd.argmin", attributes=place, backward=False, always=both),
    }


def operator_classes() -> dict[str, BenchmarkSpec]:
    """Return the classes of all operators on arrays: those of the catalog that MXNet has, and the original's."""
    by_name = bindings("mxnet")
    specs: dict[str, BenchmarkSpec] = {
        class_name(name): Spelling(name, "_".join(part.title() for part in name.split("_")))
        for name in catalog()
        if isinstance(by_name.get(name), Call)
    }
    return {**specs, **original()}


def class_name(name: str) -> str:
    """Return the name of an operator's class.

    >>> class_name("log_softmax"), class_name("conv2d")
    ('LogSoftmax', 'Conv2D')
    """
    return "".join(part.title() for part in name.split("_"))


def words_of(name: str) -> str:
    """Return the name of a class with its words apart, as the original's keys have them.

    >>> words_of("LesserEqual"), words_of("Add")
    ('Lesser_Equal', 'Add')
    """
    return "".join(f"_{char}" if char.isupper() and place else char for place, char in enumerate(name))


@dataclass(frozen=True)
class CustomAddition:
    """A custom operator among native ones."""

    summary: str = "a custom operator that adds one, between three native additions before and three after"

    def key(self, parameters: Mapping[str, Any], direction: str) -> str:
        """Return the key of a result."""
        return f"MX_CustomOp_Elementwise_Add_{direction.title()}_Time"

    def parameters(self) -> dict[str, Any]:
        """Return the shape and how it is filled."""
        return {"data": (1000, 1), "data_initializer": mx.nd.normal, "run_backward": True, "dtype": "float32"}

    def subject(self, here: InProcess, parameters: Mapping[str, Any], context: Any) -> Subject:
        """Return the subject."""
        return here.of_function(add_seven, [fill_parameter(here, "data", parameters, context)])


def add_seven(data: Any) -> Any:
    """Return data to which one was added seven times, the fourth time by the custom operator."""
    return mx.nd.Custom(data + 1 + 1 + 1, op_type=NAME) + 1 + 1 + 1
