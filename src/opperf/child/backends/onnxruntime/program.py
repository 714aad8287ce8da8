"""A node in a session of ONNX Runtime, with its inputs and outputs bound: what a call runs.

Inputs lie in memory that ONNX Runtime uses as it is, and so do outputs after the first run, so a call converts and
copies nothing: what is timed is the node and the fixed cost of a run. A run has ended when it returns, on a GPU too.

In the mode `compiled`, ONNX Runtime's own default, it may rewrite the graph of this one node, as it does with whole
models: a convolution gets another layout of memory, with nodes around it that change it and back. In `eager` the node
runs as it stands.

Strings and sequences cannot be made from NumPy's arrays and then bound. They come from a model that holds them.

What runs in a call in ONNX Runtime: the nodes of its graph, with their kernels' times, as its own profiler tells.
A session writes the trace of all its runs when its profiling ends, so a call is explained in a session of its own. The
first run is not counted: memory is allocated in it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, defs, helper, numpy_helper
from onnxruntime.capi import onnxruntime_pybind11_state as state

from opperf.child.backends.onnxruntime.node import OWN, STANDARD, Model, one_file
from opperf.domain.backend import Unsupported
from opperf.domain.explanation import Event, Explanation
from opperf.domain.plan import Side

CUDA = "CUDAExecutionProvider"
LEVELS = {"eager": ort.GraphOptimizationLevel.ORT_DISABLE_ALL, "compiled": ort.GraphOptimizationLevel.ORT_ENABLE_ALL}
#: Messages of ONNX Runtime's own from this severity on: errors. They go to stderr.
ERRORS = 3
#: How ONNX Runtime calls a tensor of strings.
TEXTS = "tensor(string)"
#: What a model is refused with.
REFUSALS = (state.Fail, state.InvalidArgument, state.InvalidGraph, state.InvalidProtobuf, state.RuntimeException)


class Program:
    """A node that is ready to run; called, it runs once and returns the binding that holds its outputs."""

    def __init__(self, model: Model, side: Side, *, trace: str | None = None) -> None:
        """Make the session; with `trace`, it writes what it runs into a file whose path begins so.

        Raises `Unsupported` for an output that is neither a tensor nor a sequence of them.
        """
        self.model = model
        self.session = session(model.content, side, trace=trace)
        kinds = {output.name: output.type for output in self.session.get_outputs()}
        for kind in kinds.values():
            if "map(" in kind or "sparse" in kind:
                text = f"it returns {kind}, and opperf measures only tensors and sequences of tensors"
                raise Unsupported(text, slug="no_such_dtype")
        # Inputs on a CPU stay where they are, and these hold on to them.
        self._values = _values(model.inputs, side.device)
        self._binding = self.session.io_binding()
        for name, value in self._values.items():
            self._binding.bind_ortvalue_input(name, value)
        numbers = [name for name in model.outputs if kinds[name].startswith("tensor(") and kinds[name] != TEXTS]
        for name in numbers:
            self._binding.bind_output(name, *_place(side.device))
        # What is bound is written to at each run. Sequences would grow by that, and some kernels add to strings.
        self._bound_anew = tuple(name for name in model.outputs if name not in numbers)
        self._run = self.session.run_with_iobinding

    def __call__(self) -> Any:
        """Run the node."""
        for name in self._bound_anew:
            self._binding.bind_output(name)
        self._run(self._binding)
        return self._binding


def results(binding: Any) -> list[Any]:
    """Return the results of a run, copied from where they are bound."""
    outputs = binding.get_outputs()
    if any(output.is_tensor() and output.data_type() == TEXTS for output in outputs):
        return [output.numpy() for output in outputs]  # the other way knows no strings
    arrays: list[Any] = binding.copy_outputs_to_cpu()
    return arrays


def _place(device: str) -> tuple[str, int]:
    """Return a device as ONNX Runtime has it: its kind, and its number."""
    kind, _, index = device.partition(":")
    return kind, int(index or 0)


def _values(inputs: Mapping[str, Any], device: str) -> dict[str, Any]:
    """Return inputs as ONNX Runtime has them."""
    unbound = {name: value for name, value in inputs.items() if isinstance(value, list) or value.dtype == np.object_}
    place = _place(device)
    plain = {name: value for name, value in inputs.items() if name not in unbound}
    return {name: ort.OrtValue.ortvalue_from_numpy(value, *place) for name, value in plain.items()} | _from_model(
        unbound
    )


def _from_model(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return strings and sequences as ONNX Runtime has them: as a model returns them that holds their tensors."""
    if not values:
        return {}
    nodes: list[Any] = []
    constants: list[Any] = []
    for name, value in values.items():
        parts = value if isinstance(value, list) else [value]
        names = [f"{name}:{place}" for place in range(len(parts))]
        nodes.append(helper.make_node("SequenceConstruct" if isinstance(value, list) else "Identity", names, [name]))
        constants += map(numpy_helper.from_array, parts, names)
    outputs = [helper.make_empty_tensor_value_info(name) for name in values]
    graph = helper.make_graph(nodes, "values", [], outputs, constants)
    program = session(one_file(graph, {"": newest("")}).SerializeToString(), Side("onnxruntime"))
    return dict(zip(values, program.run_with_ort_values(list(values), {}), strict=True))


def session(content: bytes, side: Side, *, trace: str | None = None) -> Any:
    """Return a session of a model; raises `Unsupported` where there is no kernel for a node, else `REFUSALS`."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = side.threads
    options.inter_op_num_threads = 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = LEVELS[side.mode]
    options.log_severity_level = ERRORS
    if side.device != "cpu":  # a node without a kernel there would run on the CPU, without a word
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    if trace is not None:
        options.enable_profiling = True
        options.profile_file_prefix = trace
    try:
        return ort.InferenceSession(content, options, providers=_providers(side.device))
    except state.NotImplemented as error:
        raise Unsupported(_message(error), slug="no_such_operator", hint="another `opset` may have it") from error
    except state.Fail as error:
        if "fallback to CPU EP has been explicitly disabled" not in str(error):
            raise
        message = f"ONNX Runtime has no kernel of it for `{side.device}`, and would run it on the CPU"
        raise Unsupported(message, slug="no_such_operator", hint="`--device cpu`") from error


def _providers(device: str) -> Sequence[Any]:
    kind, _, index = device.partition(":")
    return [(CUDA, {"device_id": index}), "CPUExecutionProvider"] if kind == "cuda" else ["CPUExecutionProvider"]


def _message(error: Exception) -> str:
    """Return a message of ONNX Runtime, without the code in front."""
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
    versions = [schema.since_version for schema in defs.get_all_schemas() if schema.domain == domain]
    others: Mapping[str, int] = {"": newest("")} if domain else {}
    for version in range(max(versions), 0, -1):
        try:
            session(_nothing({**others, domain: version}), Side("onnxruntime"))
        except (*REFUSALS, Unsupported):
            continue
        return version
    raise Unsupported(f"this ONNX Runtime has no version of `{domain or STANDARD}`", slug="no_such_operator")


def _nothing(versions: Mapping[str, int]) -> bytes:
    """Return a model that does nothing, in some versions of domains."""
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "nothing", values[:1], values[1:])
    content: bytes = one_file(graph, versions).SerializeToString()
    return content


#: How the name of an event ends that is a kernel; the others say how it was prepared.
KERNEL = "_kernel_time"
#: The event that a whole run is.
RUN = "model_run"


def of_calls(model: Model, side: Side, calls: int) -> list[Explanation]:
    """Return the explanation of each of `calls` calls."""
    with tempfile.TemporaryDirectory() as folder:
        program = Program(model, side, trace=str(Path(folder, "trace")))
        for _ in range(calls + 1):
            program()
        events = json.loads(Path(program.session.end_profiling()).read_text(encoding="utf-8"))
    runs = sorted((event["ts"], event["ts"] + event["dur"]) for event in events if event.get("name") == RUN)
    kernels = [event for event in events if event.get("name", "").endswith(KERNEL)]
    return [
        Explanation(tuple(_event(kernel) for kernel in kernels if start <= kernel["ts"] <= end))
        for start, end in runs[1:]
    ]


def _event(kernel: dict[str, Any]) -> Event:
    """Return a kernel by the operator of its node, and who provides it."""
    arguments = kernel["args"]
    return Event(arguments["op_name"], "kernel", 1, kernel["dur"] / 1e6, arguments.get("provider"))
