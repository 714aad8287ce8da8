"""A framework of arrays, whose gradients do what a test says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from opperf.child.backends.null.runtime import NullBackend
from opperf.domain.backend import Backend, HostValue, Unsupported
from opperf.domain.call import Bound, Work
from opperf.domain.plan import Side
from opperf.domain.tensor import FLOAT8, STRING, TensorSpec

#: What stands for the element types that NumPy lacks; strings are the whole numbers that they would say.
STANDING_IN = {**dict.fromkeys((*FLOAT8, "bfloat16"), "float32"), "complex32": "complex64", STRING: "int64"}


class Arrays(NullBackend):
    """The null backend with real elements; `events` holds what was asked of it, in order.

    `kept` and `fresh` are the gradients that a backward gives, call after call.
    """

    blank = False

    def __init__(self) -> None:
        super().__init__(Side("null"))
        self.events: list[str] = []
        self.kept: list[float] = [1.0] * 9
        self.fresh: list[float] = [1.0] * 9
        self.lacking = ""

    def dtype(self, name: str) -> Any:
        if name == self.lacking:
            raise Unsupported(f"no {name} here")
        return np.dtype(STANDING_IN.get(name, name))

    def host(self, raw: bytearray, dtype: str) -> Any:
        self.events.append("host")
        return np.frombuffer(raw, dtype)

    def tensor(self, host: Any, shape: Sequence[int], dtype: str, strides: Sequence[int] | None) -> Any:
        if dtype.startswith("complex"):
            host = host.view("complex128" if host.dtype == np.float64 else "complex64")
        return host.astype(self.dtype(dtype)).reshape(tuple(shape))

    def to_host(self, tensor: Any) -> HostValue:
        return tensor.tobytes(), tensor.shape, tensor.dtype.name

    def leaves(self, value: Any) -> list[Any]:
        if isinstance(value, np.ndarray):
            return [value]
        return [leaf for item in value for leaf in self.leaves(item)] if isinstance(value, (tuple, list)) else []

    def spec(self, tensor: Any) -> TensorSpec:
        return TensorSpec(tensor.shape, tensor.dtype.name)

    def resolve(self, path: str) -> Callable[..., Any]:
        if path == "fake.identity":
            return lambda *arguments, **keywords: arguments[0]
        raise LookupError(path)

    def backward(self, bound: Bound, cotangents: Callable[[Any], Any], *, fresh: bool) -> Work:
        self.events.append("fresh graph" if fresh else "kept graph")
        values = iter(self.fresh if fresh else self.kept)
        self.cotangent = cotangents(bound.arguments[0])
        return Work(lambda *_: [np.full(4, next(values), "float32")], bound.arguments, {}, nullcontext)

    def digest(self, tensor: Any) -> object:
        return Backend.digest(self, tensor)

    def refill(self, tensor: Any, pool: Any, start: int) -> Any:
        np.copyto(tensor, pool[start : start + tensor.size].reshape(tensor.shape))
        return tensor

    def snapshot(self, tensors: Sequence[Any]) -> Callable[[], None]:
        copies = [tensor.copy() for tensor in tensors]

        def restore() -> None:
            self.events.append("restored")
            for tensor, copy in zip(tensors, copies):
                np.copyto(tensor, copy)

        return restore


@pytest.fixture
def backend() -> Arrays:
    """A framework of arrays."""
    return Arrays()
