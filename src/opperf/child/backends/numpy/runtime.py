"""NumPy: arrays, functions, and no waiting, since a call is done when it returns.

`tracemalloc` counts what a call allocates: NumPy reports every array buffer to it, scratch buffers of its own too. The
few hundred bytes of Python objects around them are counted as well and stay in. What BLAS allocates for itself is not
seen, and releases hide what was allocated in all, so that sum is not given.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from opperf.child.backends.binding import Binding, bindings
from opperf.child.backends.common import threads
from opperf.child.backends.common.values import ATOL, RTOL, agree, as_complex
from opperf.child.backends.numpy import build, functions, native_loop
from opperf.child.measure.block import ProcessClock
from opperf.domain.backend import Backend, HostValue, NativeLoop, Unsupported
from opperf.domain.call import Bound, Work
from opperf.domain.case import Case
from opperf.domain.explanation import Explanation
from opperf.domain.measurement import Memory
from opperf.domain.plan import Side
from opperf.domain.tensor import FLOAT8, ITEM_SIZES, STRING, TensorSpec

#: What NumPy has not of the element types that opperf knows.
LACKING = frozenset({*FLOAT8, "bfloat16", "complex32", STRING})
#: Element types as users write them.
DTYPES = {name: np.dtype(name).type for name in ITEM_SIZES if name not in LACKING}


def start(side: Side) -> NumpyBackend:
    """Return the backend of a side."""
    return NumpyBackend(side)


def running_backend(device: str) -> NumpyBackend:
    """Return the backend of a process that uses NumPy itself."""
    return NumpyBackend(Side("numpy", device=device, threads=threads.default()))


class NumpyBackend(Backend):
    """NumPy on a CPU."""

    name = "numpy"
    immutable = False
    collects = False

    def __init__(self, side: Side) -> None:
        if side.device != "cpu":
            text = f"NumPy computes on the CPU only, not on `{side.device}`"
            raise Unsupported(text, slug="no_such_device", hint="`--device cpu`")
        self.side = side
        self.clock = ProcessClock()
        square = np.ones(threads.square(side), np.float32)
        self.threads_seen: float | None = threads.count(lambda: np.matmul(square, square))

    def facts(self) -> dict[str, Any]:
        """Return version, build and threads."""
        return {
            "version": np.__version__,
            **build.facts(),
            "threads": self.side.threads,
            "threads_seen": self.threads_seen,
        }

    def host(self, raw: bytearray, dtype: str) -> Any:
        """Return a 1-D array over the bytes."""
        return np.frombuffer(raw, DTYPES[dtype]) if raw else np.empty(0, DTYPES[dtype])

    def tensor(self, host: Any, shape: Sequence[int], dtype: str, strides: Sequence[int] | None) -> Any:
        """Return an array; with strides, a view of a buffer that just holds it."""
        array = as_complex(host, shape, dtype).astype(self.dtype(dtype)).reshape(tuple(shape))
        return array if strides is None or array.size == 0 else _stride(array, strides)

    def dtype(self, name: str) -> Any:
        """Return `numpy.float32` and the like."""
        if name not in DTYPES:
            hint = "ONNX Runtime has it" if name == STRING else "torch has it; NumPy has float16"
            raise Unsupported(f"NumPy has no {name}", slug="no_such_dtype", hint=hint)
        return DTYPES[name]

    def to_host(self, tensor: Any) -> HostValue:
        """Return the elements of an array."""
        return tensor.tobytes(), tuple(tensor.shape), tensor.dtype.name

    def leaves(self, value: Any) -> list[Any]:
        """Return the arrays in a result; NumPy's scalars are arrays without dimensions."""
        if isinstance(value, (np.ndarray, np.generic)):
            return [value]
        if isinstance(value, (tuple, list)):
            return [leaf for item in value for leaf in self.leaves(item)]
        return []

    def spec(self, tensor: Any) -> TensorSpec:
        """Return shape and dtype."""
        if tensor.dtype.name not in ITEM_SIZES:
            raise Unsupported(
                f"the result is of dtype {tensor.dtype.name}",
                slug="no_such_dtype",
                hint=f"opperf knows {', '.join(ITEM_SIZES)}",
            )
        return TensorSpec(tuple(tensor.shape), tensor.dtype.name)

    def bindings(self) -> Mapping[str, Binding]:
        """Return the spelling of each neutral operator."""
        return bindings("numpy")

    def resolve(self, path: str) -> Callable[..., Any]:
        """Return `numpy.add`, `np.add`, `numpy.linalg.norm`, `numpy.add.reduce`, `numpy.random.Generator.normal`."""
        return functions.resolve(path)

    def parameters(self, function: Callable[..., Any]) -> Mapping[str, bool] | None:
        """Return the arguments of a ufunc; older versions of NumPy tell Python none of them."""
        return functions.arguments_of_ufunc(function) if isinstance(function, np.ufunc) else None

    @cache  # noqa: B019 - one backend lives in a process, as long as the process
    def names(self) -> list[str]:
        """Return the functions of NumPy's computing modules."""
        return functions.names()

    def registered(self) -> list[str]:
        """Return the functions of the modules that compute."""
        return functions.functions().paths()

    def examples(self, path: str, size: str) -> list[Case]:
        """Return the case of a function by the rules of its name or its arguments."""
        return functions.functions().examples(path, size)

    def forward(self, bound: Bound) -> Work:
        """Return the call."""
        if self.side.mode == "compiled":
            raise Unsupported("NumPy has no compiler", slug="no_compiled_mode", hint="`--mode eager`")
        return Work(bound.function, bound.arguments, bound.keywords, nullcontext)

    def share(self, memory: memoryview, spec: TensorSpec) -> Any:
        """Return an array over the bytes; it can be written if they can."""
        return np.frombuffer(memory, self.dtype(spec.dtype)).reshape(spec.shape)

    def address(self, tensor: Any) -> int:
        """Return where the elements lie; the interface of a scalar is that of a copy which is gone by then."""
        array = tensor if isinstance(tensor, np.ndarray) else np.frombuffer(tensor, tensor.dtype)
        return int(array.__array_interface__["data"][0])

    def addresses(self, results: Sequence[Any]) -> Sequence[int]:
        """Return where results lie that are arrays of no other class."""
        if {*map(type, results)} != {np.ndarray}:
            return ()
        return [one.__array_interface__["data"][0] for one in results]

    def byte_strides(self, tensor: Any) -> Sequence[int]:
        """Return the strides as NumPy has them."""
        return tuple(tensor.strides)

    def clone(self, tensor: Any) -> Any:
        """Return a copy."""
        return tensor.copy()

    def no_gradient(self) -> Unsupported:
        """Return why there is none, and where to find it."""
        hint = "`--direction forward`; JAX has the gradients of NumPy's functions"
        return Unsupported("NumPy has no automatic differentiation", slug="no_gradient", hint=hint)

    def snapshot(self, tensors: Sequence[Any]) -> Callable[[], None]:
        """Remember arrays and return what puts them back; nothing is written into scalars and constants."""
        arrays = [tensor for tensor in tensors if isinstance(tensor, np.ndarray) and tensor.flags.writeable]
        copies = [array.copy() for array in arrays]

        def restore() -> None:
            for tensor, value in zip(arrays, copies, strict=True):
                if tensor.shape != value.shape:
                    tensor.resize(value.shape, refcheck=False)
                np.copyto(tensor, value)

        return restore

    def refill(self, tensor: Any, pool: Any, start: int) -> Any:
        """Write into an array."""
        np.copyto(tensor, pool[start : start + tensor.size].reshape(tensor.shape))
        return tensor

    def digest(self, tensor: Any) -> object:
        """Return dtype, shape, and a checksum of the elements where they lie; nothing for pointers to objects."""
        if tensor.dtype.hasobject:
            return None
        array = np.asarray(tensor)
        # A benchmark may hold a list of 100,000 arrays, and most are as plain as can be.
        plain = array if array.flags.c_contiguous else _in_order_of_memory(array)
        elements: Any = plain.reshape(-1).view(np.uint8)
        return array.dtype.str, array.shape, array.strides, crc32(elements)

    def same(self, left: Sequence[HostValue], right: Sequence[HostValue]) -> bool:
        """Whether values agree within rounding."""
        return agree(left, right, _close)

    def build_loops(self, folder: Path) -> None:
        """Compile the loop over functions in C."""
        self._loops = native_loop.library(folder)

    def native_loop(self, work: Work) -> NativeLoop:
        """Return the call of a function that is written in C."""
        return native_loop.Loop(self._loops, work)

    def wait(self, outputs: Any) -> None:
        """Return at once."""

    def memory(self, work: Work) -> Memory | None:
        """Return the memory that one call allocates."""
        return of_call(work)

    def explain(self, work: Work, calls: int) -> list[Explanation]:
        """Return the loop of a ufunc, and the build."""
        return [build.of_call(work)]


def _in_order_of_memory(array: Any) -> Any:
    """Return each element once, in the order in which what is only transposed needs no copy."""
    once = array[tuple(slice(1) if stride == 0 else slice(None) for stride in array.strides)]
    return np.ascontiguousarray(once.transpose(np.argsort(once.strides)[::-1]))


def _stride(array: Any, strides: Sequence[int]) -> Any:
    """Return a copy with strides in elements; negative ones run backwards through the buffer."""
    spans = [(size - 1) * stride for size, stride in zip(array.shape, strides, strict=True)]
    before = -sum(span for span in spans if span < 0)
    buffer = np.empty(before + sum(span for span in spans if span > 0) + 1, array.dtype)
    step = array.itemsize
    view: Any = np.ndarray(array.shape, array.dtype, buffer, before * step, tuple(stride * step for stride in strides))
    view[...] = array
    return view


def _close(left: HostValue, right: HostValue) -> bool:
    ours, theirs = (np.frombuffer(value[0], DTYPES[value[2]]) for value in (left, right))
    if ours.dtype.kind not in "fc":
        return False
    return bool(np.allclose(ours, theirs, rtol=RTOL, atol=ATOL, equal_nan=True))


SOURCE = "tracemalloc (array buffers and Python objects, not BLAS's own)"


def of_call(work: Work) -> Memory:
    """Make one call and return the most that it held beyond what stood before it."""
    arguments = work.make_arguments()
    traced_already = tracemalloc.is_tracing()
    if not traced_already:
        tracemalloc.start()
    try:
        with work.scope():
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            result = work.function(*arguments, **work.keywords)
            _, peak = tracemalloc.get_traced_memory()
            del result
    finally:
        if not traced_already:
            tracemalloc.stop()
    return Memory(peak - before, None, SOURCE)
