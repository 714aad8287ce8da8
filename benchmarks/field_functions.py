"""Functions from public reports that no framework has a name for; `field_cases.py` measures them.

Each imports its framework when it is called: one child has one framework.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import opperf

SEGMENTS = 3000


@cache
def segment_sums() -> Any:
    """Return the sums of segments of each row, for JAX."""
    import jax

    return jax.vmap(lambda row, ids: jax.ops.segment_sum(row, ids, SEGMENTS))


@opperf.operator(
    framework="jax",
    sizes={"common": {"rows": (64, 16384), "ids": opperf.TensorSpec((64, 16384), "int32", range=(0, SEGMENTS))}},
)
def segment_sum_of_rows(rows: Any, ids: Any) -> Any:
    """Sum the segments of every row."""
    return segment_sums()(rows, ids)


@cache
def sum_in_numba() -> Any:
    """Return a sum that numba has compiled."""
    import numpy as np

    return import_module("numba").njit(lambda x: np.sum(x))


@opperf.operator(framework="numpy", sizes={"common": {"x": opperf.TensorSpec((1000, 1000), "int64", range=(0, 1000))}})
def compiled_sum(x: Any) -> Any:
    """Sum whole numbers in compiled code."""
    return sum_in_numba()(x)


@opperf.operator(framework="numpy", sizes={"common": {"x": (4000, 6000)}}, mutates=("x",))
def subtract_scalar(x: Any) -> Any:
    """Subtract a float64 scalar from float32 in place; of zero, so that it can be done again and again."""
    import numpy as np

    x -= np.float64(0.0)
    return x


@opperf.operator(framework="numpy", sizes={"common": {"a": (5, 2), "b": (5, 5, 2), "c": (2, 5)}})
def einsum_plain(a: Any, b: Any, c: Any) -> Any:
    """Contract three small tensors at once."""
    import numpy as np

    return np.einsum("ij,ikj,jl->kl", a, b, c)


@opperf.operator(framework="numpy", sizes={"common": {"a": (5, 2), "b": (5, 5, 2), "c": (2, 5)}})
def einsum_optimized(a: Any, b: Any, c: Any) -> Any:
    """Contract them in an order that is looked for at each call."""
    import numpy as np

    return np.einsum("ij,ikj,jl->kl", a, b, c, optimize=True)


@opperf.operator(framework="numpy", sizes={"common": {"x": (100_000,)}}, mutates=("x",))
def sort_in_place(x: Any) -> Any:
    """Sort in place, equal elements in their order."""
    x.sort(kind="stable")
    return x
