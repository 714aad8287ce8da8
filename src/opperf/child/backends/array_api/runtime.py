"""The Python array API standard: one backend for every library that keeps it, `array_api:<module>`.

Nothing here knows which library it is: arrays, functions and devices are those of the standard, and what it leaves
open stands in `libraries.py`. NumPy is on the host's side of it: it holds values before they are the library's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import cache
from importlib import metadata
from typing import Any

import numpy as np

from opperf.child.backends.array_api import operators
from opperf.child.backends.array_api.libraries import COMPAT, best_device, load
from opperf.child.backends.arrays import rules as array_rules
from opperf.child.backends.binding import Binding
from opperf.child.backends.common import threads
from opperf.child.backends.common.values import as_complex
from opperf.child.backends.naming.paths import Refusal, function_at
from opperf.child.backends.naming.signatures import Functions, Rules
from opperf.child.measure.block import ProcessClock
from opperf.domain.backend import Backend, HostValue, Unsupported, checksum
from opperf.domain.call import Bound, Work
from opperf.domain.case import Case
from opperf.domain.measurement import Memory
from opperf.domain.plan import Side
from opperf.domain.tensor import FLOAT8, ITEM_SIZES, STRING, TensorSpec

#: Element types that NumPy can hold; which of them a library has, it says itself.
ON_HOST = {name: np.dtype(name) for name in ITEM_SIZES if name not in (*FLOAT8, "bfloat16", "complex32", STRING)}
#: The parts of a library whose functions can be named; "" is the module itself.
AREAS = ("", "linalg", "fft", "random", "fast")
#: Beginnings of names that lead to files, to other programs' memory, to settings, or to code that is compiled and run.
REFUSALS = (
    "load", "save", "from_", "fromfile", "fromregex", "to_", "store", "import_", "export", "set_", "get_", "reset_",
    "memmap", "genfromtxt", "compile", "register_", "show_", "clear_", "map_", "apply_", "test", "enable_", "disable_",
    "new_", "seterr", "setbufsize", "cuda_kernel", "metal_kernel", "precompiled_",
)  # fmt: skip


__all__ = ["ArrayApiBackend", "best_device", "start"]


def start(side: Side) -> ArrayApiBackend:
    """Return the backend of a side."""
    return ArrayApiBackend(side)


class ArrayApiBackend(Backend):
    """One library that keeps the array API standard."""

    def __init__(self, side: Side) -> None:
        self.name = side.framework
        self.side = side
        self.clock = ProcessClock()
        self.library = load(side.framework.partition(":")[2], side)
        self.collects = self.library.collects
        self.xp = self.library.namespace
        self.dtypes = {name: dtype for name in ON_HOST if (dtype := self._dtype(name)) is not None}
        array = same = self.xp.ones(1, dtype=self.xp.float32, **self.library.place)
        self._array = type(array)
        same *= 2
        self.immutable = same is not array
        square = self.xp.ones(threads.square(side), dtype=self.xp.float32, **self.library.place)
        self.threads_seen: float | None = threads.count(lambda: self.wait([self.xp.matmul(square, square)]))

    def _dtype(self, name: str) -> Any:
        return getattr(self.xp, name, getattr(self.xp, f"{name}_", None))

    def facts(self) -> dict[str, Any]:
        """Return versions, how calls are waited for, and threads."""
        module = self.library.module
        through = self.xp is not module
        return {
            "version": getattr(module, "__version__", None) or metadata.version(module.__name__.partition(".")[0]),
            "standard": getattr(self.xp, "__array_api_version__", None),
            "through": f"array-api-compat {metadata.version(COMPAT)}" if through else None,
            "waits": self.library.waits,
            "threads": self.side.threads,
            "threads_seen": self.threads_seen,
        }

    def devices(self) -> list[str]:
        """Return the devices of the library, best first, or the one that it was started for."""
        return [*self.library.devices] or [self.library.device]

    def host(self, raw: bytearray, dtype: str) -> Any:
        """Return a NumPy array over the bytes."""
        return np.frombuffer(raw, ON_HOST[dtype])

    def tensor(self, host: Any, shape: Sequence[int], dtype: str, strides: Sequence[int] | None) -> Any:
        """Return an array, computed."""
        if strides is not None:
            raise Unsupported("the array API standard has no strides", slug="no_strides")
        values = as_complex(host, shape, dtype).astype(ON_HOST[dtype]).reshape(tuple(shape))
        array = self.xp.asarray(values, dtype=self.dtype(dtype), **self.library.place)
        self.wait([array])
        return array

    def dtype(self, name: str) -> Any:
        """Return `dpnp.float32` and the like."""
        if name not in self.dtypes:
            raise Unsupported(f"{self.library.module.__name__} has no {name}", slug="no_such_dtype")
        return self.dtypes[name]

    def to_host(self, tensor: Any) -> HostValue:
        """Return the elements of an array."""
        name = self.spec(tensor).dtype
        return np.asarray(self.library.to_numpy(tensor), ON_HOST[name]).tobytes(), tuple(tensor.shape), name

    def leaves(self, value: Any) -> list[Any]:
        """Return the arrays in a result."""
        if isinstance(value, (tuple, list)):
            return [leaf for item in value for leaf in self.leaves(item)]
        return [value] if isinstance(value, self._array) else []

    def spec(self, tensor: Any) -> TensorSpec:
        """Return shape and dtype; a lazy library may not know a shape that depends on values."""
        name = next((name for name, dtype in self.dtypes.items() if tensor.dtype == dtype), None)
        if name is None:
            raise Unsupported(f"the result is of dtype {tensor.dtype}", slug="no_such_dtype")
        if not all(isinstance(size, int) for size in tensor.shape):
            message = f"{self.library.module.__name__} does not know the shape of the result before it computes it"
            raise Unsupported(message, slug="unsupported")
        return TensorSpec(tuple(tensor.shape), name)

    @cache  # noqa: B019 - one backend lives in a process, as long as the process
    def bindings(self) -> Mapping[str, Binding]:
        """Return the standard's functions, and what this library has beyond them; for the rest a reason."""
        return operators.bindings(self.library, immutable=self.immutable)

    def resolve(self, path: str) -> Callable[..., Any]:
        """Return `dpnp.sort`, `dask.array.linalg.norm`, ...: functions that compute, by the library's own names."""
        module = self.library.module.__name__
        top = module.partition(".")[0]
        function = function_at(path, {top: __import__(top)}, top)
        area, _, name = path.removeprefix(f"{module}.").rpartition(".")
        if area not in AREAS or name.startswith(("_", *REFUSALS)) or isinstance(function, type):
            raise Refusal(path, "opperf finds no pure function there")
        return function

    @cache  # noqa: B019 - as above
    def names(self) -> list[str]:
        """Return the functions that can be named."""
        module, result = self.library.module, []
        for area in AREAS:
            place = getattr(module, area, None) if area else module
            root = ".".join(filter(None, (module.__name__, area)))
            for name in dir(place):
                with suppress(LookupError):
                    self.resolve(f"{root}.{name}")
                    result.append(f"{root}.{name}")
        return result

    @cache  # noqa: B019 - as above
    def _functions(self) -> Functions:
        areas = {f"{self.library.module.__name__}.": Rules(array_rules.RULES, array_rules.ATTRIBUTES)}
        return Functions(self.name, self.names(), self.resolve, {}, areas, {})

    def registered(self) -> list[str]:
        """Return the functions of the library's modules."""
        return self._functions().paths()

    def examples(self, path: str, size: str) -> list[Case]:
        """Return the case of a function by the rules of NumPy's functions of that name, or of its arguments."""
        return self._functions().examples(path, size)

    def forward(self, bound: Bound) -> Work:
        """Return the call."""
        return Work(bound.function, bound.arguments, bound.keywords, nullcontext)

    def refill(self, tensor: Any, pool: Any, start: int) -> Any:
        """Write into an array, or make another one where that only adds to what it will compute."""
        source = self.xp.reshape(pool[start : start + math.prod(tensor.shape)], tensor.shape)
        if self.immutable:
            return source
        tensor[...] = source
        return tensor

    def snapshot(self, tensors: Sequence[Any]) -> Callable[[], None]:
        """Copy arrays that a call changes, and return what writes the copies back."""
        if self.immutable:  # `x[0] = y` only adds to what such an array will compute, and so would a copy
            message = f"what a call has written into an array of {self.library.module.__name__} cannot be put back"
            raise Unsupported(message, slug="mutates", hint="return a new array")
        copies = [self.xp.asarray(tensor, copy=True) for tensor in tensors]
        self.wait(copies)

        def restore() -> None:
            for tensor, value in zip(tensors, copies, strict=True):
                tensor[...] = value
            self.wait(list(tensors))

        return restore

    def digest(self, tensor: Any) -> object:
        """Return a checksum of the elements: where `x *= y` makes a new array, `x[0] = y` may yet change one."""
        return checksum(self.to_host(tensor))

    def wait(self, outputs: Any) -> None:
        """Wait as the library has it."""
        self.library.wait(outputs or [])

    def free_memory(self) -> int | None:
        """Return the free bytes of a device, where the library tells."""
        return self.library.free()

    def trim(self) -> None:
        """Give back what the library keeps for later arrays, where it keeps any."""
        self.library.trim()

    def memory(self, work: Work) -> Memory | None:
        """Return the memory that one call allocates, where the library tells."""
        return self.library.memory(work)
