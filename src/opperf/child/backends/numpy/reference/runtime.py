"""NumPy in double precision: inputs get their bits in the element type of the case, and are widened then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import scipy

from opperf.child.backends.binding import Binding, bindings
from opperf.child.backends.numpy.reference.functions import BINDINGS
from opperf.child.backends.numpy.runtime import NumpyBackend
from opperf.child.measure.block import ProcessClock
from opperf.domain.plan import Side
from opperf.domain.tensor import FLOAT8

#: What each element type is computed in.
WIDE = {
    **dict.fromkeys((*FLOAT8, "float16", "bfloat16", "float32"), "float64"),
    **dict.fromkeys(("complex32", "complex64"), "complex128"),
}


def start(side: Side) -> ReferenceBackend:
    """Return the backend."""
    return ReferenceBackend(side)


class ReferenceBackend(NumpyBackend):
    """NumPy with the inputs of others; as nothing is timed, its threads do not matter."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self.clock = ProcessClock()
        self.threads_seen = None

    def facts(self) -> dict[str, Any]:
        """Return the facts of NumPy, and the version of SciPy."""
        return {**super().facts(), "scipy": scipy.__version__}

    def dtype(self, name: str) -> Any:
        """Return the element type that replaces it."""
        return super().dtype(WIDE.get(name, name))

    def tensor(self, host: Any, shape: Sequence[int], dtype: str, strides: Sequence[int] | None) -> Any:
        """Return an array of what the values are when they are rounded to `dtype`."""
        if dtype == "bfloat16":
            host = _bfloat16(host)
        elif dtype in FLOAT8:
            host = _float8(host, dtype)
        elif dtype in ("float16", "float32"):  # complex ones are drawn as pairs of float32
            host = host.astype(dtype)
        elif dtype == "complex32":
            host = host.astype(np.float16).astype(np.float32)
        return super().tensor(host, shape, dtype, strides)

    def bindings(self) -> Mapping[str, Binding]:
        """Return NumPy's spelling of each neutral operator, or the replacement where it has none."""
        return _bindings()


@cache
def _bindings() -> Mapping[str, Binding]:
    return {**bindings("numpy"), **BINDINGS}


def _bfloat16(host: Any) -> Any:
    """Round to the nearest number whose lower sixteen bits of a float32 are zero, of two equally near the even one."""
    bits = host.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).view(np.float32)


def _float8(host: Any, dtype: str) -> Any:
    """Round to the nearest number that eight bits hold, of two equally near the even one."""
    fraction, bias = FLOAT8[dtype]
    _, exponent = np.frexp(host)  # of numbers from 1 to 2 it is 1
    step = np.exp2(np.maximum(exponent - 1, 1 - bias) - fraction)
    return np.rint(host / step) * step
