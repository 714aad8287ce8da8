"""MXNet 1.x: arrays, functions and waiting."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import mxnet as mx
import numpy

from opperf.child.backends.binding import Binding, bindings
from opperf.child.backends.common import threads
from opperf.child.backends.common.values import ATOL, RTOL, agree
from opperf.child.backends.mxnet import (
    abstract,
    blocks,
    capture,
    custom_add_one,
    discovery,
    explain,
    gradients,
    memory,
    native_loop,
    paths,
)
from opperf.child.backends.mxnet.compilation import compiled
from opperf.child.backends.mxnet.target import Target, target_of
from opperf.child.measure.block import ProcessClock
from opperf.domain.backend import Backend, HostValue, NativeLoop, Unsupported, no_device
from opperf.domain.call import AbstractCapture, Bound, CapturedCall, FirstCall, Layer, Work
from opperf.domain.case import Case
from opperf.domain.explanation import Explanation
from opperf.domain.measurement import Memory
from opperf.domain.plan import Side
from opperf.domain.tensor import TensorSpec

DTYPES = frozenset({"bool", "int8", "uint8", "int32", "int64", "float16", "float32", "float64"})
#: What a build without large tensors can count.
MOST_ELEMENTS = (1 << 31) - 1
#: Elements that are compared at once.
CHUNK = 1 << 20
BLAS = {"BLAS_OPEN": "openblas", "BLAS_MKL": "mkl", "BLAS_ATLAS": "atlas", "BLAS_APPLE": "accelerate"}


def start(side: Side) -> MxnetBackend:
    """Return the backend of a side."""
    return MxnetBackend(side)


def best_device(side: Side) -> str:
    """Return the first GPU, or the CPU."""
    return "cuda:0" if mx.context.num_gpus() else "cpu"


def running_backend(device: str) -> MxnetBackend:
    """Return the backend of a process that uses MXNet itself."""
    return MxnetBackend(Side("mxnet", device=device, threads=threads.default()))


class MxnetBackend(Backend):
    """MXNet on a CPU or a CUDA device."""

    name = "mxnet"
    immutable = False
    collects = False  # `waitall` waits for everything, held or not

    def __init__(self, side: Side) -> None:
        self.side = side
        self.clock = ProcessClock()
        kind, _, index = side.device.partition(":")
        if kind != "cpu" and side.device not in self.devices():
            raise no_device("MXNet", side.device, self.devices()[:-1])
        self.context = mx.cpu() if kind == "cpu" else mx.gpu(int(index or 0))
        self.threads_seen: float | None = threads.count(_product(side))
        custom_add_one.register()

    def facts(self) -> dict[str, Any]:
        """Return version, build, engine and threads."""
        features = sorted(feature.name for feature in mx.runtime.feature_list() if feature.enabled)
        return {
            "version": mx.__version__,
            "build": features,
            "isa": [name.removeprefix("CPU_") for name in features if name.startswith("CPU_")],
            "blas": next((blas for feature, blas in BLAS.items() if feature in features), "other"),
            "engine": self.side.engine,
            "numpy": numpy.__version__,
            "threads": self.side.threads,
            "threads_seen": self.threads_seen,
        }

    def devices(self) -> list[str]:
        """Return CUDA devices first."""
        return [*(f"cuda:{i}" for i in range(mx.context.num_gpus())), "cpu"]

    def host(self, raw: bytearray, dtype: str) -> Any:
        """Return a NumPy array over the bytes; MXNet requires NumPy."""
        return numpy.frombuffer(raw, dtype=dtype)

    def tensor(self, host: Any, shape: Sequence[int], dtype: str, strides: Sequence[int] | None) -> Any:
        """Return an `NDArray` on the device."""
        if math.prod(shape) > MOST_ELEMENTS and not mx.runtime.Features().is_enabled("INT64_TENSOR_SIZE"):
            raise Unsupported(
                f"arrays of this MXNet build hold at most {MOST_ELEMENTS} elements",
                slug="too_large",
                hint="build MXNet with `USE_INT64_TENSOR_SIZE=1`",
            )
        if strides is not None:
            raise Unsupported("MXNet tensors cannot have custom strides", slug="no_strides", hint="leave out `strides`")
        value = host.astype(dtype, copy=False).reshape(tuple(shape))  # `array` copies it
        if shape and 0 not in shape:
            return mx.nd.array(value, ctx=self.context, dtype=dtype)
        # `nd` has no such shapes: it reads them as not yet known.
        with mx.util.np_shape(True):
            return mx.np.array(value, ctx=self.context, dtype=dtype).as_nd_ndarray()

    def dtype(self, name: str) -> Any:
        """Return the name, which all of MXNet's functions take; `Unsupported` where its operators do not compute."""
        if name not in DTYPES:
            raise Unsupported(
                f"MXNet's operators do not take `{name}`",
                slug="no_such_dtype",
                hint=f"it has {', '.join(sorted(DTYPES))}",
            )
        return name

    def to_host(self, tensor: Any) -> HostValue:
        """Return the elements of an array."""
        value = tensor.asnumpy()
        return value.tobytes(), tuple(value.shape), value.dtype.name

    def leaves(self, value: Any) -> list[Any]:
        """Return the arrays in a result."""
        if isinstance(value, mx.nd.NDArray):
            return [value]
        if isinstance(value, (tuple, list)):
            return [leaf for item in value for leaf in self.leaves(item)]
        if isinstance(value, gradients.AttachedGradients):
            return value.arrays
        return []

    def spec(self, tensor: Any) -> TensorSpec:
        """Return shape and dtype."""
        return TensorSpec(tuple(tensor.shape), numpy.dtype(tensor.dtype).name)

    def bindings(self) -> Mapping[str, Binding]:
        """Return the spelling of each neutral operator."""
        return bindings("mxnet")

    def resolve(self, path: str) -> Callable[..., Any]:
        """Return `nd.FullyConnected`, `nd.contrib.isnan`, `np.add`, `npx.softmax`, ..., or the class of a block."""
        return blocks.maker(path) or paths.function_at(path)

    def layer(
        self, path: str, arguments: Sequence[Any], keywords: Mapping[str, Any], call: FirstCall | None = None
    ) -> Layer | None:
        """Return a block of Gluon: `gluon.nn.Dense`, `gluon.loss.L2Loss`, ..."""
        return blocks.layer(path, arguments, keywords, self.context)

    def builds(self, path: str) -> Sequence[str]:
        """Return the names of the arguments of a block's constructor."""
        block = blocks.maker(path)
        return () if block is None else tuple(inspect.signature(block).parameters)

    @cache  # noqa: B019 - one backend lives in a process, as long as the process
    def names(self) -> list[str]:
        """Return the functions of `nd`, `np`, `npx` and the modules below that users know, and what is registered."""
        return sorted({*paths.listing(), *self.registered()})

    def registered(self) -> list[str]:
        """Return every operator of MXNet's registry, internal ones and aliases too, and every block of Gluon."""
        return [*discovery.paths(), *blocks.paths()]

    def examples(self, path: str, size: str) -> list[Case]:
        """Return the cases that rules make of the names of an operator's arguments, or of a block."""
        make = discovery.examples if blocks.maker(path) is None else blocks.examples
        return make(path, size)

    def forward(self, bound: Bound) -> Work:
        """Return the call without a graph; operators that train run as in training."""
        target = self._target(bound)
        return Work(
            target.function,
            target.arguments,
            target.keywords,
            target.scope(training=bound.training),
            metrics=target.metrics,
            notes=target.notes,
        )

    def backward(self, bound: Bound, cotangents: Callable[[Any], Any], *, fresh: bool) -> Work:
        """Return the gradients alone."""
        gradients.attach(bound)
        return gradients.backward(self._target(bound), self.leaves, bound, cotangents, fresh=fresh)

    def forward_backward(self, bound: Bound, cotangents: Callable[[Any], Any]) -> Work:
        """Return a forward that records a graph, and its gradients."""
        gradients.attach(bound)
        return gradients.forward_backward(self._target(bound), self.leaves, bound, cotangents)

    def _target(self, bound: Bound) -> Target:
        target = target_of(bound)
        if self.side.mode != "compiled":
            return target.eager()
        with target.scope(training=bound.training)():
            return compiled(target)

    def refill(self, tensor: Any, pool: Any, start: int) -> Any:
        """Write into an array."""
        tensor[:] = pool[start : start + tensor.size].reshape(tensor.shape)
        return tensor

    def snapshot(self, tensors: Sequence[Any]) -> Callable[[], None]:
        """Remember arrays and return what puts them back."""
        copies = [tensor.copy() for tensor in tensors]

        def restore() -> None:
            for tensor, value in zip(tensors, copies, strict=True):
                value.copyto(tensor)

        return restore

    def same(self, left: Sequence[HostValue], right: Sequence[HostValue]) -> bool:
        """Whether values agree within rounding."""
        return agree(left, right, _close)

    def wait(self, outputs: Any) -> None:
        """Wait for every call that any engine thread or device still has."""
        mx.nd.waitall()

    def free_memory(self) -> int | None:
        """Return the free memory of a CUDA device."""
        context = self.context
        return None if context.device_type == "cpu" else int(mx.context.gpu_memory_info(context.device_id)[0])

    def memory(self, work: Work) -> Memory | None:
        """Return the memory that one call allocates."""
        return memory.of_call(work, self.context)

    def explain(self, work: Work, calls: int) -> list[Explanation]:
        """Return operators, and the primitives of oneDNN."""
        return explain.of_calls(work, calls, self.wait)

    def build_loops(self, folder: Path) -> None:
        """Compile the loop over the C API."""
        self._loops = native_loop.library(folder)

    def native_loop(self, work: Work) -> NativeLoop:
        """Return the calls of the C API in one call; gradients are computed from Python only."""
        if "backward_method" in work.notes:
            message = "opperf computes MXNet's gradients from Python only"
            raise Unsupported(message, slug="not_native", hint="measure `--direction forward`")
        return native_loop.Loop(self._loops, work)

    def capture(self, function: Callable[[], Any]) -> list[CapturedCall] | None:
        """Return every operator that Python has MXNet call, and every gradient that autograd computes."""
        return capture.of_call(function)

    def capture_abstract(self, load: Callable[[], Callable[[], Any]]) -> AbstractCapture:
        """Return the operators that Python has MXNet call, whose results have shapes and no memory."""
        return abstract.of_call(load)


def _product(side: Side) -> Callable[[], None]:
    """Return a matrix product that is done when it returns, whatever the engine."""
    square = mx.nd.ones(threads.square(side))

    def product() -> None:
        mx.nd.dot(square, square)
        mx.nd.waitall()

    return product


def _close(left: HostValue, right: HostValue) -> bool:
    ours, theirs = (numpy.frombuffer(value[0], dtype=value[2]) for value in (left, right))
    # Piece by piece: what NumPy makes of two whole arrays to compare them is several times as large.
    return all(
        numpy.allclose(ours[start : start + CHUNK], theirs[start : start + CHUNK], rtol=RTOL, atol=ATOL, equal_nan=True)
        for start in range(0, len(ours), CHUNK)
    )
