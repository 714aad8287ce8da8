"""Reductions, sorting, and scores of predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.catalog.definition import Arguments, Formula, Operator
from opperf.catalog.formulas import (
    ELEMENTWISE,
    axis_of,
    each,
    indices,
    like,
    reduce_shape,
    same,
    scalar,
    tensors,
    whole,
)
from opperf.catalog.training import CLASSES
from opperf.domain.case import Argument, Case
from opperf.domain.tensor import ITEM_SIZES, TensorSpec

# Operators that fold a tensor along axes, and running sums along one.
#
# `axis` is a number, a tuple or None for all axes; `keepdims` leaves folded axes with size one. Floating-point
# operations are counted for each element of the input (work for each output is left out, being smaller by the length of
# the axis): one to add, multiply or compare; two to square and add; four for a variance (mean, difference, square and
# add) and for a stable logsumexp (maximum, difference, exponential, sum).

#: Along rows, but for the tall thin table, which is folded along its long axis.
AXES = {"small": 1, "common": 1, "large": 1, "skewed": 0}

#: Kinds of data: only dtype and range are read.
PLAIN = TensorSpec(())
#: Close to one, so that a product of 100,000 of them neither overflows nor vanishes.
NEAR_ONE = TensorSpec((), range=(0.99, 1.01))
TRUTH = TensorSpec((), "bool")


def _sizes(tensor: TensorSpec, **attributes: Argument) -> dict[str, dict[str, Argument]]:
    return {
        size: {"data": TensorSpec(shape, tensor.dtype, range=tensor.range), "axis": AXES[size], **attributes}
        for size, shape in ELEMENTWISE.items()
    }


def _reduction(
    name: str,
    summary: str,
    *,
    operations: int = 1,
    data: TensorSpec = PLAIN,
    result: str | None = None,
    **more: Any,
) -> Operator:
    """Declare `name`; with its own `result` dtype it has no gradient. `more` are fields of `Operator`."""

    def outputs(case: Case) -> tuple[TensorSpec, ...]:
        tensor = case.tensor("data")
        return (like(tensor, reduce_shape(case, tensor.shape), result),)

    sizes, inputs = _sizes(data, keepdims=False), () if result else ("data",)
    return Operator(name, "reduction", summary, sizes, outputs, each(operations), differentiable=inputs, **more)


def _running(name: str, summary: str, data: TensorSpec, *, rough: bool = False) -> Operator:
    return Operator(name, "reduction", summary, _sizes(data), same(), each(1), differentiable=("data",), rough=rough)


_REDUCTION = (
    _reduction("sum", "the sum", aliasing=("backward",)),
    _reduction("mean", "the mean", aliases=("average",)),
    _reduction("max", "the largest value", aliases=("amax",)),
    _reduction("min", "the smallest value", aliases=("amin",)),
    _reduction("prod", "the product", data=NEAR_ONE, aliases=("product",), rough=True),
    _reduction("nansum", "the sum of all values that are not NaN", aliasing=("backward",)),
    _reduction("nanprod", "the product of all values that are not NaN", data=NEAR_ONE, rough=True),
    _reduction("norm", "the Euclidean norm", operations=2, aliases=("l2_norm",)),
    _reduction("variance", "the population variance", operations=4, aliases=("var",)),
    _reduction("std", "the population standard deviation", operations=4, aliases=("standard_deviation",)),
    _reduction("logsumexp", "the logarithm of the sum of the exponentials", operations=4),
    _reduction("argmax", "the index of the largest value (along one axis; None flattens)", result="int64"),
    _reduction("argmin", "the index of the smallest value (along one axis; None flattens)", result="int64"),
    _reduction("all", "whether all are true", data=TRUTH, result="bool"),
    _reduction("any", "whether at least one is true", data=TRUTH, result="bool"),
    _running("cumsum", "the running sum along an axis", PLAIN),
    _running("cumprod", "the running product along an axis", NEAR_ONE, rough=True),
)


# Sorting and selecting along an axis.
#
# Sorting n elements is counted as n log2(n) comparisons, rounded up to whole levels of a merge, and selecting k of n as
# n log2(k), those of a heap; one comparison is one operation. Sizes are smaller than elsewhere, for sorting is slow.

_Shape = tuple[int, ...]

SHAPES: Mapping[str, _Shape] = {"small": (32, 32), "common": (256, 1024), "large": (1024, 1024), "skewed": (4, 100_000)}
#: (rows, row length), k: the best few of a vocabulary's logits.
SELECTIONS: Mapping[str, tuple[_Shape, int]] = {
    "small": ((8, 128), 5),
    "common": ((32, 32_000), 50),
    "large": ((128, 32_000), 50),
    "skewed": ((1, 1_000_000), 10),
}


def _levels(count: int) -> int:
    """Return log2 of the count, rounded up, at least one."""
    return max(1, (count - 1).bit_length())


def _sort_flops(case: Case) -> int:
    data = case.tensor("data")
    return data.elements * _levels(data.shape[axis_of(case, len(data.shape))])


def _positions(case: Case) -> tuple[TensorSpec, ...]:
    return (like(case.tensor("data"), dtype="int64"),)


def _best(case: Case) -> tuple[TensorSpec, ...]:
    data = case.tensor("data")
    axis = axis_of(case, len(data.shape))
    shape = (*data.shape[:axis], whole(case, "k"), *data.shape[axis + 1 :])
    return (like(data, shape), like(data, shape, "int64"))


def _sort(name: str, summary: str, *, smooth: bool) -> Operator:
    sizes = tensors("data", shapes=SHAPES, more={"axis": -1, "descending": False})
    outputs, inputs = (same(), ("data",)) if smooth else (_positions, ())
    return Operator(name, "sorting", summary, sizes, outputs, _sort_flops, differentiable=inputs)


_SORTING = (
    _sort("sort", "the sorted values (indices returned with them are not counted)", smooth=True),
    _sort("argsort", "the indices that sort the values", smooth=False),
    Operator(
        "topk",
        "sorting",
        "the `k` largest (or smallest) values, sorted, and their indices",
        sizes={
            size: {"data": TensorSpec(shape), "k": k, "axis": -1, "largest": True}
            for size, (shape, k) in SELECTIONS.items()
        },
        outputs=_best,
        flops=lambda case: case.tensor("data").elements * _levels(whole(case, "k")),
        differentiable=("data",),
        aliases=("top_k",),
    ),
)


# Scores of predictions (`data`) against `labels`, as an evaluation reports them: one number, and no gradient.
#
# Operations: one comparison for each prediction where the best class is looked for; what is done to each pair
# elsewhere, with one addition into the sum.

#: Samples of two classes; the skewed ones are of prime number.
SAMPLES = {"small": 32, "common": 100_000, "large": 4_000_000, "skewed": 1_000_003}


def _picked_bytes(case: Case) -> int:
    return case.tensor("labels").elements * ITEM_SIZES[case.tensor("data").dtype]


def _score(
    name: str,
    summary: str,
    sizes: Mapping[str, Arguments],
    flops: Formula,
    aliases: tuple[str, ...] = (),
    *,
    picks: bool = False,
) -> Operator:
    """Declare `name`; one that `picks` reads of the data the element of each label and no more."""
    reads, rows = (("labels",), _picked_bytes) if picks else (None, None)
    return Operator(name, "score", summary, sizes, scalar, flops, reads=reads, picks=rows, aliases=aliases)


def _classes(bounds: tuple[float, float] | None = None, **attributes: Argument) -> dict[str, Arguments]:
    return {
        size: {"data": TensorSpec(shape, range=bounds), "labels": indices(shape[:1], shape[1]), **attributes}
        for size, shape in CLASSES.items()
    }


def _two_classes() -> dict[str, Arguments]:
    return {size: {"data": TensorSpec((count, 2)), "labels": indices((count,), 2)} for size, count in SAMPLES.items()}


def _pairs() -> dict[str, Arguments]:
    return tensors("data", "labels")


def _pick(operations: int) -> Formula:
    return each(operations, "labels")


PROBABILITIES = (0.01, 1.0)

_SCORE = (
    _score("accuracy", "the fraction of samples whose top class is the label", _classes(), each(1)),
    _score(
        "top_k_accuracy",
        "the fraction of samples whose label is among the top `k` classes",
        _classes(k=5),
        each(1),
        ("topk_accuracy",),
    ),
    _score(
        "f1_score",
        "the harmonic mean of precision and recall of the second class",
        _two_classes(),
        each(1),
        ("f1",),
    ),
    _score("mean_absolute_error", "the mean of the absolute differences", _pairs(), each(3), ("mae",)),
    _score("mean_squared_error", "the mean of the squared differences", _pairs(), each(3), ("mse",)),
    _score("root_mean_squared_error", "the square root of the mean squared difference", _pairs(), each(3), ("rmse",)),
    _score(
        "negative_log_likelihood",
        "the mean of minus the logarithm of the probability of each label",
        _classes(PROBABILITIES),
        _pick(2),
        picks=True,
    ),
    _score(
        "perplexity",
        "e to the power of the negative log-likelihood of the labels",
        _classes(PROBABILITIES),
        _pick(2),
        picks=True,
    ),
    _score(
        "pearson_correlation",
        "the Pearson correlation of data and labels",
        _pairs(),
        # Two sums for the means; then two differences, three products, and three sums of them.
        each(10),
        ("pearsonr",),
    ),
)


OPERATORS = (*_REDUCTION, *_SORTING, *_SCORE)
