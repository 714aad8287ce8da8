"""JAX: tensors, functions and waiting.

`compiled` is the mode that JAX is used in: `jax.jit` around the whole operator. `eager` calls the framework's function
directly, which dispatches operator by operator.

On a CPU with the `naive` engine, calls run in the calling thread and are done when they return: a product of 512 x 512
takes 1.58 ms with a wait after each and 1.62 ms with one wait after fifty, and 99.9 % of the CPU time is the calling
thread's. XLA keeps to this only while everything before is done. A single input that is still being copied sends the
first call to another thread, and each call after it queues behind; so inputs are waited for when they are made, and
whoever holds an output waits for it. Otherwise calls run behind the caller's back, nothing but their outputs can be
waited for, and so those are held.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import jaxlib
import numpy as np

from opperf.child.backends import keras
from opperf.child.backends.binding import Binding, bindings
from opperf.child.backends.common import threads
from opperf.child.backends.common.values import ATOL, RTOL, agree, as_complex, refuse_strides
from opperf.child.backends.jax import capture, functions, gradients, kernels, outstanding, programs
from opperf.child.measure.block import ProcessClock
from opperf.child.measure.gpu import gpu_of
from opperf.domain.backend import Backend, HostValue, KernelWatch, Unsupported
from opperf.domain.call import AbstractCapture, Bound, CapturedCall, FirstCall, Layer, Work
from opperf.domain.case import Case
from opperf.domain.device import FLOAT32, TF32
from opperf.domain.explanation import Explanation
from opperf.domain.measurement import Counts, Memory
from opperf.domain.plan import Side
from opperf.domain.tensor import ITEM_SIZES, STRING, TensorSpec

#: Whether arrays can be put on a device without memory that NumPy knows of.
_TAKES_ALIAS = "may_alias" in inspect.signature(jax.device_put).parameters
#: JAX has all element types of numbers that opperf knows but one.
DTYPES = {name: jnp.dtype(name) for name in ITEM_SIZES if name not in ("complex32", STRING)}


def start(side: Side) -> JaxBackend:
    """Return the backend of a side."""
    return JaxBackend(side)


def best_device(side: Side) -> str:
    """Return the first device of JAX's default platform."""
    device = jax.devices()[0]
    return "cpu" if device.platform == "cpu" else f"{_spell(device)}:{device.id}"


def running_backend(device: str) -> JaxBackend:
    """Return the backend of a process that uses JAX itself: nothing is set, and outputs are waited for."""
    backend = JaxBackend.__new__(JaxBackend)
    backend.side, backend.clock = Side("jax", device=device, threads=threads.default()), ProcessClock()
    backend.device, backend.collects, backend.threads_seen = _device(device), True, None
    return backend


class JaxBackend(Backend):
    """JAX on a CPU or an accelerator."""

    name = "jax"
    immutable = True

    def __init__(self, side: Side) -> None:
        self.side = side
        self.clock = ProcessClock()
        keras.configure(self.name, side.device)
        in_place = side.device == "cpu" and side.engine == "naive"
        jax.config.update("jax_cpu_enable_async_dispatch", not in_place)  # read when the CPU's client is made
        self.device = _device(side.device)
        self._program: programs.Program | None = None
        jax.config.update("jax_default_device", self.device)
        self.collects = not in_place
        self.float32_products = _float32_products(self.device)
        #: The memory that a function takes: known when its program is compiled, asked for after it has been timed.
        square, product = jnp.ones(threads.square(side), jnp.float32), jax.jit(jnp.matmul)
        self.threads_seen: float | None = threads.count(lambda: product(square, square).block_until_ready())

    def facts(self) -> dict[str, Any]:
        """Return versions, device and threads."""
        return {
            "version": jax.__version__,
            "jaxlib": jaxlib.__version__,
            "numpy": np.__version__,
            "platform": self.device.platform,
            "platform_version": self.device.client.platform_version,
            "device": self.device.device_kind,
            "x64": jax.config.jax_enable_x64,
            "dispatch": "asynchronous" if self.collects else "in the calling thread",
            "random_generator": jax.config.jax_default_prng_impl,
            "matmul_precision": jax.config.jax_default_matmul_precision,
            "threads": self.side.threads,
            "threads_seen": self.threads_seen,
            **keras.facts(),
        }

    def devices(self) -> list[str]:
        """Return accelerators first; a side on the CPU does not look for them."""
        accelerators = [f"{_spell(device)}:{device.id}" for device in jax.devices() if device.platform != "cpu"]
        return [*accelerators, "cpu"]

    def host(self, raw: bytearray, dtype: str) -> Any:
        """Return a 1-D NumPy array over the bytes."""
        return np.frombuffer(raw, DTYPES[dtype])

    def tensor(self, host: Any, shape: Sequence[int], dtype: str, strides: Sequence[int] | None) -> Any:
        """Return an array on the device, in memory of XLA's own: NumPy's may lie at any address."""
        refuse_strides(strides, shape, "JAX arrays")
        values = as_complex(host, shape, dtype).astype(self.dtype(dtype)).reshape(tuple(shape))
        if not _TAKES_ALIAS:  # JAX before 0.4.31: `array` copies
            return jax.device_put(jnp.array(values, copy=True), self.device).block_until_ready()
        return jax.device_put(values, self.device, may_alias=False).block_until_ready()

    def dtype(self, name: str) -> Any:
        """Return the NumPy dtype that JAX uses, `bfloat16` among them."""
        if name not in DTYPES:
            hint = "ONNX Runtime has it" if name == STRING else "torch has it; JAX has complex64"
            raise Unsupported(f"JAX has no {name}", slug="no_such_dtype", hint=hint)
        return DTYPES[name]

    def to_host(self, tensor: Any) -> HostValue:
        """Return the elements of an array."""
        values = np.asarray(tensor.todense() if _is_sparse(tensor) else tensor)
        return values.tobytes(), values.shape, _dtype_name(values.dtype)

    def leaves(self, value: Any) -> list[Any]:
        """Return the arrays in a result; a sparse one, which holds several, is one."""
        leaves = jax.tree_util.tree_leaves(value, is_leaf=_is_sparse)
        return [leaf for leaf in leaves if isinstance(leaf, jax.Array) or _is_sparse(leaf)]

    def spec(self, tensor: Any) -> TensorSpec:
        """Return shape and dtype."""
        return TensorSpec(tuple(tensor.shape), _dtype_name(tensor.dtype))

    def bindings(self) -> Mapping[str, Binding]:
        """Return the spelling of each neutral operator."""
        return bindings("jax")

    def resolve(self, path: str) -> Callable[..., Any]:
        """Return `jax.numpy.add`, `jnp.add`, `jax.lax.conv_general_dilated`, `primitive.add`, ..."""
        return keras.resolve(path) if keras.is_layer(path) else functions.resolve(path)

    def layer(
        self, path: str, arguments: Sequence[Any], keywords: Mapping[str, Any], call: FirstCall | None = None
    ) -> Layer | None:
        """Return a layer of Keras."""
        if not keras.is_layer(path):
            return None
        return keras.pure_layer(self, path, arguments, keywords, call)

    def builds(self, path: str) -> Sequence[str]:
        """Return the names of the arguments of a layer's constructor."""
        return keras.builds(path)

    def names(self) -> list[str]:
        """Return the functions of the usual places."""
        return [*functions.names(), *keras.names()]

    def registered(self) -> list[str]:
        """Return the functions of those places that compute."""
        return [*functions.functions().paths(), *keras.paths()]

    def examples(self, path: str, size: str) -> list[Case]:
        """Return the case of a function by the rules of its name or its arguments."""
        return keras.examples(path, size) if keras.is_layer(path) else functions.functions().examples(path, size)

    def forward(self, bound: Bound) -> Work:
        """Return the call itself, or the program of it."""
        if self.side.mode == "eager":
            return Work(bound.function, bound.arguments, bound.keywords, nullcontext)
        program, tensors = programs.program_of_call(
            bound.function, bound.arguments, dict(bound.keywords), self._program
        )
        self._program = program
        return Work(program.function, tensors, {}, nullcontext, metrics=program.metrics)

    def backward(self, bound: Bound, cotangents: Callable[[Any], Any], *, fresh: bool) -> Work:
        """Return the gradients alone."""
        return gradients.backward(bound, cotangents, fresh=fresh)

    def forward_backward(self, bound: Bound, cotangents: Callable[[Any], Any]) -> Work:
        """Return a forward and its gradients as one program."""
        return gradients.forward_backward(bound, cotangents)

    def refill(self, tensor: Any, pool: Any, start: int) -> Any:
        """Return another array; a slice by numbers that the program knows would be a program for each of them."""
        return jax.lax.dynamic_slice(pool, (start,), (tensor.size,)).reshape(tensor.shape)

    def same(self, left: Sequence[HostValue], right: Sequence[HostValue]) -> bool:
        """Whether values agree within rounding."""
        return agree(left, right, _close)

    def build_loops(self, folder: Path) -> None:
        """Say why there is none: jaxlib exports no interface to what it compiled but Python's."""
        message = "jaxlib has no public C or C++ interface to compiled programs, so JAX is called from Python only"
        raise Unsupported(message, slug="no_native_loop")

    def wait(self, outputs: Any) -> None:
        """Wait for every output that is held; there are none where calls are done when they return."""
        if outputs is None:
            outstanding.wait()
        elif outputs:
            jax.block_until_ready(outputs)

    def kernel_watch(self) -> KernelWatch | None:
        """Return a watch on a GPU, by JAX's profiler."""
        return kernels.Watch(self.wait) if self.device.platform == "gpu" else None

    def free_memory(self) -> int | None:
        """Return the free bytes of XLA's share of a device, as far as other processes leave them; None for a CPU."""
        stats = None if self.device.platform == "cpu" else self.device.memory_stats()
        if stats is None:
            return None
        reserve = int(stats.get("pool_bytes") or stats["bytes_in_use"]) - int(stats["bytes_in_use"])
        gpu = gpu_of(self.side.device)
        free = None if gpu is None else gpu.free_memory()
        share = int(stats["bytes_limit"]) - int(stats["bytes_in_use"])
        return share if free is None else min(share, free + reserve)

    def place(self, tensor: Any) -> str | None:
        """Return the platform of an array; None for a sparse one, and under a JAX that does not tell."""
        devices = getattr(tensor, "devices", None)
        return next((str(device.platform) for device in devices()), None) if callable(devices) else None

    def live_memory(self) -> int | None:
        """Return the bytes of the arrays that live on a device other than a CPU."""
        stats = None if self.device.platform == "cpu" else self.device.memory_stats()
        return None if stats is None else int(stats["bytes_in_use"])

    def memory(self, work: Work) -> Memory | None:
        """Return the memory that XLA plans for one call."""
        return programs.memory(work)

    def counts(self, work: Work, *, long: bool = False) -> Counts | None:
        """Return the counts of XLA in the program of a call, before it merges anything."""
        return programs.counts(work)

    def explain(self, work: Work, calls: int) -> list[Explanation]:
        """Return the instructions of the compiled program."""
        return [programs.explanation(work)]

    def capture_abstract(self, load: Callable[[], Callable[[], Any]]) -> AbstractCapture:
        """Return the primitives of a program that is traced with everything it loads, and never run."""
        return capture.of_shapes(load)

    def capture(self, function: Callable[[], Any]) -> list[CapturedCall] | None:
        """Return the primitives of the program that JAX traces of a function."""
        return capture.of_call(function)


def _device(name: str) -> Any:
    platform, _, index = name.partition(":")
    try:
        return jax.devices("rocm" if platform == "hip" else platform)[int(index or 0)]
    except (RuntimeError, LookupError, ValueError) as error:
        raise Unsupported(f"JAX has no device `{name}`", slug="no_device", hint=str(error).splitlines()[0]) from error


def _spell(device: Any) -> str:
    """Return the platform as users write it: JAX calls devices of CUDA and of ROCm `gpu`."""
    if device.platform != "gpu":
        return str(device.platform)
    return "rocm" if "rocm" in str(device.client.platform_version).lower() else "cuda"


def _float32_products(device: Any) -> str | None:
    """Return how a device multiplies float32: as TF32 from Ampere on, unless more is asked for."""
    if device.platform != "gpu" or _spell(device) != "cuda":
        return None
    precise = str(jax.config.jax_default_matmul_precision) in ("highest", "float32", "F32_F32_F32")
    rounds = float(getattr(device, "compute_capability", "8.0")) >= 8 and os.environ.get("NVIDIA_TF32_OVERRIDE") != "0"
    return TF32 if rounds and not precise else FLOAT32


def _dtype_name(dtype: Any) -> str:
    name = str(dtype)
    if name not in ITEM_SIZES:
        raise Unsupported(f"opperf has no dtype for {name} arrays", slug="unknown_dtype")
    return name


def _is_sparse(value: Any) -> bool:
    """Whether a value is an array of `jax.experimental.sparse`, which takes long to import."""
    return hasattr(value, "todense")


def _close(left: HostValue, right: HostValue) -> bool:
    dtype = DTYPES[left[2]]
    if not jnp.issubdtype(dtype, jnp.inexact):
        return False
    wide = np.complex128 if jnp.issubdtype(dtype, jnp.complexfloating) else np.float64
    ours, theirs = (np.frombuffer(value[0], dtype).astype(wide) for value in (left, right))
    return bool(np.allclose(ours, theirs, rtol=RTOL, atol=ATOL, equal_nan=True))
