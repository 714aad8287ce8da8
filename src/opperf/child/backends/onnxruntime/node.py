"""One ONNX node as a separate model, and how a case describes it.

An operator is named by its domain and type, as in `ai.onnx.Conv`. What else makes a node stands among the attributes of
a case, beside those of the operator itself:

* `opset` is the version of the domain's operators; without it, the newest that ONNX Runtime takes.
* `outputs` is how many outputs are asked for, or for each whether it is; without it, those that there always are.
* `constant` are the places of inputs that the model holds as constants, counted from 0: ONNX Runtime prepares these
  once, as it packs the weights of a matrix product.

Inputs go by ONNX's own names. One that takes several is a list of them, and so is a sequence; one that is left out is
null. Beside them, `outer` is a list of what the graphs among the attributes use from around the node, where they are
called `outer:0`, `outer:1` and so on.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from onnx import AttributeProto, GraphProto, defs, helper, numpy_helper

from opperf.child.backends.onnxruntime import graphs
from opperf.domain.case import Graph
from opperf.domain.dataclass import dataclass

#: How a path names the domain of ONNX's own operators, which a file leaves empty.
STANDARD = "ai.onnx"
#: Where ONNX Runtime adds operators: this domain and those below it, which nobody but itself has a list of, and among
#: ONNX's own, the names that exported models have.
OWN = "com.microsoft"
CONTRIB = ("SimplifiedLayerNormalization",)
#: The attributes of a case that are not the operator's.
OPSET, OUTPUTS, CONSTANT = "opset", "outputs", "constant"
#: The input of a case that holds what the graphs of an operator use from around it.
OUTER = "outer"
#: The version of the file format, which every ONNX Runtime since 1.18 reads, as it does not all that `onnx` writes.
IR_VERSION = 10


@dataclass(frozen=True)
class Model:
    """A node as a model: its bytes, the inputs that a run is given, and the names of its outputs."""

    content: bytes
    inputs: Mapping[str, Any]
    outputs: Sequence[str]
    opset: int


@dataclass(frozen=True)
class Node:
    """An operator of ONNX, or of ONNX Runtime's own; `domain` as files write it, empty for the standard one."""

    domain: str
    op_type: str

    @classmethod
    def at(cls, path: str) -> Node:
        """Return the operator at a path; raises `LookupError`."""
        domain, _, op_type = path.rpartition(".")
        node = cls(in_files(domain), op_type)
        if not domain or not op_type.isidentifier():
            raise LookupError(path)
        if domain.startswith(OWN) or (not node.domain and op_type in CONTRIB) or defs.has(op_type, node.domain):
            return node
        raise LookupError(path)

    @property
    def path(self) -> str:
        """How users write it, as `ai.onnx.Conv`."""
        return f"{self.domain or STANDARD}.{self.op_type}"

    @property
    def __signature__(self) -> inspect.Signature:
        """The inputs in their order, by the newest definition."""
        names = self.names(None)
        return inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])

    def __call__(self, *inputs: Any, **attributes: Any) -> Any:
        """Refuse: it runs in a session that is made for its inputs."""
        raise TypeError(f"`{self.path}` runs only inside a session")

    def schema(self, opset: int | None) -> Any:
        """Return its definition in a version of its domain, or the newest; None where ONNX has none."""
        try:
            if opset is None:
                return defs.get_schema(self.op_type, self.domain)
            return defs.get_schema(self.op_type, opset, self.domain)
        except defs.SchemaError:
            return None

    def formals(self, opset: int | None) -> Sequence[Any]:
        """Return the inputs of its definition."""
        schema = self.schema(opset)
        return () if schema is None else tuple(schema.inputs)

    def names(self, opset: int | None) -> list[str]:
        """Return the names of its inputs in a case, in their order."""
        schema = self.schema(opset)
        attributes = () if schema is None else schema.attributes.values()
        runs_graphs = any(formal.type.value == AttributeProto.GRAPH for formal in attributes)
        return [formal.name for formal in self.formals(opset)] + [OUTER] * runs_graphs

    def usual_outputs(self, opset: int | None) -> int:
        """Return how many outputs there always are, at least one."""
        schema = self.schema(opset)
        return max(1, 0 if schema is None else schema.min_output)

    def model(self, inputs: Sequence[Any], keywords: Mapping[str, Any], newest: Callable[[str], int]) -> Model:
        """Return the model of this node alone, with what a case gives.

        `inputs` are those that go by place, lists for several and for sequences; `keywords` the others and attributes.
        `newest` tells the version of a domain. Raises `TypeError` or `ValueError` for an attribute of another kind.
        """
        attributes = dict(keywords)
        opset = int(attributes.pop(OPSET, None) or newest(self.domain))
        choices = _flags(attributes.pop(OUTPUTS, None) or self.usual_outputs(opset))
        fixed = _places(attributes.pop(CONSTANT, None))
        values, outer = self._values(opset, inputs, attributes)
        # Names inside graphs must differ from these.
        names = ["" if value is None else f"in:{place}" for place, value in enumerate(values)]
        around = [graphs.outer_name(place) for place in range(len(outer))]
        places = [*names, *around]
        arrays = {name: _arrays(value) for name, value in zip(places, [*values, *outer]) if name}
        constants = {places[place] for place in fixed if place < len(places) and _is_array(arrays.get(places[place]))}
        if len(constants) == len(arrays):
            constants.clear()  # of constants alone the result would be one too
        outputs = [f"out:{place}" if choice else "" for place, choice in enumerate(choices)]
        node = helper.make_node(self.op_type, names, outputs, name=self.op_type, domain=self.domain)
        schema = self.schema(opset)
        node.attribute.extend(_attribute(name, value, schema) for name, value in attributes.items())
        graph = helper.make_graph(
            [node],
            self.op_type,
            [_info(name, value) for name, value in arrays.items() if name not in constants],
            [helper.make_empty_tensor_value_info(name) for name in outputs if name],
            [numpy_helper.from_array(value, name) for name, value in arrays.items() if name in constants],
        )
        others = {domain: newest(domain) for domain in map(in_files, graphs.domains(node))}
        versions = {"": newest(""), **others, self.domain: opset}
        content = one_file(graph, versions).SerializeToString()
        free = {name: value for name, value in arrays.items() if name not in constants}
        return Model(content, free, [name for name in outputs if name], opset)

    def _values(self, opset: int, inputs: Sequence[Any], attributes: dict[str, Any]) -> tuple[list[Any], Sequence[Any]]:
        """Return inputs one by one, without those behind the last that is there, and what graphs use from around.

        Those that do not go by place are taken out of `attributes`.
        """
        names, formals = self.names(opset), self.formals(opset)
        values = [*inputs, *(attributes.pop(name, None) for name in names[len(inputs) :])]
        outer = values.pop() if OUTER in names and len(values) == len(names) else None
        result: list[Any] = []
        for place, value in enumerate(values):
            several = place >= len(formals) or formals[place].option.name == "Variadic"
            result.extend(value if several and isinstance(value, (list, tuple)) else [value])
        while result and result[-1] is None:
            result.pop()
        return result, outer or ()


def in_files(domain: str) -> str:
    """Return a domain as files write it: the standard one is empty."""
    return "" if domain == STANDARD else domain


def paths() -> list[str]:
    """Return every operator that ONNX defines, by path."""
    return sorted({Node(schema.domain, schema.name).path for schema in defs.get_all_schemas()})


def one_file(graph: Any, versions: Mapping[str, int]) -> Any:
    """Return a graph as a model that ONNX Runtime reads, with the versions of its domains."""
    imports = [helper.make_opsetid(domain, version) for domain, version in versions.items()]
    return helper.make_model(graph, opset_imports=imports, ir_version=IR_VERSION)


def _flags(outputs: Any) -> Sequence[bool]:
    return [True] * int(outputs) if isinstance(outputs, int) else [bool(choice) for choice in outputs]


def _places(constant: Any) -> Sequence[int]:
    """Return places, of which there may be one, several or none."""
    if constant is None:
        return ()
    return (constant,) if isinstance(constant, int) else tuple(constant)


def _arrays(value: Any) -> Any:
    return list(map(np.asarray, value)) if isinstance(value, (list, tuple)) else np.asarray(value)


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _info(name: str, value: Any) -> Any:
    """Return the declaration of an input, its name and type; raises `ValueError` for a sequence of nothing."""
    if isinstance(value, list):
        if not value:
            raise ValueError("an empty sequence has no element type")
        element = helper.np_dtype_to_tensor_dtype(value[0].dtype)
        return helper.make_tensor_sequence_value_info(name, element, None)
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)


def _attribute(name: str, value: Any, schema: Any) -> Any:
    """Return an attribute of the kind that is declared: a whole number may stand for a fraction."""
    attribute = schema.attributes.get(name) if schema is not None else None
    kind = None if attribute is None else attribute.type.value
    if isinstance(value, np.ndarray):
        value = numpy_helper.from_array(value, name)
    elif isinstance(value, Graph):
        value = _graph(value, name)
    elif kind == AttributeProto.FLOAT:
        value = float(value)
    elif kind == AttributeProto.FLOATS:
        value = [float(one) for one in value]
    elif kind == AttributeProto.INTS and isinstance(value, int):
        value = [value]
    return helper.make_attribute(name, value, attr_type=kind)


def _graph(graph: Graph, name: str) -> Any:
    """Return a graph; raises `ValueError` for bytes that are none."""
    try:
        return GraphProto.FromString(graph.content)
    except DecodeError as error:
        raise ValueError(f"`{name}` is no graph of ONNX: {error}") from error
