"""TensorFlow: tensors, functions and waiting.

`eager` calls the framework's function directly, `compiled` is `tf.function` around the whole operator, and `xla` is
`tf.function(jit_compile=True)`.

On a CPU, calls run one after another and are done when they return. On other devices they are only queued there, and
`sync_devices` waits for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from math import prod
from typing import Any

import numpy as np
import tensorflow as tf

from opperf.child.backends import keras
from opperf.child.backends.binding import Binding, bindings
from opperf.child.backends.common import threads
from opperf.child.backends.common.values import ATOL, RTOL, agree, as_complex, element_types, refuse_strides
from opperf.child.backends.tensorflow import abstract, capture, devices, functions, gradients, programs, recording
from opperf.child.measure.block import ProcessClock
from opperf.domain.backend import Backend, HostValue, Unsupported
from opperf.domain.call import AbstractCapture, Bound, CapturedCall, FirstCall, Layer, Work
from opperf.domain.case import Case
from opperf.domain.device import FLOAT32, TF32
from opperf.domain.explanation import Explanation
from opperf.domain.measurement import Memory
from opperf.domain.plan import Side
from opperf.domain.tensor import ITEM_SIZES, STRING, TensorSpec

#: TensorFlow has all element types of numbers that opperf knows but one; old releases lack some of 8 bits.
DTYPES = element_types(tf.as_dtype, [name for name in ITEM_SIZES if name not in ("complex32", STRING)])
#: Tensors that consist of several, and are one result.
COMPOSITE = (tf.SparseTensor, tf.IndexedSlices)


def start(side: Side) -> TensorflowBackend:
    """Return the backend of a side."""
    return TensorflowBackend(side)


def best_device(side: Side) -> str:
    """Return the first accelerator, or the CPU."""
    return next(iter(devices.names(tf.config)), "cpu")


def running_backend(device: str) -> TensorflowBackend:
    """Return the backend of a process that uses TensorFlow itself: nothing is set."""
    backend = TensorflowBackend.__new__(TensorflowBackend)
    backend.side = Side("tensorflow", device=device, threads=threads.default())
    backend.clock, backend.threads_seen, backend.memory_limit = ProcessClock(), None, None
    return backend


class TensorflowBackend(Backend):
    """TensorFlow on a CPU or an accelerator."""

    name = "tensorflow"
    immutable = True

    def __init__(self, side: Side) -> None:
        self.side = side
        self.clock = ProcessClock()
        keras.configure(self.name, side.device)
        tf.config.threading.set_intra_op_parallelism_threads(side.threads)
        tf.config.threading.set_inter_op_parallelism_threads(side.threads)
        #: The bytes that it may take of a device that it shares, None for one that it has for itself.
        self.memory_limit = devices.choose(tf.config, side.device)
        self.float32_products = _float32_products(side.device)
        square = tf.ones(threads.square(side))
        self.threads_seen: float | None = threads.count(lambda: self._finish(tf.matmul(square, square)))

    def facts(self) -> dict[str, Any]:
        """Return version, build, device and threads."""
        build = tf.sysconfig.get_build_info()
        return {
            "version": tf.__version__,
            "numpy": np.__version__,
            "cuda_build": bool(build.get("is_cuda_build")),
            "onednn": tf.config.list_physical_devices("CPU") != [] and _uses_onednn(),
            "device": self.side.device,
            "threads": self.side.threads,
            "inter_op_threads": tf.config.threading.get_inter_op_parallelism_threads(),
            "threads_seen": self.threads_seen,
            **keras.facts(),
        }

    def devices(self) -> list[str]:
        """Return accelerators first; a side on the CPU does not look for them."""
        return [*devices.names(tf.config), "cpu"]

    def host(self, raw: bytearray, dtype: str) -> Any:
        """Return a 1-D NumPy array over the bytes."""
        return np.frombuffer(raw, DTYPES[dtype].as_numpy_dtype)

    def tensor(self, host: Any, shape: Sequence[int], dtype: str, strides: Sequence[int] | None) -> Any:
        """Return a tensor on the device, in memory of TensorFlow's own."""
        refuse_strides(strides, shape, "TensorFlow's tensors")
        values = as_complex(host, shape, dtype).astype(self.dtype(dtype).as_numpy_dtype)
        return tf.constant(values.reshape(tuple(shape)))

    def dtype(self, name: str) -> Any:
        """Return `tf.float32` and the like."""
        if name not in DTYPES:
            others = {STRING: "ONNX Runtime has it", "complex32": "torch has it; TensorFlow has complex64"}
            hint = others.get(name, "newer releases have it")
            what = "opperf makes no TensorFlow tensors of" if name == STRING else "TensorFlow has no"
            raise Unsupported(f"{what} {name}", slug="no_such_dtype", hint=hint)
        return DTYPES[name]

    def to_host(self, tensor: Any) -> HostValue:
        """Return the elements of a tensor; of a sparse one, with its zeros."""
        values = np.ascontiguousarray(_dense(tensor).numpy())
        return values.tobytes(), tuple(tensor.shape), _name(tensor.dtype)

    def leaves(self, value: Any) -> list[Any]:
        """Return the tensors in a result; a sparse one, which holds several, is one."""
        return [leaf for leaf in tf.nest.flatten(value) if isinstance(leaf, (tf.Tensor, *COMPOSITE))]

    def spec(self, tensor: Any) -> TensorSpec:
        """Return shape and dtype."""
        return TensorSpec(tuple(tensor.shape), _name(tensor.dtype))

    def bindings(self) -> Mapping[str, Binding]:
        """Return the spelling of each neutral operator."""
        return bindings("tensorflow")

    def resolve(self, path: str) -> Callable[..., Any]:
        """Return `tf.add`, `tf.nn.relu`, `tf.raw_ops.TopKV2`, ..."""
        return keras.resolve(path) if keras.is_layer(path) else functions.resolve(path)

    def layer(
        self, path: str, arguments: Sequence[Any], keywords: Mapping[str, Any], call: FirstCall | None = None
    ) -> Layer | None:
        """Return a layer of Keras."""
        if not keras.is_layer(path):
            return None
        return keras.layer(self, path, arguments, keywords, call)

    def builds(self, path: str) -> Sequence[str]:
        """Return the names of the arguments of a layer's constructor."""
        return keras.builds(path)

    def names(self) -> list[str]:
        """Return the functions of the modules that compute."""
        return [*functions.names(), *keras.names()]

    def registered(self) -> list[str]:
        """Return the functions that compute, the operators below all of them, and Keras's layers."""
        return [*functions.registered(), *keras.paths()]

    def examples(self, path: str, size: str) -> list[Case]:
        """Return the case of one of those, by rule."""
        return keras.examples(path, size) if keras.is_layer(path) else functions.examples(path, size)

    def forward(self, bound: Bound) -> Work:
        """Return the call itself, or the program of it."""
        if self.side.mode == "eager":
            programs.run(partial(bound.function, **bound.keywords), bound.arguments, "eager")
            return Work(bound.function, bound.arguments, bound.keywords, nullcontext)
        return programs.compiled(bound, self.side.mode)

    def backward(self, bound: Bound, cotangents: Callable[[Any], Any], *, fresh: bool) -> Work:
        """Return the gradients alone."""
        return gradients.backward(self, bound, cotangents, fresh=fresh)

    def forward_backward(self, bound: Bound, cotangents: Callable[[Any], Any]) -> Work:
        """Return a forward and its gradients as one call."""
        return gradients.forward_backward(self, bound, cotangents)

    def refill(self, tensor: Any, pool: Any, start: int) -> Any:
        """Return another tensor."""
        return tf.reshape(tf.slice(pool, [start], [prod(tensor.shape)]), tensor.shape)

    def same(self, left: Sequence[HostValue], right: Sequence[HostValue]) -> bool:
        """Whether values agree within rounding."""
        return agree(left, right, _close)

    def wait(self, outputs: Any) -> None:
        """Wait for the device's queue; on a CPU there is none."""
        if self.side.device != "cpu":
            tf.test.experimental.sync_devices()

    def place(self, tensor: Any) -> str | None:
        """Return the kind of device that a tensor lies on: what has no kernel there runs on the CPU, without a word."""
        device = getattr(tensor, "backing_device", None)
        return None if device is None else "cpu" if ":CPU:" in device.upper() else self.side.device.partition(":")[0]

    def live_memory(self) -> int | None:
        """Return the bytes of the tensors that live on a GPU, as TensorFlow's allocator counts."""
        return recording.live_bytes() if self.side.device.startswith("cuda") else None

    def free_memory(self) -> int | None:
        """Return the bytes that are left of its part of a device that it shares."""
        return None if self.memory_limit is None else self.memory_limit - (self.live_memory() or 0)

    def memory(self, work: Work) -> Memory | None:
        """Return the memory that one call takes."""
        return recording.memory(work, self.side.device)

    def explain(self, work: Work, calls: int) -> list[Explanation]:
        """Return the operators and instructions that TensorFlow's profiler sees."""
        return recording.explain(work, calls, self.wait)

    def capture(self, function: Callable[[], Any]) -> list[CapturedCall] | None:
        """Return the operators of the graph that TensorFlow traces of a function."""
        return capture.of_call(function)

    def capture_abstract(self, load: Callable[[], Callable[[], Any]]) -> AbstractCapture:
        """Return the operators of a graph that is made with everything it loads, and never run."""
        return abstract.of_call(load)

    def _finish(self, result: Any) -> None:
        self.wait([result])


def _float32_products(device: str) -> str | None:
    """Return how a GPU multiplies float32; None where an older release does not tell."""
    rounds = getattr(tf.config.experimental, "tensor_float_32_execution_enabled", None)
    return None if rounds is None or not device.startswith("cuda") else TF32 if rounds() else FLOAT32


def _uses_onednn() -> bool:
    from tensorflow.python.framework import test_util

    return bool(test_util.IsMklEnabled())


def _name(dtype: Any) -> str:
    if dtype.name not in ITEM_SIZES:
        raise Unsupported(f"opperf has no dtype for {dtype.name} tensors", slug="unknown_dtype")
    return str(dtype.name)


def _dense(tensor: Any) -> Any:
    return tf.sparse.to_dense(tensor) if isinstance(tensor, tf.SparseTensor) else tf.convert_to_tensor(tensor)


def _close(left: HostValue, right: HostValue) -> bool:
    dtype = DTYPES[left[2]]
    if not (dtype.is_floating or dtype.is_complex):
        return False
    wide = np.complex128 if dtype.is_complex else np.float64
    ours, theirs = (np.frombuffer(value[0], dtype.as_numpy_dtype).astype(wide) for value in (left, right))
    return bool(np.allclose(ours, theirs, rtol=RTOL, atol=ATOL, equal_nan=True))
