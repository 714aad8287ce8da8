"""Sparse and quantized arrays in JAX."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import jax.numpy as jnp
from jax.experimental.sparse import BCOO, BCSR, sparsify

from opperf.child.backends.binding import Binding, Missing, call, composition, compositions

PAIRS = Missing("for a product of two sparse arrays, JAX allocates room for every pair of stored elements")


def to_csr(data: Any, room: int) -> Any:
    """Return a matrix stored as compressed rows, with room for a number of elements."""
    return BCSR.fromdense(data, nse=room)


def csr_to_dense(data: Any) -> Any:
    return data.todense()


def csr_matmul_transposed(lhs: Any, rhs: Any) -> Any:
    return lhs.T @ rhs


def csr_square(data: Any) -> Any:
    return BCSR((jnp.square(data.data), data.indices, data.indptr), shape=data.shape)


def rows_of(values: str, rows: str) -> Callable[[Mapping[str, Any]], Any]:
    """Return a function that makes an array of coordinates from whole rows and their places."""

    def make(arguments: Mapping[str, Any]) -> Any:
        shape = (arguments["count"], *arguments[values].shape[1:])
        return BCOO(
            (arguments[values], arguments[rows][:, None]), shape=shape, indices_sorted=True, unique_indices=True
        )

    return make


def _room(arguments: Mapping[str, Any]) -> int:
    return int(jnp.count_nonzero(arguments["data"]))


COORDINATES = {"lhs": BCOO.fromdense, "rhs": BCOO.fromdense}
ROWS = {"stored": rows_of("values", "rows")}
SUM = "the stored elements of both, concatenated; duplicates are not summed"


BINDINGS: dict[str, Binding] = {
    # Sparse matrices in JAX (`jax.experimental.sparse`): compressed rows (BCSR), and coordinates (BCOO).
    #
    # A program must know the size of its results, so a result has room for every element that might be stored.
    "to_csr": composition(to_csr, derive={"room": _room}, note="jax.experimental.sparse.BCSR.fromdense"),
    "csr_to_dense": composition(
        csr_to_dense, adapt={"data": BCSR.fromdense}, note="jax.experimental.sparse.BCSR.todense"
    ),
    "csr_matmul": composition(
        operator.matmul, "lhs, rhs", adapt={"lhs": BCSR.fromdense}, note="`lhs @ rhs` of jax.experimental.sparse.BCSR"
    ),
    "csr_matmul_transposed": composition(
        csr_matmul_transposed,
        adapt={"lhs": BCOO.fromdense},
        note="`lhs.T @ rhs` of jax.experimental.sparse.BCOO; BCSR has no transpose",
    ),
    "csr_add": composition(
        sparsify(jnp.add), "lhs, rhs", adapt=COORDINATES, note=f"jax.experimental.sparse.sparsify(jax.numpy.add): {SUM}"
    ),
    "csr_multiply": PAIRS,
    "csr_square": composition(
        csr_square, adapt={"data": BCSR.fromdense}, note="jax.numpy.square of BCSR's stored elements"
    ),
    "row_sparse_to_dense": composition(
        csr_to_dense, "stored", derive=ROWS, note="jax.experimental.sparse.BCOO.todense, of whole rows"
    ),
    "row_sparse_add": composition(
        sparsify(jnp.add),
        "stored, more",
        derive={**ROWS, "more": rows_of("other_values", "other_rows")},
        note=f"jax.experimental.sparse.sparsify(jax.numpy.add): {SUM}",
    ),
    "row_sparse_retain": Missing("the number of rows kept depends on values, and JAX must know shapes at compile time"),
    "row_sparse_matmul": PAIRS,
    # Eight bits in JAX: arithmetic to and fro, and a product that says what it is summed in.
    "int8_matmul": call("jax.numpy.matmul", "lhs, rhs", "preferred_element_type='int32'"),
    **compositions(
        quantize_int8=(
            lambda data, scale, zero_point: jnp.clip(jnp.round(data / scale) + zero_point, -128, 127).astype(jnp.int8),
            "a division, jax.numpy.round, a sum, jax.numpy.clip and a cast; ties go to even",
        ),
        dequantize_int8=(
            lambda data, scale, zero_point: (data.astype(jnp.float32) - zero_point) * scale,
            "a cast, a difference and a product",
        ),
    ),
}
