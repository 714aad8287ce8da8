"""Pooling: the maximum or mean of a sliding window; a part of the family of convolutions."""

from __future__ import annotations

from collections.abc import Mapping

from opperf.catalog.definition import Arguments, Operator, elements
from opperf.catalog.formulas import each, like, product, tensors, wholes, windows
from opperf.domain.case import Case
from opperf.domain.tensor import TensorSpec

_Shape = tuple[int, ...]

# Pooling: the maximum or mean of a sliding window; data is (batch, channels, space...).
#
# `kernel`, `stride` and `padding` are one number or one for each space dimension; a stride of None is the kernel.
# Window counts are rounded down. An output element costs one operation for each element of its window.

SHAPES: dict[int, dict[str, _Shape]] = {
    1: {"small": (1, 8, 128), "common": (16, 64, 1024), "large": (16, 256, 4096), "skewed": (1, 1, 1_000_000)},
    2: {"small": (1, 4, 16, 16), "common": (16, 64, 32, 32), "large": (16, 64, 128, 128), "skewed": (64, 2048, 7, 7)},
    3: {
        "small": (1, 2, 8, 8, 8),
        "common": (2, 32, 8, 28, 28),
        "large": (2, 64, 16, 56, 56),
        "skewed": (1, 2048, 2, 7, 7),
    },
}


#: Windows of a norm that do not overlap.
NORM: Arguments = {"kernel": (2, 2), "stride": (2, 2), "power": 2}


def _kernel(case: Case) -> _Shape:
    return wholes(case, "kernel", len(case.tensor("data").shape) - 2)


def _pool_outputs(case: Case) -> tuple[TensorSpec, ...]:
    data, kernel = case.tensor("data"), _kernel(case)
    space = windows(case, data.shape[2:], kernel, wholes(case, "stride", len(kernel), kernel))
    return (like(data, (*data.shape[:2], *space)),)


def _global(case: Case) -> tuple[TensorSpec, ...]:
    data = case.tensor("data")
    return (like(data, data.shape[:2] + (1,) * (len(data.shape) - 2)),)


def _pool(name: str, summary: str, dimensions: int, kernel: int, stride: int, padding: int) -> Operator:
    attributes: Mapping[str, _Shape] = {
        "kernel": (kernel,) * dimensions,
        "stride": (stride,) * dimensions,
        "padding": (padding,) * dimensions,
    }
    sizes = tensors("data", shapes=SHAPES[dimensions], more=attributes)
    return Operator(
        name,
        "pooling",
        summary,
        sizes=sizes,
        outputs=_pool_outputs,
        flops=lambda case: elements(_pool_outputs(case)) * product(_kernel(case)),
        differentiable=("data",),
    )


def _global_pool(name: str, summary: str, dimensions: int = 2) -> Operator:
    sizes = tensors("data", shapes=SHAPES[dimensions])
    return Operator(name, "pooling", summary, sizes, _global, each(1), differentiable=("data",))


def _adapt(case: Case) -> tuple[TensorSpec, ...]:
    data = case.tensor("data")
    return (like(data, (*data.shape[:2], *wholes(case, "output_size", 2))),)


def _powers(case: Case) -> int:
    # A power of each element in each window and its addition, and a root of each sum.
    return elements(_pool_outputs(case)) * (2 * product(_kernel(case)) + 1)


OPERATORS = (
    _pool("max_pool1d", "the largest value of each window of a sequence", 1, kernel=3, stride=2, padding=1),
    _pool("avg_pool1d", "the mean of each window of a sequence, padding as zeros", 1, kernel=2, stride=2, padding=0),
    _pool("max_pool2d", "the largest value of each window of an image", 2, kernel=3, stride=2, padding=1),
    _pool("avg_pool2d", "the mean of each window of an image, padding as zeros", 2, kernel=2, stride=2, padding=0),
    _global_pool("global_avg_pool2d", "the mean of each channel of an image, as one pixel"),
    _global_pool("global_max_pool2d", "the largest value of each channel of an image, as one pixel"),
    _pool("max_pool3d", "the largest value of each window of a volume", 3, kernel=3, stride=2, padding=1),
    _pool("avg_pool3d", "the mean of each window of a volume, padding as zeros", 3, kernel=2, stride=2, padding=0),
    _global_pool("global_avg_pool1d", "the mean of each channel of a sequence, as one number", 1),
    _global_pool("global_max_pool1d", "the largest value of each channel of a sequence, as one number", 1),
    _global_pool("global_avg_pool3d", "the mean of each channel of a volume, as one number", 3),
    _global_pool("global_max_pool3d", "the largest value of each channel of a volume, as one number", 3),
    # Windows overlap by a row or column at most where the sizes do not divide: each element is added about once.
    Operator(
        "adaptive_avg_pool2d",
        "pooling",
        "the means of `output_size` windows that cover the image evenly and may overlap",
        sizes={
            size: {"data": TensorSpec(shape), "output_size": (edge, edge)}
            for (size, shape), edge in zip(SHAPES[2].items(), (5, 7, 7, 3), strict=True)
        },
        outputs=_adapt,
        flops=each(1),
        differentiable=("data",),
    ),
    Operator(
        "lp_pool2d",
        "pooling",
        "the `power`-norm of each window of an image",
        sizes=tensors("data", shapes=SHAPES[2], range=(0.1, 1.0), more=NORM),
        outputs=_pool_outputs,
        flops=_powers,
        differentiable=("data",),
    ),
)
