"""ONNX Runtime: single nodes, each in its own session. Tensors are NumPy arrays, with NumPy's rules.

It has no neutral operators: what it runs is named by ONNX's own names, as a model has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort

from opperf.catalog import catalog
from opperf.child.backends.binding import Binding, Missing
from opperf.child.backends.common import threads
from opperf.child.backends.numpy.runtime import NumpyBackend
from opperf.child.backends.onnxruntime import node, program
from opperf.child.backends.onnxruntime.node import Node
from opperf.child.backends.onnxruntime.program import Program, has_device, newest, results
from opperf.child.backends.onnxruntime.specs import DTYPES
from opperf.child.measure.block import ProcessClock
from opperf.domain.backend import HostValue, Unsupported
from opperf.domain.call import Bound, Work
from opperf.domain.case import Case
from opperf.domain.explanation import Explanation
from opperf.domain.measurement import Memory, compile_time
from opperf.domain.plan import Side
from opperf.domain.tensor import STRING, TensorSpec

BY_NODE = "ONNX Runtime is measured by ONNX's own names, as `onnxruntime:ai.onnx.Add`"


def start(side: Side) -> OnnxRuntimeBackend:
    """Return the backend of a side."""
    return OnnxRuntimeBackend(side)


def best_device(side: Side) -> str:
    """Return the first GPU where it can use one, or the CPU."""
    return "cuda:0" if has_device(replace(side, device="cuda:0")) else "cpu"


class OnnxRuntimeBackend(NumpyBackend):
    """NumPy's arrays, computed with by ONNX Runtime."""

    name = "onnxruntime"
    immutable = True

    def __init__(self, side: Side) -> None:
        if not has_device(side):
            on_cuda = side.device.startswith("cuda")
            raise Unsupported(
                f"ONNX Runtime has no device `{side.device}` here",
                slug="no_device",
                hint=f"{'install' if on_cuda else 'it has CUDA devices with'} `onnxruntime-gpu` and the CUDA libraries",
            )
        self.side = side
        self.clock = ProcessClock()
        square = np.ones(threads.square(side), np.float32)
        product = Program(Node("", "MatMul").model((square, square), {}, newest), side)
        self.threads_seen = threads.count(product)

    def facts(self) -> dict[str, Any]:
        """Return versions, what runs nodes, and threads."""
        return {
            "version": ort.__version__,
            "onnx": onnx.__version__,
            "numpy": np.__version__,
            "opset": newest(""),
            "providers": ort.get_available_providers(),
            "build": ort.get_build_info(),
            "threads": self.side.threads,
            "threads_seen": self.threads_seen,
        }

    def devices(self) -> list[str]:
        """Return the first GPU where there is one that it can use, and the CPU."""
        gpu = "cuda:0"
        return [gpu, "cpu"] if has_device(Side("onnxruntime", device=gpu)) else ["cpu"]

    def tensor(self, host: Any, shape: Sequence[int], dtype: str, strides: Sequence[int] | None) -> Any:
        """Return a row-major array."""
        if strides is not None:
            raise Unsupported(
                f"strides {list(strides)} were requested, but ONNX tensors are row-major",
                slug="no_strides",
                hint="leave out `strides`",
            )
        if dtype == STRING:
            host = np.array([one if isinstance(one, str) else str(int(one)) for one in host], np.object_)
        return super().tensor(host, shape, dtype, None)

    def to_host(self, tensor: Any) -> HostValue:
        """Return the elements of an array."""
        if tensor.dtype != np.object_:
            return super().to_host(tensor)
        return b"".join(one.encode() + b"\0" for one in tensor.flat), tuple(tensor.shape), STRING

    def spec(self, tensor: Any) -> TensorSpec:
        """Return shape and dtype."""
        return TensorSpec(tuple(tensor.shape), STRING) if tensor.dtype == np.object_ else super().spec(tensor)

    def dtype(self, name: str) -> Any:
        """Return NumPy's element type."""
        if name not in DTYPES:
            raise Unsupported(
                f"ONNX Runtime takes no arrays of {name} from NumPy",
                slug="no_such_dtype",
                hint="it takes float16, float32, float64, whole numbers, bool and string",
            )
        return np.object_ if name == STRING else super().dtype(name)

    def leaves(self, value: Any) -> list[Any]:
        """Return the arrays in a result, copied from where they are bound."""
        return super().leaves(results(value) if isinstance(value, ort.IOBinding) else value)

    def bindings(self) -> Mapping[str, Binding]:
        """Return that there is no neutral operator."""
        return _bindings()

    def resolve(self, path: str) -> Callable[..., Any]:
        """Return the operator `ai.onnx.Conv`, `ai.onnx.ml.Scaler`, `com.microsoft.FusedMatMul`."""
        return Node.at(path)

    @cache  # noqa: B019 - one backend lives in a process, as long as the process
    def names(self) -> list[str]:
        """Return the operators of ONNX."""
        return node.paths()

    def no_gradient(self) -> Unsupported:
        """Return the reason why it is missing."""
        hint = "`--direction forward`; models are for inference"
        return Unsupported("ONNX Runtime computes no gradients", slug="no_gradient", hint=hint)

    def registered(self) -> list[str]:
        """Return nothing: ONNX says of an operator what it may be given, not what it usually is."""
        return []

    def examples(self, path: str, size: str) -> list[Case]:
        """Return nothing."""
        return []

    def memory(self, work: Work) -> Memory | None:
        """Return nothing: what a run takes comes from an arena, whose content is not told by run."""
        return None

    def forward(self, bound: Bound) -> Work:
        """Return the run of a node, or the call of the user's own function."""
        if not isinstance(bound.function, Node):
            return Work(bound.function, bound.arguments, bound.keywords, nullcontext)
        start = perf_counter()
        model = bound.function.model(bound.arguments, bound.keywords, newest)
        program = Program(model, self.side)
        metrics = compile_time(perf_counter() - start) if self.side.mode == "compiled" else {}
        return Work(program, (), {}, nullcontext, metrics=metrics, notes={"opset": model.opset})

    def counts(self, work: Work, *, long: bool = False) -> None:
        """Return None: ONNX Runtime does not count."""

    def explain(self, work: Work, calls: int) -> list[Explanation]:
        """Return the nodes that ran, with their kernels' times."""
        if not isinstance(work.function, Program):
            return [Explanation((), (f"providers {', '.join(ort.get_available_providers())}",))]
        return program.of_calls(work.function.model, self.side, calls)


@cache
def _bindings() -> Mapping[str, Binding]:
    return dict.fromkeys(catalog(), Missing(BY_NODE))
