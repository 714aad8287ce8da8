"""Sparse and quantized arrays."""

from __future__ import annotations

from collections.abc import Mapping

from opperf.catalog.definition import Arguments, Formula, Operator, Outputs
from opperf.catalog.formulas import ELEMENTWISE, check_lengths, each, like, none, same, tensors, whole
from opperf.domain.case import Argument, Case
from opperf.domain.tensor import ITEM_SIZES, SPARSE, TensorSpec, zero_share

# Matrices of which only a part is stored: compressed rows (CSR), and whole rows with their places (row-sparse).
#
# How a matrix is stored belongs to the operator, not to its description: the role `lhs` of `csr_matmul` is compressed
# rows, made of a dense matrix of mostly zeros (`sparse:0.9`) before anything is timed. A row-sparse matrix is described
# by what is stored: its `values`, row by row, and the `rows` that they stand in, of `count` in all.
#
# Bytes are those stored, an index being four (some frameworks use eight). Operations: a multiply-add for each pair of a
# stored element and a column that it meets, one for each stored element of an element-wise operator.

_Shape = tuple[int, ...]

#: Rows, columns, the share of zeros, and the columns of what it is multiplied with; skewed is a table of few features.
MATRICES: Mapping[str, tuple[int, int, str, int]] = {
    "small": (32, 32, "sparse:0.9", 8),
    "common": (2048, 1024, "sparse:0.99", 64),
    "large": (4096, 2048, "sparse:0.99", 256),
    "skewed": (100_000, 16, "sparse:0.95", 1),
}
#: Stored rows, their width, and the rows in all: the gradient of an embedding; skewed has few rows of very many.
ROWS: Mapping[str, tuple[int, int, int]] = {
    "small": (8, 16, 32),
    "common": (512, 512, 8192),
    "large": (4096, 1024, 16_384),
    "skewed": (64, 16, 1_000_000),
}
INDEX_BYTES = 4


def count_nonzero(tensor: TensorSpec) -> int:
    """Return how many elements of a tensor are not zero, as its distribution has it."""
    share = zero_share(tensor.values) if tensor.values.startswith(SPARSE) else 0.0
    return round(tensor.elements * (1 - share))


def csr_bytes(tensor: TensorSpec) -> int:
    """Return the bytes of the stored elements, their columns and the ends of the rows."""
    return count_nonzero(tensor) * (ITEM_SIZES[tensor.dtype] + INDEX_BYTES) + INDEX_BYTES * (tensor.shape[0] + 1)


def _product(case: Case) -> tuple[TensorSpec, ...]:
    return _times(case, case.tensor("lhs").shape)


def _transpose(case: Case) -> tuple[TensorSpec, ...]:
    return _times(case, case.tensor("lhs").shape[::-1])


def _times(case: Case, left: _Shape) -> tuple[TensorSpec, ...]:
    rhs = case.tensor("rhs")
    check_lengths(case, left[1], rhs.shape[0])
    return (like(rhs, (left[0], rhs.shape[1])),)


def _pairs(case: Case) -> int:
    return 2 * count_nonzero(case.tensor("lhs")) * case.tensor("rhs").shape[1]


def _sparse(
    name: str,
    summary: str,
    sizes: Mapping[str, Arguments],
    outputs: Outputs,
    *,
    moves: Formula,
    flops: Formula = none,
    aliases: tuple[str, ...] = (),
) -> Operator:
    return Operator(name, "sparse", summary, sizes, outputs, flops, moves=moves, aliases=aliases)


def _matrix_sizes() -> dict[str, Arguments]:
    return {
        size: {"data": TensorSpec((rows, columns), values=share)}
        for size, (rows, columns, share, _) in MATRICES.items()
    }


def _two() -> dict[str, Arguments]:
    return {
        size: {role: TensorSpec((rows, columns), values=share) for role in ("lhs", "rhs")}
        for size, (rows, columns, share, _) in MATRICES.items()
    }


def _factors(*, transposed: bool = False) -> dict[str, Arguments]:
    return {
        size: {
            "lhs": TensorSpec((rows, columns), values=share),
            "rhs": TensorSpec((rows if transposed else columns, wide)),
        }
        for size, (rows, columns, share, wide) in MATRICES.items()
    }


def _moves_two(case: Case) -> int:
    # The result has as many elements as the larger at least.
    both = [csr_bytes(case.tensor(role)) for role in ("lhs", "rhs")]
    return sum(both) + max(both)


def _moves_stored(case: Case) -> int:
    # Memory of zeros may come from the system without a byte being written.
    data = case.tensor("data")
    return csr_bytes(data) + count_nonzero(data) * ITEM_SIZES[data.dtype]


def _moves_product(outputs: Outputs) -> Formula:
    def moves(case: Case) -> int:
        return csr_bytes(case.tensor("lhs")) + case.tensor("rhs").nbytes + outputs(case)[0].nbytes

    return moves


def _places(stored_rows: int, count: int, first: int = 0) -> TensorSpec:
    """Return rising row numbers from `first` to `count`."""
    return TensorSpec((stored_rows,), "int64", values="sorted", range=(first, count))


def _rows(*, second: bool = False, indices: bool = False) -> dict[str, Arguments]:
    """Return row-sparse matrices; the rows of a `second` one, or those to be `kept`, lie in the lower half."""

    def arguments(rows: int, width: int, count: int) -> Arguments:
        arguments: dict[str, Argument] = {"values": TensorSpec((rows, width)), "rows": _places(rows, count)}
        if second:
            arguments["other_values"] = TensorSpec((rows, width))
            arguments["other_rows"] = _places(rows, count, count // 2)
        if indices:
            arguments["kept"] = _places(rows, count, count // 2)
        return {**arguments, "count": count}

    return {size: arguments(*of_size) for size, of_size in ROWS.items()}


def _full(case: Case) -> tuple[TensorSpec, ...]:
    values = case.tensor("values")
    return (like(values, (whole(case, "count"), values.shape[1])),)


def _moves_rows(case: Case) -> int:
    # Of the result as many rows at least as one side stores, but for `kept`, which may keep none.
    row_bytes = case.tensor("values").nbytes if "other_rows" in case.inputs else 0
    return case.input_bytes + row_bytes


_SPARSE = (
    _sparse(
        "to_csr",
        "a dense matrix converted to CSR",
        _matrix_sizes(),
        same(),
        moves=lambda case: case.input_bytes + csr_bytes(case.tensor("data")),
        aliases=("tostype", "cast_storage"),
    ),
    _sparse("csr_to_dense", "a CSR matrix converted to a dense one", _matrix_sizes(), same(), moves=_moves_stored),
    _sparse(
        "csr_matmul",
        "the product of a CSR matrix and a dense one",
        _factors(),
        _product,
        moves=_moves_product(_product),
        flops=_pairs,
        aliases=("csr_dot", "spmm"),
    ),
    _sparse(
        "csr_matmul_transposed",
        "the product of a transposed CSR matrix and a dense one",
        _factors(transposed=True),
        _transpose,
        moves=_moves_product(_transpose),
        flops=_pairs,
    ),
    _sparse(
        "csr_add",
        "the sum of two CSR matrices",
        _two(),
        same("lhs"),
        moves=_moves_two,
        flops=lambda case: count_nonzero(case.tensor("lhs")) + count_nonzero(case.tensor("rhs")),
    ),
    _sparse(
        "csr_multiply",
        "the elementwise product of two CSR matrices",
        _two(),
        same("lhs"),
        moves=lambda case: csr_bytes(case.tensor("lhs")) + csr_bytes(case.tensor("rhs")),
        flops=lambda case: min(count_nonzero(case.tensor("lhs")), count_nonzero(case.tensor("rhs"))),
    ),
    _sparse(
        "csr_square",
        "the square of each stored element",
        _matrix_sizes(),
        same(),
        moves=lambda case: 2 * csr_bytes(case.tensor("data")),
        flops=lambda case: count_nonzero(case.tensor("data")),
    ),
    _sparse(
        "row_sparse_to_dense",
        "a row-sparse matrix converted to a dense one",
        _rows(),
        _full,
        moves=lambda case: case.input_bytes + case.tensor("values").nbytes,
    ),
    _sparse(
        "row_sparse_add",
        "the sum of two row-sparse matrices",
        _rows(second=True),
        _full,
        moves=_moves_rows,
        flops=lambda case: case.tensor("values").elements,
    ),
    _sparse(
        "row_sparse_retain",
        "the stored rows selected by `kept`",
        _rows(indices=True),
        _full,
        moves=_moves_rows,
    ),
    _sparse(
        "row_sparse_matmul",
        "the product of a CSR matrix and a row-sparse one",
        {
            size: {
                "lhs": TensorSpec((64, count), values="sparse:0.99"),
                "values": TensorSpec((rows, width)),
                "rows": _places(rows, count),
            }
            for size, (rows, width, count) in {**ROWS, "skewed": (64, 16, 100_000)}.items()
        },
        lambda case: (like(case.tensor("values"), (case.tensor("lhs").shape[0], case.tensor("values").shape[1])),),
        moves=lambda case: csr_bytes(case.tensor("lhs")) + case.tensor("rows").nbytes + case.tensor("values").nbytes,
        # A stored element of the left meets a stored row as often as there are such rows among all.
        flops=lambda case: (
            2 * count_nonzero(case.tensor("lhs")) * case.tensor("values").elements // case.tensor("lhs").shape[1]
        ),
        aliases=("row_sparse_dot",),
    ),
)


# 8-bit integers that represent real numbers: (number - zero point) times scale.
#
# Two operations for each element that is turned into the other kind, and two for each multiply-add of a product.

#: All that eight bits hold.
VALUES = (-128.0, 128.0)
#: A power of two, so that dividing by it rounds nothing away.
SCALE = {"scale": 0.0078125, "zero_point": 3}
#: (rows, length, columns)
PRODUCTS = {"small": (32, 32, 32), "common": (256, 256, 256), "large": (1024, 1024, 1024), "skewed": (4096, 64, 64)}


def _turn(dtype: str) -> Outputs:
    return lambda case: (like(case.tensor("data"), dtype=dtype),)


def _quantized_product(case: Case) -> tuple[TensorSpec, ...]:
    (rows, length), (depth, columns) = case.tensor("lhs").shape, case.tensor("rhs").shape
    check_lengths(case, length, depth)
    return (TensorSpec((rows, columns), "int32"),)


def _product_flops(case: Case) -> int:
    return 2 * case.tensor("lhs").elements * case.tensor("rhs").shape[1]


def _bytes(shape: tuple[int, ...]) -> TensorSpec:
    return TensorSpec(shape, "int8", range=VALUES)


_QUANTIZED = (
    Operator(
        "quantize_int8",
        "quantized",
        "data divided by the scale, rounded, plus the zero point, saturated to eight bits",
        sizes=tensors("data", more=SCALE),
        outputs=_turn("int8"),
        flops=each(2),
        rough=True,
    ),
    Operator(
        "dequantize_int8",
        "quantized",
        "8-bit values minus the zero point, times the scale",
        sizes={size: {"data": _bytes(shape), **SCALE} for size, shape in ELEMENTWISE.items()},
        outputs=_turn("float32"),
        flops=each(2),
    ),
    Operator(
        "int8_matmul",
        "quantized",
        "the product of two 8-bit matrices, summed in 32 bits",
        sizes={
            size: {"lhs": _bytes((rows, length)), "rhs": _bytes((length, columns))}
            for size, (rows, length, columns) in PRODUCTS.items()
        },
        outputs=_quantized_product,
        flops=_product_flops,
    ),
)


OPERATORS = (*_SPARSE, *_QUANTIZED)
