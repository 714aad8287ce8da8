"""Weights before training: drawn numbers whose spread the shape (out, in) decides.

Operations as for other drawn numbers, one each; an orthogonal matrix is drawn and then decomposed (QR), which is
2 m n^2 - 2/3 n^3 operations for m rows and n columns, m being the larger.
"""

from __future__ import annotations

from collections.abc import Mapping

from opperf.catalog.definition import FORWARD_ONLY, Formula, Operator
from opperf.catalog.formulas import ELEMENTWISE, each_output, element_type, wholes
from opperf.domain.case import Argument, Case, DType
from opperf.domain.tensor import TensorSpec

_Shape = tuple[int, ...]

#: An orthogonal matrix takes the cube of its side.
ORTHOGONAL: Mapping[str, _Shape] = {
    "small": (32, 32),
    "common": (256, 256),
    "large": (1024, 1024),
    "skewed": (20_000, 8),
}


def _weights(case: Case) -> tuple[TensorSpec, ...]:
    return (TensorSpec(wholes(case, "shape", 2), element_type(case)),)


_DRAWN = each_output(1, _weights)


def _decomposition(case: Case) -> int:
    columns, rows = sorted(wholes(case, "shape", 2))
    return rows * columns + 2 * rows * columns**2 - 2 * columns**3 // 3


def _initializer(
    name: str,
    summary: str,
    aliases: tuple[str, ...] = (),
    *,
    shapes: Mapping[str, _Shape] = ELEMENTWISE,
    flops: Formula = _DRAWN,
    **attributes: Argument,
) -> Operator:
    return Operator(
        name=name,
        category="initializer",
        summary=summary,
        inputs=(),
        sizes={size: {"shape": shape, "dtype": DType("float32"), **attributes} for size, shape in shapes.items()},
        outputs=_weights,
        flops=flops,
        directions=FORWARD_ONLY,
        random=True,
        aliases=aliases,
    )


OPERATORS = (
    _initializer("xavier_uniform", "evenly within the root of 6 / (in + out)", ("glorot_uniform",)),
    _initializer("xavier_normal", "normal, of deviation the root of 2 / (in + out)", ("glorot_normal",)),
    _initializer("kaiming_uniform", "evenly within the root of 6 / in", ("he_uniform",)),
    _initializer("kaiming_normal", "normal, of deviation the root of 2 / in", ("he_normal", "msra_prelu")),
    _initializer("truncated_normal", "normal, of deviation `std`, drawn again beyond two deviations", std=0.02),
    _initializer(
        "orthogonal",
        "a matrix whose columns, or rows where these are fewer, are of length one and at right angles",
        shapes=ORTHOGONAL,
        flops=_decomposition,
    ),
)
