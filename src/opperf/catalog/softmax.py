"""Softmax and its kin along an axis.

Operations for each element, of the stable form: maximum, difference, exponential, sum, division (for the logarithm, a
difference in place of the division): five; softmin changes the sign first: six.
"""

from __future__ import annotations

from opperf.catalog.definition import Operator
from opperf.catalog.formulas import each, same
from opperf.domain.tensor import TensorSpec

#: Large is a batch of vocabulary logits.
SHAPES = {"small": (8, 128), "common": (1024, 1024), "large": (512, 32_768), "skewed": (100_000, 10)}


def _softmax(name: str, summary: str, operations: int) -> Operator:
    return Operator(
        name=name,
        category="softmax",
        summary=summary,
        inputs=("data",),
        sizes={size: {"data": TensorSpec(shape), "axis": -1} for size, shape in SHAPES.items()},
        outputs=same(),
        flops=each(operations),
        differentiable=("data",),
    )


OPERATORS = (
    _softmax("softmax", "exponentials that sum to one", 5),
    _softmax("log_softmax", "the logarithm of softmax", 5),
    _softmax("softmin", "the softmax of the negative", 6),
)
