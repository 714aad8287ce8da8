"""MLX as a backend of opperf: the core of verbs, and ten operators of the catalog.

opperf run add matmul softmax --framework mlx --plugin examples/backends/mlx_backend.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from opperf.child.backends.binding import Binding, call, composition
from opperf.child.backends.common.threads import set_variables
from opperf.child.measure.block import ProcessClock
from opperf.domain.backend import Backend, HostValue, Unsupported
from opperf.domain.call import Bound, Work
from opperf.domain.plan import Side
from opperf.domain.registry import Framework
from opperf.domain.tensor import TensorSpec

#: How the parent knows the framework: it reads this line, and never runs the file.
FRAMEWORK = Framework(
    "mlx", "mlx.core", ("mlx",), ("mlx[cpu]==0.32.4", "numpy==2.4.6"), modes=("eager",), gradients=False
)


def start(side: Side) -> MlxBackend:
    """Return the backend; what a framework reads when it is loaded is set before that."""
    set_variables(side.threads)
    return MlxBackend(side)


class MlxBackend(Backend):
    """Arrays of MLX on the CPU. They are computed when they are waited for, so results are held until then."""

    name = "mlx"
    immutable = True
    collects = True

    def __init__(self, side: Side) -> None:
        import mlx.core as mx
        import numpy as np

        if side.device != "cpu":
            raise Unsupported(f"this backend computes on the CPU only, not on `{side.device}`", slug="no_such_device")
        self.side = side
        self.clock = ProcessClock()
        self.mx, self.np = mx, np
        mx.set_default_device(mx.cpu)
        self.dtypes = {
            **{f"{kind}int{bits}": getattr(mx, f"{kind}int{bits}") for kind in ("", "u") for bits in (8, 16, 32, 64)},
            "bool": mx.bool_,
            "float16": mx.float16,
            "bfloat16": mx.bfloat16,
            "float32": mx.float32,
        }
        self.names_of = {dtype: name for name, dtype in self.dtypes.items()}

    def facts(self) -> dict[str, Any]:
        """Return the version."""
        return {"version": self.mx.__version__, "threads": self.side.threads}

    def host(self, raw: bytearray, dtype: str) -> Any:
        """Return a NumPy array over the bytes."""
        return self.np.frombuffer(raw, "float32" if dtype == "bfloat16" else dtype)

    def tensor(self, host: Any, shape: Sequence[int], dtype: str, strides: Sequence[int] | None) -> Any:
        """Return an array, computed."""
        if strides is not None:
            raise Unsupported("this backend makes row-major arrays alone", slug="no_strides")
        array = self.mx.array(host.reshape(tuple(shape))).astype(self.dtype(dtype))
        self.mx.eval(array)
        return array

    def dtype(self, name: str) -> Any:
        """Return `mlx.core.float32` and the like."""
        if name not in self.dtypes:
            raise Unsupported(f"MLX has no {name}", slug="no_such_dtype")
        return self.dtypes[name]

    def to_host(self, tensor: Any) -> HostValue:
        """Return the elements of an array; NumPy has no bfloat16."""
        name = self.names_of[tensor.dtype]
        if name == "bfloat16":
            tensor, name = tensor.astype(self.mx.float32), "float32"
        return self.np.array(tensor).tobytes(), tuple(tensor.shape), name

    def leaves(self, value: Any) -> list[Any]:
        """Return the arrays in a result."""
        if isinstance(value, self.mx.array):
            return [value]
        return [leaf for item in value for leaf in self.leaves(item)] if isinstance(value, (tuple, list)) else []

    def spec(self, tensor: Any) -> TensorSpec:
        """Return shape and dtype."""
        return TensorSpec(tuple(tensor.shape), self.names_of[tensor.dtype])

    def bindings(self) -> Mapping[str, Binding]:
        """Return ten operators; the others are not bound yet."""
        return BINDINGS

    def resolve(self, path: str) -> Callable[..., Any]:
        """Return `mlx.core.add`, `mx.add`, ...: functions of MLX's module alone."""
        place, _, name = path.rpartition(".")
        function = getattr(self.mx, name, None)
        if place not in ("mx", "mlx.core") or name.startswith("_") or not callable(function) or name in LOADING:
            raise LookupError(path)
        found: Callable[..., Any] = function
        return found

    def forward(self, bound: Bound) -> Work:
        """Return the call; what it returns is computed in `wait`."""
        return Work(bound.function, bound.arguments, bound.keywords, nullcontext)

    def wait(self, outputs: Any) -> None:
        """Compute what is held; MLX has no queue that it could be asked to empty without it."""
        if outputs:
            self.mx.eval(outputs)


#: Functions of MLX that read or write files: a name from a file must not reach them.
LOADING = frozenset({"load", "save", "savez", "savez_compressed", "save_gguf", "save_safetensors", "import_function"})


def gelu(data: Any) -> Any:
    """Compute GELU by the error function (Hendrycks and Gimpel, arXiv:1606.08415)."""
    import mlx.core as mx

    return data * (1 + mx.erf(data / math.sqrt(2))) / 2


BINDINGS: Mapping[str, Binding] = {
    "add": call("mx.add", "lhs, rhs"),
    "multiply": call("mx.multiply", "lhs, rhs"),
    "exp": call("mx.exp", "data"),
    "tanh": call("mx.tanh", "data"),
    "sigmoid": call("mx.sigmoid", "data"),
    "softmax": call("mx.softmax", "data", "axis=axis"),
    "sum": call("mx.sum", "data", "axis=axis, keepdims=keepdims"),
    "matmul": call("mx.matmul", "lhs, rhs"),
    "transpose": call("mx.transpose", "data", "axes=axes"),
    "gelu": composition(gelu, "data", note="the formula, of several calls"),
}
