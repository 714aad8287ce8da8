"""Products of numbers in four and eight bits that scales make real ones again; a part of the family of serving."""

from __future__ import annotations

from opperf.catalog.definition import Arguments, Operator, Outputs
from opperf.catalog.formulas import check_lengths, like, linear, tensors, whole
from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

# Two operations for each multiply-add; two for each number that a block's scale makes real before the product (a
# conversion, a product), one for each element of a result that is scaled afterwards.

#: (rows, length, columns): skewed is one token of a decoder, for which weights are all that is read.
PRODUCTS = {"small": (16, 64, 32), "common": (64, 1024, 1024), "large": (256, 4096, 4096), "skewed": (1, 4096, 4096)}
#: (rows, width)
ROWS = {"small": (8, 64), "common": (512, 1024), "large": (4096, 4096), "skewed": (1, 1_048_576)}
#: Neighbours with one scale, as in the microscaling formats of the Open Compute Project.
BLOCK = 32
#: All that whole numbers of eight bits hold, and scales that make them about as large as weights are.
INT8, UINT8, SCALES = (-128, 128), (0, 256), (0.005, 0.01)
FLOAT8 = "float8_e4m3fn"


def _float8(rows: int, length: int, columns: int) -> Arguments:
    scale = TensorSpec((), range=(0.25, 0.5))
    return {
        "lhs": TensorSpec((rows, length), FLOAT8),
        "rhs": TensorSpec((columns, length), FLOAT8),
        "lhs_scale": scale,
        "rhs_scale": scale,
    }


def _int8(rows: int, length: int, columns: int) -> Arguments:
    return {
        "data": TensorSpec((rows, length)),
        "weight": TensorSpec((columns, length), "int8", range=INT8),
        "scale": TensorSpec((columns,), range=SCALES),
    }


def _int4(rows: int, length: int, columns: int) -> Arguments:
    return {
        "data": TensorSpec((rows, length)),
        "weight": TensorSpec((columns, length // 2), "uint8", range=UINT8),
        "scale": TensorSpec((columns, length // BLOCK), range=(0.05, 0.1)),
    }


def _blocks(rows: int, length: int, columns: int) -> Arguments:
    return {
        "lhs": TensorSpec((rows, length), "int8", range=INT8),
        "rhs": TensorSpec((columns, length), "int8", range=INT8),
        "lhs_scale": TensorSpec((rows, length // BLOCK), range=SCALES),
        "rhs_scale": TensorSpec((columns, length // BLOCK), range=SCALES),
    }


def _product(case: Case) -> tuple[TensorSpec, ...]:
    lhs, rhs = case.tensor("lhs"), case.tensor("rhs")
    check_lengths(case, lhs.shape[-1], rhs.shape[-1])
    return (like(case.tensor("lhs_scale"), (*lhs.shape[:-1], rhs.shape[0])),)


def _block_product(case: Case) -> tuple[TensorSpec, ...]:
    for name in ("lhs", "rhs"):
        _divide(case, case.tensor(name).shape[-1], case.tensor(f"{name}_scale").shape[-1])
    check_lengths(case, case.tensor("lhs_scale").shape[-1], case.tensor("rhs_scale").shape[-1], "blocks")
    return _product(case)


def _divide(case: Case, length: int, blocks: int) -> None:
    if not blocks or length % blocks:
        raise InputError(f"`{case.operator}` cannot cut {length} elements into {blocks} equal blocks")


def _half_bytes(case: Case) -> tuple[TensorSpec, ...]:
    data, weight = case.tensor("data"), case.tensor("weight")
    check_lengths(case, data.shape[-1], 2 * weight.shape[-1])
    _divide(case, data.shape[-1], case.tensor("scale").shape[-1])
    return (like(data, (*data.shape[:-1], weight.shape[0])),)


def _product_flops(case: Case, left: str, right: str) -> int:
    return 2 * case.tensor(left).elements * case.tensor(right).shape[0]


def _scaled_flops(case: Case) -> int:
    return _product_flops(case, "lhs", "rhs") + _product(case)[0].elements


def _weighed_flops(case: Case) -> int:
    return _product_flops(case, "data", "weight") + linear(case)[0].elements


def _packed_flops(case: Case) -> int:
    # Two numbers in each byte.
    return _product_flops(case, "data", "weight") + 4 * case.tensor("weight").elements


def _block_flops(case: Case) -> int:
    return _product_flops(case, "lhs", "rhs") + 2 * (case.tensor("lhs").elements + case.tensor("rhs").elements)


def _quantized(dtype: str) -> Outputs:
    def outputs(case: Case) -> tuple[TensorSpec, ...]:
        data, block = case.tensor("data"), whole(case, "block")
        if block < 1 or data.shape[-1] % block:
            raise InputError(f"`{case.operator}` cannot cut {data.shape[-1]} elements into blocks of {block}")
        return like(data, dtype=dtype), like(data, (*data.shape[:-1], data.shape[-1] // block))

    return outputs


def _quantize(name: str, summary: str, dtype: str, aliases: tuple[str, ...] = ()) -> Operator:
    # Its size, the maximum of the block, the quotient and its rounding.
    sizes = tensors("data", shapes=ROWS, more={"block": BLOCK})
    return Operator(
        name,
        "low_precision",
        summary,
        sizes=sizes,
        outputs=_quantized(dtype),
        flops=lambda case: 4 * case.tensor("data").elements,
        rough=True,
        aliases=aliases,
    )


OPERATORS = (
    Operator(
        "float8_matmul",
        "low_precision",
        "the product of floats of eight bits with a transposed matrix of them, times the scale of each",
        sizes={size: _float8(*shape) for size, shape in PRODUCTS.items()},
        outputs=_product,
        flops=_scaled_flops,
        aliases=("scaled_mm",),
    ),
    Operator(
        "int8_weight_matmul",
        "low_precision",
        "the product with a transposed weight in eight bits (out, in), one scale for each row of it",
        sizes={size: _int8(*shape) for size, shape in PRODUCTS.items()},
        outputs=linear,
        flops=_weighed_flops,
        aliases=("int8_weight_only_matmul",),
    ),
    Operator(
        "int4_matmul",
        "low_precision",
        "the product with a transposed weight in four bits less 8, two in a byte, one scale for each block",
        sizes={size: _int4(*shape) for size, shape in PRODUCTS.items()},
        outputs=_half_bytes,
        flops=_packed_flops,
        aliases=("int4_weight_only_matmul",),
    ),
    _quantize(
        "block_quantize",
        "data as whole numbers of eight bits, the largest of each block 127, and the scales of the blocks",
        "int8",
    ),
    _quantize(
        "block_quantize_float8",
        "data as floats of eight bits, and the scales of the blocks, the powers of two that keep the largest in reach",
        FLOAT8,
        aliases=("mxfp8_quantize",),
    ),
    Operator(
        "block_scaled_matmul",
        "low_precision",
        "the product with a transposed matrix, both in eight bits with a scale for each block of a row",
        sizes={size: _blocks(*shape) for size, shape in PRODUCTS.items()},
        outputs=_block_product,
        flops=_block_flops,
    ),
)
