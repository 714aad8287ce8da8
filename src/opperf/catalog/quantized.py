"""Whole numbers of eight bits that stand for real ones: (number - zero point) times scale.

Two operations for each element that is turned into the other kind, and two for each multiply-add of a product.
"""

from __future__ import annotations

from opperf.catalog.definition import FORWARD_ONLY, Operator, Outputs
from opperf.catalog.formulas import ELEMENTWISE, each, like
from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

#: All that eight bits hold.
VALUES = (-128.0, 128.0)
#: A power of two, so that dividing by it rounds nothing away.
SCALE = {"scale": 0.0078125, "zero_point": 3}
#: (rows, length, columns)
PRODUCTS = {
    "small": (32, 32, 32),
    "common": (256, 256, 256),
    "large": (1024, 1024, 1024),
    "skewed": (4096, 64, 64),
}


def _turned(dtype: str) -> Outputs:
    return lambda case: (like(case.tensor("data"), dtype=dtype),)


def _product(case: Case) -> tuple[TensorSpec, ...]:
    (rows, length), (taken, columns) = case.tensor("lhs").shape, case.tensor("rhs").shape
    if length != taken:
        raise InputError(f"`{case.operator}` multiplies along {length} and {taken} elements, which must be equal")
    return (TensorSpec((rows, columns), "int32"),)


def _product_flops(case: Case) -> int:
    return 2 * case.tensor("lhs").elements * case.tensor("rhs").shape[1]


def _bytes(shape: tuple[int, ...]) -> TensorSpec:
    return TensorSpec(shape, "int8", range=VALUES)


OPERATORS = (
    Operator(
        name="quantize_int8",
        category="quantized",
        summary="data over the scale, rounded, plus the zero point, as eight bits that hold the nearest number",
        inputs=("data",),
        sizes={size: {"data": TensorSpec(shape), **SCALE} for size, shape in ELEMENTWISE.items()},
        outputs=_turned("int8"),
        flops=each(2),
        directions=FORWARD_ONLY,
        rough=True,
    ),
    Operator(
        name="dequantize_int8",
        category="quantized",
        summary="eight bits minus the zero point, times the scale",
        inputs=("data",),
        sizes={size: {"data": _bytes(shape), **SCALE} for size, shape in ELEMENTWISE.items()},
        outputs=_turned("float32"),
        flops=each(2),
        directions=FORWARD_ONLY,
    ),
    Operator(
        name="int8_matmul",
        category="quantized",
        summary="the product of two matrices of eight bits, summed in 32",
        inputs=("lhs", "rhs"),
        sizes={
            size: {"lhs": _bytes((rows, length)), "rhs": _bytes((length, columns))}
            for size, (rows, length, columns) in PRODUCTS.items()
        },
        outputs=_product,
        flops=_product_flops,
        directions=FORWARD_ONLY,
    ),
)
