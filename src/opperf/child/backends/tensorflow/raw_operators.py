"""TensorFlow's registered operators, `tf.raw_ops`, and cases of them by what the registry says of their inputs.

The registry tells of each input its name and which element types it takes, and of each attribute its default. An input
is a square matrix of floats where nothing else is known of it: by the operator's name, else by its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from inspect import signature
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import op_def_registry

from opperf.child.backends.notation import SIDES, Rule, alike, attributes, inputs, tensor
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
FOREIGN = frozenset({tf.string, tf.resource, tf.variant})
#: What an input is made of where it may be several, best first.
PREFERRED = ("float32", "complex64", "int32", "int64", "bool", "uint8", "int8", "float64", "uint32", "uint64")
#: Inputs by their names; numbers are literal.
INPUTS: Mapping[str, str | tuple[int, ...] | int] = {
    **dict.fromkeys(("axis", "dim", "dimension", "reduction_indices", "concat_dim", "split_dim", "batch_dim"), 0),
    **dict.fromkeys(("k", "n", "num_segments", "depth", "size", "num_rows", "diagonal", "num"), 4),
    **dict.fromkeys(("indices", "segment_ids", "ids", "labels"), "n int32 0..4"),
    "seed": (1, 2),
    "shift": 1,
    "multiples": (2, 2),
    "perm": (1, 0),
    "paddings": "2,2 int32 1..2",
    "begin": (0, 0),
    "num_lower": 1,
    "num_upper": 1,
    "begin_mask": 0,
    "max_output_size": 4,
    "iou_threshold": "()",
    "delta": "() 1..2",
    "start": "()",
    "limit": "() 8..9",
    "stop": "() 8..9",
    "off_value": "()",
    "on_value": "()",
}
#: Attributes that have no default, by their names.
ATTRIBUTES: Mapping[str, Any] = {
    "N": 2,
    "ksize": (1, 2, 2, 1),
    "strides": (1, 2, 2, 1),
    "rates": (1, 1, 1, 1),
    "padding": "VALID",
    "block_size": 2,
    "num_split": 2,
    "num": lambda side: side,
    "mode": "REFLECT",
    "equation": "ij,jk->ik",
    "pooling_ratio": (1.0, 1.5, 1.5, 1.0),
    "seq_dim": 0,
    "shape": lambda side: (side, side),
    "k": 4,
}
IMAGES = "images: 2,n,n,3 | size = (16, 16)"
WINDOW = {"strides": (1, 1, 1, 1), "padding": "VALID"}
WHOLE = {"strides": (1, 1, 1, 1, 1), "padding": "VALID"}
#: Inputs of operators that need others than their names say.
OPERATORS: Mapping[str, Rule] = {
    "Conv2D": ("input: 1,n,n,4 | filter: 3,3,4,8", WINDOW),
    "Conv3D": ("input: 1,8,8,8,4 | filter: 3,3,3,4,8", WHOLE),
    "DepthwiseConv2dNative": ("input: 1,n,n,4 | filter: 3,3,4,1", WINDOW),
    **alike("value: 1,n,n,4", {"ksize": (1, 2, 2, 1), "strides": (1, 2, 2, 1), "padding": "VALID"}, "AvgPool"),
    **alike("input: 1,n,n,4", {"ksize": (1, 2, 2, 1), "strides": (1, 2, 2, 1), "padding": "VALID"}, "MaxPool",
            "MaxPoolWithArgmax"),
    **alike("input: 1,8,8,8,4", {"ksize": (1, 2, 2, 2, 1), "strides": (1, 2, 2, 2, 1), "padding": "VALID"},
            "AvgPool3D", "MaxPool3D"),
    **alike(IMAGES, {}, "ResizeArea", "ResizeBicubic", "ResizeBilinear", "ResizeNearestNeighbor"),
    **alike("input: 2,n,n,4", {"block_size": 2}, "DepthToSpace", "SpaceToDepth"),
    **alike("x: 2,n,n,4 | scale: 4 | offset: 4 | mean: 0 | variance: 0", {}, "FusedBatchNorm", "FusedBatchNormV2",
            "FusedBatchNormV3"),
    "BiasAdd": ("value: n,n | bias: n", {}),
    "Cross": ("a: nn,3 | b: nn,3", {}),
    **alike("images: n,n,3 0..1", {}, "RGBToHSV", "HSVToRGB"),
    **alike("images: n,n,3 | delta: ()", {}, "AdjustHue"),
    **alike("images: n,n,3 | contrast_factor: ()", {}, "AdjustContrastv2"),
    **alike("images: n,n,3 | scale: ()", {}, "AdjustSaturation"),
    "Einsum": ("inputs: [n,n; n,n]", {"equation": "ij,jk->ik"}),
    "Gather": ("params: n,n | indices: n int32 0..8", {}),
    "GatherV2": ("params: n,n | indices: n int32 0..8 | axis = 0", {}),
    "GatherNd": ("params: n,n | indices: n,1 int32 0..8", {}),
    "OneHot": ("indices: n int32 0..8 | depth = 8 | on_value: () | off_value: ()", {}),
    "Reshape": ("tensor: n,n | shape = (-1,)", {}),
    "BroadcastTo": ("input: n | shape = (4, -1)", {}),
    "Fill": ("dims = (64, 64) | value: ()", {}),
    "Range": ("start = 0 | limit = 1024 | delta = 1", {}),
    "LinSpace": ("start: () 0..1 | stop: () 2..3 | num = 1024", {}),
    "Slice": ("input: n,n | begin = (0, 0) | size = (4, 4)", {}),
    "StridedSlice": ("input: n,n | begin = (0, 0) | end = (8, 8) | strides = (2, 2)", {}),
    "Split": ("axis = 0 | value: n,n", {"num_split": 2}),
    "ConcatV2": ("values: [n,n; n,n] | axis = 0", {}),
    "Concat": ("concat_dim = 0 | values: [n,n; n,n]", {}),
    "Unpack": ("value: n,n", {"num": lambda side: side}),
    **alike("input: n,n spd", {}, "Cholesky", "MatrixInverse", "MatrixDeterminant", "MatrixLogarithm",
            "MatrixSquareRoot", "SelfAdjointEigV2"),
    **alike("matrix: n,n spd | rhs: n,n", {}, "MatrixSolve", "MatrixTriangularSolve"),
    "TopKV2": ("input: n,n | k = 4", {}),
    "ArgMax": ("input: n,n | dimension = 0", {}),
    "ArgMin": ("input: n,n | dimension = 0", {}),
    "ReverseV2": ("tensor: n,n | axis = (0,)", {}),
    "Transpose": ("x: n,n | perm = (1, 0)", {}),
    "Pad": ("input: n,n | paddings = ((1, 1), (2, 2))", {}),
    "PadV2": ("input: n,n | paddings = ((1, 1), (2, 2)) | constant_values: ()", {}),
    "MirrorPad": ("input: n,n | paddings = ((1, 1), (2, 2))", {"mode": "REFLECT"}),
    "SparseSoftmaxCrossEntropyWithLogits": ("features: n,n | labels: n int32 0..8", {}),
    "Select": ("condition: n,n bool | x: n,n | y: n,n", {}),
    "SelectV2": ("condition: n,n bool | t: n,n | e: n,n", {}),
    "ClipByValue": ("t: n,n | clip_value_min: () -1..0 | clip_value_max: () 0..1", {}),
    **alike("data: n,n | segment_ids: n int32 0..4 | num_segments = 4", {}, "UnsortedSegmentMax",
            "UnsortedSegmentMin", "UnsortedSegmentProd", "UnsortedSegmentSum"),
    **alike("data: n,n | segment_ids: n int32 sorted 0..4", {}, "SegmentMax", "SegmentMean", "SegmentMin",
            "SegmentProd", "SegmentSum"),
    **alike("tensor: n,n | indices: n,1 int32 0..8 | updates: n,n", {}, "TensorScatterAdd", "TensorScatterMax",
            "TensorScatterMin", "TensorScatterSub", "TensorScatterUpdate"),
    "Bincount": ("arr: nn int32 0..8 | size = 8 | weights: nn", {}),
    "InvertPermutation": ("x = (1, 2, 0)", {}),
}  # fmt: skip


@cache
def definitions() -> Mapping[str, Any]:
    """Return what the registry says of each operator that computes with numbers alone."""
    names = (name for name in dir(tf.raw_ops) if not name.startswith("_"))
    registry = {name: op_def_registry.get(name) for name in names}
    return {name: own for name, own in registry.items() if own is not None and _computes(own)}


def _computes(own: Any) -> bool:
    arguments = (*own.input_arg, *own.output_arg)
    return not (
        own.name.startswith(LEFT_OUT)
        or any(part in own.name for part in LEFT_OUT_PARTS)
        or (own.is_stateful and own.name not in DRAWING)
        or any(one.is_ref or one.type_list_attr or (one.type and tf.as_dtype(one.type) in FOREIGN) for one in arguments)
        or any(one.type == "func" for one in own.attr)
        or 0 < own.deprecation.version <= tf.version.GRAPH_DEF_VERSION  # only old graphs may still have it
    )


def paths() -> list[str]:
    """Return the path of each operator."""
    return [PREFIX + name for name in definitions()]


def resolve(path: str) -> Callable[..., Any]:
    """Return an operator, which takes its inputs by place too; raises `LookupError`."""
    name = path.removeprefix(PREFIX)
    if name not in definitions():
        raise LookupError(path)
    own, names = getattr(tf.raw_ops, name), list(input_names(definitions()[name]).values())

    def call(*arguments: Any, **keywords: Any) -> Any:
        return own(**dict(zip(names, arguments)), **keywords)

    return call


def examples(path: str, size: str) -> list[Case]:
    """Return the case of an operator at a size; none where nothing tells what an attribute may be."""
    name = path.removeprefix(PREFIX)
    if name not in definitions() or size not in SIDES:
        return []
    side = SIDES[size]
    if name in OPERATORS:
        text, values = OPERATORS[name]
        return [Case(f"tensorflow:{path}", inputs(text, side), attributes(values, side))]
    own = definitions()[name]
    types = {one.name: _element_type(one) for one in own.attr if one.type == "type"}
    names = input_names(own)
    arrays = {names[one.name]: _input(one, types, side) for one in own.input_arg}
    from_inputs = {one.type_attr for one in own.input_arg} | {one.number_attr for one in own.input_arg}
    own_attributes = [one for one in own.attr if not one.HasField("default_value") and one.name not in from_inputs]
    others = {one.name: _attribute(one, types, side) for one in own_attributes}
    if None in (*arrays.values(), *others.values()):
        return []
    return [Case(f"tensorflow:{path}", arrays, others)]


def parameters(name: str) -> tuple[str, ...]:
    """Return what Python calls the arguments of an operator, its inputs and attributes."""
    return tuple(signature(getattr(tf.raw_ops, name)).parameters)


def input_names(own: Any) -> dict[str, str]:
    """Return what Python calls the inputs of an operator, by the names that the registry has; a few differ."""
    registry = [one.name for one in own.input_arg]
    python = parameters(own.name)
    usual = {*registry, "name", *(one.name for one in own.attr)}
    others = iter([name for name in python if name not in usual])
    return {name: name if name in python else next(others) for name in registry}


def _element_type(attribute: Any) -> str | None:
    """Return the default of an element type, else the best of those allowed."""
    if attribute.HasField("default_value"):
        return str(tf.as_dtype(attribute.default_value.type).name)
    dtypes = [tf.as_dtype(one).name for one in attribute.allowed_values.list.type]
    return next((name for name in PREFERRED if not dtypes or name in dtypes), None)


def _input(own: Any, types: Mapping[str, str | None], side: int) -> Argument:
    dtype = types.get(own.type_attr) if own.type_attr else tf.as_dtype(own.type).name
    if dtype not in ITEM_SIZES:
        return None
    rule = INPUTS.get(own.name, "n,n")
    if isinstance(rule, str):
        spec = tensor(rule, side)
        spec = TensorSpec(spec.shape, dtype, spec.strides, spec.values, spec.range)
    else:
        shape = () if isinstance(rule, int) else (len(rule),)
        spec = TensorSpec(shape, dtype, literal=(rule,) if isinstance(rule, int) else rule)
    return ListOf((spec, spec)) if own.number_attr else spec


def _attribute(own: Any, types: Mapping[str, str | None], side: int) -> Argument:
    if own.type == "type":
        dtype = types[own.name]
        return None if dtype is None else DType(dtype)
    if own.allowed_values.list.s:
        return str(own.allowed_values.list.s[0].decode())
    usual = ATTRIBUTES.get(own.name, {"int": 1, "float": 1.0, "bool": False}.get(own.type))
    value: Argument = usual(side) if callable(usual) else usual
    return value
