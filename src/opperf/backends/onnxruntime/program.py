"""A node in a session of ONNX Runtime, with its inputs and outputs bound: what a call runs.

Inputs lie in memory that ONNX Runtime uses as it is, and so do outputs after the first run, so a call converts and
copies nothing: what is timed is the node and the fixed cost of a run. A run has ended when it returns, on a GPU too.

In the mode `compiled`, ONNX Runtime's own default, it may rewrite the graph of this one node, as it does with whole
models: a convolution gets another layout of memory, with nodes around it that change it and back. In `eager` the node
runs as it stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import onnxruntime as ort
from onnx import TensorProto, defs, helper
from onnxruntime.capi import onnxruntime_pybind11_state as state

from opperf.backend import Unsupported
from opperf.backends.onnxruntime.node import OWN, STANDARD, Model, one_file
from opperf.plan import Side

CUDA = "CUDAExecutionProvider"
LEVELS = {
    "eager": ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
    "compiled": ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
}
#: Messages of ONNX Runtime's own from this severity on: errors. They go to stderr.
ERRORS = 3
#: What a model is refused with.
REFUSALS = (state.Fail, state.InvalidArgument, state.InvalidGraph, state.InvalidProtobuf, state.RuntimeException)


class Program:
    """A node that is ready to run; called, it runs once and returns the binding that holds its outputs."""

    def __init__(self, model: Model, side: Side, *, trace: str | None = None) -> None:
        """Make the session; with `trace`, it writes what it runs into a file whose path begins so.

        Raises `Unsupported` for an output that is no tensor.
        """
        self.model = model
        self.session = session(model.content, side, trace=trace)
        kind, _, index = side.device.partition(":")
        # Inputs on a CPU stay where they are, and these hold on to them.
        self._values = {
            name: ort.OrtValue.ortvalue_from_numpy(value, kind, int(index or 0)) for name, value in model.inputs.items()
        }
        self._binding = self.session.io_binding()
        for name, value in self._values.items():
            self._binding.bind_ortvalue_input(name, value)
        for name in model.outputs:
            self._binding.bind_output(name, kind, int(index or 0))
        self._run = self.session.run_with_iobinding
        for output in self.session.get_outputs():
            if not output.type.startswith("tensor("):
                raise Unsupported(f"it returns {output.type}, and opperf measures tensors", slug="no_such_dtype")

    def __call__(self) -> Any:
        """Run the node."""
        self._run(self._binding)
        return self._binding


def session(content: bytes, side: Side, *, trace: str | None = None) -> Any:
    """Return a session of a model; raises `Unsupported` where there is no kernel for a node, else `REFUSALS`."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = side.threads
    options.inter_op_num_threads = 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = LEVELS[side.mode]
    options.log_severity_level = ERRORS
    if trace is not None:
        options.enable_profiling = True
        options.profile_file_prefix = trace
    try:
        return ort.InferenceSession(content, options, providers=_providers(side.device))
    except state.NotImplemented as error:
        raise Unsupported(_told(error), slug="no_such_operator", hint="another `opset` may have it") from error


def _providers(device: str) -> Sequence[Any]:
    kind, _, index = device.partition(":")
    return [(CUDA, {"device_id": index}), "CPUExecutionProvider"] if kind == "cuda" else ["CPUExecutionProvider"]


def _told(error: Exception) -> str:
    """Return what ONNX Runtime says, without the code in front."""
    return str(error).rpartition(" : ")[2].strip() or str(error)


def has_device(side: Side) -> bool:
    """Whether ONNX Runtime can use the device of a side."""
    if side.device == "cpu":
        return True
    return CUDA in ort.get_available_providers() and CUDA in session(_nothing({"": newest("")}), side).get_providers()


@cache
def newest(domain: str) -> int:
    """Return the newest version of a domain's operators that this ONNX Runtime takes; `onnx` may know newer ones."""
    if domain.startswith(OWN):
        return 1
    known = [schema.since_version for schema in defs.get_all_schemas() if schema.domain == domain]
    others: Mapping[str, int] = {"": newest("")} if domain else {}
    for version in range(max(known), 0, -1):
        try:
            session(_nothing({**others, domain: version}), Side("onnxruntime"))
        except (*REFUSALS, Unsupported):
            continue
        return version
    raise Unsupported(f"this ONNX Runtime takes no version of `{domain or STANDARD}`", slug="no_such_operator")


def _nothing(versions: Mapping[str, int]) -> bytes:
    """Return a model that does nothing, in some versions of domains."""
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "nothing", values[:1], values[1:])
    content: bytes = one_file(graph, versions).SerializeToString()
    return content
