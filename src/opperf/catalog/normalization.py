"""Normalization, softmax and dropout."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from opperf.catalog.definition import Formula, Operator
from opperf.catalog.formulas import each, flag, same, tensors
from opperf.domain.case import Argument, Case
from opperf.domain.tensor import TensorSpec

# Operators that shift and scale values by statistics of the data.
#
# Operations for each element: seven where mean and variance are taken of the data (one to sum; three for the difference
# and its square added; one to scale; a multiply-add for weight and bias), two where they are known (all of it folds
# into one multiply-add), four for a root mean square with weight (a multiply-add, two multiplications), three without.

_Shape = tuple[int, ...]

#: (batch, channels, height, width); the skewed ones have many channels of few pixels.
IMAGES: dict[str, _Shape] = {
    "small": (2, 8, 8, 8),
    "common": (16, 64, 32, 32),
    "large": (32, 128, 64, 64),
    "skewed": (32, 2048, 4, 4),
}
#: (batch, length, width); the skewed ones have short rows.
ROWS: dict[str, _Shape] = {
    "small": (2, 4, 128),
    "common": (8, 128, 1024),
    "large": (16, 1024, 1024),
    "skewed": (100, 1000, 10),
}


def _normalization(
    name: str,
    summary: str,
    *,
    shapes: Mapping[str, _Shape],
    parameters: Callable[[_Shape], Mapping[str, TensorSpec]],
    attributes: Mapping[str, Argument],
    flops: Formula,
    mutates: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
) -> Operator:
    """Declare `name`; `parameters` makes the other inputs from the shape of the data."""
    roles = tuple(parameters(shapes["common"]))
    sizes = {size: {"data": TensorSpec(shape), **parameters(shape), **attributes} for size, shape in shapes.items()}
    inputs = ("data", *(role for role in roles if role not in mutates))
    return Operator(
        name,
        "normalization",
        summary,
        sizes=sizes,
        outputs=same(),
        flops=flops,
        differentiable=inputs,
        mutates=mutates,
        aliases=aliases,
    )


def _affine(axis: int) -> Callable[[_Shape], dict[str, TensorSpec]]:
    """Return weight and bias for each element along `axis`."""
    return lambda shape: {"weight": TensorSpec((shape[axis],), range=(0.5, 1.5)), "bias": TensorSpec((shape[axis],))}


def _affine_and_running(shape: _Shape) -> dict[str, TensorSpec]:
    channels = (shape[1],)
    return {
        **_affine(1)(shape),
        "running_mean": TensorSpec(channels),
        "running_var": TensorSpec(channels, range=(0.5, 1.5)),
    }


def _batch_norm_flops(case: Case) -> int:
    return (7 if flag(case, "training", True) else 2) * case.tensor("data").elements


_NORMALIZATION = (
    _normalization(
        "batch_norm",
        "each channel normalized over the batch; with `training`, running statistics are updated, otherwise used",
        shapes=IMAGES,
        parameters=_affine_and_running,
        attributes={"training": True, "epsilon": 1e-5},
        flops=_batch_norm_flops,
        mutates=("running_mean", "running_var"),
    ),
    _normalization(
        "layer_norm",
        "the data normalized over the last dimensions, as many as the weight has",
        shapes=ROWS,
        parameters=_affine(-1),
        attributes={"epsilon": 1e-5},
        flops=each(7),
    ),
    _normalization(
        "rms_norm",
        "the data divided by the root mean square of the last dimensions, as many as the weight has",
        shapes=ROWS,
        parameters=lambda shape: {"weight": TensorSpec((shape[-1],), range=(0.5, 1.5))},
        attributes={"epsilon": 1e-5},
        flops=each(4),
    ),
    _normalization(
        "group_norm",
        "groups of channels of each sample normalized",
        shapes=IMAGES,
        parameters=_affine(1),
        attributes={"groups": 4, "epsilon": 1e-5},
        flops=each(7),
    ),
    _normalization(
        "instance_norm",
        "each channel of each sample normalized",
        shapes=IMAGES,
        parameters=_affine(1),
        attributes={"epsilon": 1e-5},
        flops=each(7),
    ),
    _normalization(
        "l2_normalize",
        "the data divided by its Euclidean norm along an axis",
        shapes=ROWS,
        parameters=lambda shape: {},
        attributes={"axis": -1, "epsilon": 1e-5},
        flops=each(3),
        aliases=("l2_normalization",),
    ),
)


# Softmax and its kin along an axis.
#
# Operations for each element, of the stable form: maximum, difference, exponential, sum, division (for the logarithm, a
# difference in place of the division): five; softmin changes the sign first: six.

#: Large is a batch of vocabulary logits.
SHAPES = {"small": (8, 128), "common": (1024, 1024), "large": (512, 32_768), "skewed": (100_000, 10)}


def _softmax(name: str, summary: str, operations: int) -> Operator:
    sizes = tensors("data", shapes=SHAPES, more={"axis": -1})
    return Operator(name, "softmax", summary, sizes, same(), each(operations), differentiable=("data",))


_SOFTMAX = (
    _softmax("softmax", "exponentials that sum to one", 5),
    _softmax("log_softmax", "the logarithm of softmax", 5),
    _softmax("softmin", "the softmax of the negative", 6),
)


# Dropout: one random function of each element, and so one operation each; none when not training.


def _flops(case: Case) -> int:
    return case.tensor("data").elements if flag(case, "training", True) else 0


_DROPOUT = (
    Operator(
        "dropout",
        "dropout",
        "zeros with probability `rate`, the rest scaled up by 1 / (1 - rate); the input when not `training`",
        sizes=tensors("data", more={"rate": 0.5, "training": True}),
        outputs=same(),
        flops=_flops,
        differentiable=("data",),
        random=True,
    ),
)


OPERATORS = (*_NORMALIZATION, *_SOFTMAX, *_DROPOUT)
