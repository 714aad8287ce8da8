"""The nodes of a model in a file, with the values that each computed with in one run on made inputs.

The file's own shapes are of little use: batch and length are often open, and the shape that a `Reshape` makes is the
result of other nodes. So the model is run once, with the result of every node as an output. Constants are no nodes
here: they are inputs of the nodes that use them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from typing import Any

import onnx
from google.protobuf.message import DecodeError, EncodeError
from onnx import checker, helper, inliner

from opperf.child.backends.onnxruntime import graphs, large_graphs
from opperf.child.backends.onnxruntime.node import CONSTANT, IR_VERSION, OPSET, OUTER, OUTPUTS, STANDARD, Node, in_files
from opperf.child.backends.onnxruntime.program import REFUSALS, newest, session
from opperf.child.backends.onnxruntime.specs import DTYPES, NoDescription, array, attribute, describe
from opperf.domain.backend import Unsupported
from opperf.domain.call import CapturedCall
from opperf.domain.case import Argument, Case, ListOf
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, unknown
from opperf.domain.plan import Side
from opperf.domain.tensor import STRING, TensorSpec

#: The operator that makes a constant where it stands.
CONSTANTS = ("", "Constant")


def read(path: str, specs: Mapping[str, TensorSpec], side: Side) -> ModelFile:
    """Read a model; `specs` are inputs by name, in place of those that are made by the shapes in the file.

    Raises `InputError` for a file that is no model, inputs that it does not have, and those that no case can hold.
    """
    try:
        model = onnx.load(path)
    except (DecodeError, OSError, checker.ValidationError) as error:
        raise InputError(f"it cannot be read: {error}", hint="expected an ONNX model") from error
    inlined = inliner.inline_local_functions(model) if model.functions else model
    for one in (*inlined.graph.input, *inlined.graph.output, *inlined.graph.value_info):
        for dim in one.type.tensor_type.shape.dim:
            if dim.dim_value < 0:  # as some converters write a size that is open
                dim.ClearField("dim_value")
    return ModelFile(inlined, specs, side)


@dataclass(frozen=True)
class ModelFile:
    """A model, and what it is to be given."""

    model: Any
    specs: Mapping[str, TensorSpec]
    side: Side
    #: How often nodes run that were within another, as `large_graphs` counts them.
    counts: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.specs:
            if name not in self._open:
                raise unknown("input", name, self._open, hint=f"the model takes {', '.join(self._open)}")

    @cached_property
    def _open(self) -> dict[str, Any]:
        """The inputs that the model must be given, by name, with their types."""
        graph = self.model.graph
        return {one.name: one.type for one in graph.input if one.name not in self._constants}

    @cached_property
    def _constants(self) -> dict[str, Any]:
        """The constants of the model, by name."""
        graph = self.model.graph
        nodes = [node for node in graph.node if _kind(node) == CONSTANTS]
        return {
            **{one.name: one for one in graph.initializer},
            **{node.output[0]: node.attribute[0].t for node in nodes if node.attribute[0].name == "value"},
        }

    @cached_property
    def inputs(self) -> dict[str, TensorSpec]:
        """What the model is given: as the user says, or by the shapes in the file; open sizes are 1."""
        return {name: self._input(name, kind) for name, kind in self._open.items()}

    def _input(self, name: str, kind: Any) -> TensorSpec:
        dtype = _dtype(kind.tensor_type.elem_type) if kind.HasField("tensor_type") else None
        if dtype is None:
            raise InputError(f"its input `{name}` is {_write(kind)}, which opperf cannot generate")
        if name in self.specs:
            return replace(self.specs[name], dtype=dtype)
        if not kind.tensor_type.HasField("shape"):
            raise InputError(f"its input `{name}` has no shape", hint=f"give one: `--input {name}=1x3x224x224`")
        return TensorSpec(tuple(1 if size is None else size for size in _sizes(kind)), dtype)

    @property
    def notes(self) -> list[str]:
        """What the reader should know of the inputs: which sizes were open and are 1."""
        notes = []
        for name, kind in self._open.items():
            if name not in self.specs and None in _sizes(kind):
                open_sizes = ", ".join(dim.dim_param or "?" for dim in kind.tensor_type.shape.dim if not _is_fixed(dim))
                shape = "x".join(map(str, self.inputs[name].shape))
                notes.append(f"input {name}: {open_sizes} set to 1; choose another shape with `--input {name}={shape}`")
        return notes

    def capture_nodes(self, inputs: Mapping[str, Any]) -> list[CapturedCall]:
        """Run the model on inputs that were made, and return each of its nodes.

        Raises `InputError` with what ONNX Runtime says of a model that it does not run.
        """
        try:
            results = self._results(inputs)
        except (*REFUSALS, Unsupported) as error:
            hint = "the input sizes may not fit: set `--input NAME=SHAPE` or `--input NAME=literal:[...]`"
            raise InputError(f"ONNX Runtime cannot run it: {error}", hint=hint) from error
        entered = large_graphs.enter(self.model, self.counts, partial(self._computed, {**inputs, **results}))
        if entered is not None:
            model, counts = entered
            return replace(self, model=model, counts=counts).capture_nodes(inputs)
        values = Values(self._constants, {**inputs, **results})
        return [self._node(node, values) for node in self.model.graph.node if self._is_call(node)]

    def _is_call(self, node: Any) -> bool:
        """Whether a node is one of the model's that computes something."""
        return _kind(node) != CONSTANTS and self.counts.get(large_graphs.key(node), 1) > 0

    def _computed(self, results: Mapping[str, Any], name: str) -> Any:
        """Return the value under a name as an array; None where a run does not expose it."""
        constant = self._constants.get(name)
        return results.get(name) if constant is None else array(constant)

    def running(self, inputs: Mapping[str, Any]) -> Callable[[], object]:
        """Return a function that runs the whole model, its nodes fused as ONNX Runtime sees fit."""
        copy = onnx.ModelProto()
        copy.CopyFrom(self.model)
        copy.ir_version = min(copy.ir_version, IR_VERSION)
        run = session(_bytes(copy), replace(self.side, mode="compiled")).run
        return partial(run, None, dict(inputs))

    def _results(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the results of each node, by their names."""
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        graph = model.graph
        large_graphs.tell_turns(graph)
        names = [name for node in graph.node for name in node.output if name and name not in self._constants]
        for name in ("input", "output", "value_info"):
            graph.ClearField(name)
        graph.input.extend(_value_info(inputs[one.name], one) for one in self.model.graph.input if one.name in inputs)
        graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
        model.ir_version = IR_VERSION
        if not names:
            return {}
        shows = session(_bytes(model), replace(self.side, mode="eager"))
        # NumPy has no bfloat16, and to ask for one such result would cost all of them.
        outputs = [one.name for one in shows.get_outputs() if "bfloat16" not in one.type]
        return dict(zip(outputs, shows.run(outputs, dict(inputs)), strict=True)) if outputs else {}

    def _node(self, node: Any, values: Values) -> CapturedCall:
        """Return a node as a case; its name is where it is from."""
        kind = Node(*_kind(node))
        place = node.name or large_graphs.key(node)
        count = self.counts.get(large_graphs.key(node), 1)
        try:
            case = self._case(kind, node, values)
        except NoDescription as error:
            return CapturedCall(kind.path, None, str(error), place, count=count)
        return CapturedCall(kind.path, case, "", place, count=count)

    def _case(self, kind: Node, node: Any, values: Values) -> Case:
        opset = self._version(kind.domain)
        outer = self._outer(kind, node)
        attributes: dict[str, Argument] = {one.name: attribute(one) for one in _by_place(node, outer).attribute}
        outputs = [bool(name) for name in node.output]
        if not all(outputs):
            attributes[OUTPUTS] = tuple(outputs)
        elif len(outputs) != kind.usual_outputs(opset):
            attributes[OUTPUTS] = len(outputs)
        for name in filter(None, node.output):
            values.describe(name)  # a result that opperf cannot name could not be measured
        names = list(node.input)
        while names and not names[-1]:
            names.pop()
        constant = tuple(place for place, name in enumerate([*names, *outer]) if name in self._constants)
        if constant:
            attributes[CONSTANT] = constant
        inputs = _inputs(kind, opset, [values.describe(name) if name else None for name in names])
        if outer:
            inputs[OUTER] = ListOf(tuple(map(values.describe, outer)))
        return Case(f"onnxruntime:{kind.path}", inputs, {**attributes, OPSET: opset})

    def _version(self, domain: str) -> int:
        """Return which version of a domain's operators the model has."""
        return next((one.version for one in self.model.opset_import if in_files(one.domain) == domain), 1)

    def _outer(self, kind: Node, node: Any) -> list[str]:
        """Return the names of what the graphs of a node use from around it.

        Raises `NoDescription` for graphs that would mean something else in a model of this node alone.
        """
        for domain in sorted(set(map(in_files, graphs.domains(node))) - {kind.domain}):
            if self._version(domain) != newest(domain):
                raise NoDescription(f"a graph with operators of `{domain or STANDARD}` in an older version")
        outer = graphs.outer(node)
        if outer and OUTER not in kind.names(self._version(kind.domain)):
            raise NoDescription("a graph that uses values from around it, in an operator that ONNX does not define")
        return outer


class Values:
    """The values of a model by name: constants, inputs and results; each is described once."""

    def __init__(self, constants: Mapping[str, Any], results: Mapping[str, Any]) -> None:
        self._constants = constants
        self._results = results
        self._described: dict[str, TensorSpec | ListOf] = {}

    def describe(self, name: str) -> TensorSpec | ListOf:
        """Return the description of a value; raises `NoDescription`."""
        if name not in self._described:
            constant = self._constants.get(name)
            self._described[name] = describe(self._results.get(name) if constant is None else array(constant))
        return self._described[name]


def _by_place(node: Any, outer: Sequence[str]) -> Any:
    """Return a node whose graphs call what they use from around it by its place."""
    if not outer:
        return node
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    graphs.rename(copy, {name: graphs.outer_name(place) for place, name in enumerate(outer)})
    return copy


def _inputs(kind: Node, opset: int, values: Sequence[Argument]) -> dict[str, Argument]:
    """Return inputs by the operator's own names; what takes several has a list of those that are left."""
    left = iter(values)
    arguments: dict[str, Argument] = {}
    for formal in kind.formals(opset):
        if formal.option.name == "Variadic":
            arguments[formal.name] = ListOf(tuple(left))
        else:
            arguments[formal.name] = next(left, None)
    arguments |= {f"input{place}": value for place, value in enumerate(left)}
    while arguments and arguments[next(reversed(arguments))] is None:
        arguments.popitem()
    return arguments


def _kind(node: Any) -> tuple[str, str]:
    return in_files(node.domain), node.op_type


def _bytes(model: Any) -> bytes:
    try:
        content: bytes = model.SerializeToString()
    except (EncodeError, ValueError) as error:
        raise InputError(f"a model in one file cannot be larger than 2 GiB ({error})") from error
    return content


def _value_info(value: Any, info: Any) -> Any:
    """Return the declaration of an input: its name and type, with the shape of a tensor."""
    if not info.type.HasField("tensor_type"):
        return info
    return helper.make_tensor_value_info(info.name, info.type.tensor_type.elem_type, value.shape)


def _is_fixed(dim: Any) -> bool:
    return bool(dim.HasField("dim_value"))


def _sizes(kind: Any) -> list[int | None]:
    """Return the shape of a type, None for a size that is open."""
    return [dim.dim_value if _is_fixed(dim) else None for dim in kind.tensor_type.shape.dim]


def _dtype(element: int) -> str | None:
    """Return the name of an element type; None for those that no case holds."""
    if element == onnx.TensorProto.STRING:
        return STRING
    try:
        name = helper.tensor_dtype_to_np_dtype(element).name
    except KeyError:
        return None
    return name if name in DTYPES else None


def _write(kind: Any) -> str:
    """Return a type as people name it."""
    if kind.HasField("tensor_type"):
        return f"a tensor of {onnx.TensorProto.DataType.Name(kind.tensor_type.elem_type).lower()}"
    return f"a {str(kind.WhichOneof('value')).removesuffix('_type')}"
