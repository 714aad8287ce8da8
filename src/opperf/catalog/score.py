"""Scores of predictions (`data`) against `labels`, as an evaluation reports them: one number, and no gradient.

Operations: one comparison for each prediction where the best class is looked for; what is done to each pair elsewhere,
with one addition into the sum.
"""

from __future__ import annotations

from collections.abc import Mapping

from opperf.catalog.definition import FORWARD_ONLY, Arguments, Formula, Operator
from opperf.catalog.formulas import ELEMENTWISE, each, indices, like
from opperf.catalog.loss import CLASSES
from opperf.domain.case import Argument, Case
from opperf.domain.tensor import ITEM_SIZES, TensorSpec

_Shape = tuple[int, ...]

#: Samples of two classes; the skewed ones are of prime number.
SAMPLES = {"small": 32, "common": 100_000, "large": 4_000_000, "skewed": 1_000_003}


def _number(case: Case) -> tuple[TensorSpec, ...]:
    return (like(case.tensor("data"), ()),)


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
    return Operator(
        name=name,
        category="score",
        summary=summary,
        inputs=("data", "labels"),
        sizes=sizes,
        outputs=_number,
        flops=flops,
        directions=FORWARD_ONLY,
        reads=("labels",) if picks else None,
        picks=_picked_bytes if picks else None,
        aliases=aliases,
    )


def _classes(bounds: tuple[float, float] | None = None, **attributes: Argument) -> dict[str, Arguments]:
    return {
        size: {"data": TensorSpec(shape, range=bounds), "labels": indices(shape[:1], shape[1]), **attributes}
        for size, shape in CLASSES.items()
    }


def _two_classes() -> dict[str, Arguments]:
    return {size: {"data": TensorSpec((count, 2)), "labels": indices((count,), 2)} for size, count in SAMPLES.items()}


def _pairs() -> dict[str, Arguments]:
    return {size: {"data": TensorSpec(shape), "labels": TensorSpec(shape)} for size, shape in ELEMENTWISE.items()}


def _picked(operations: int) -> Formula:
    return each(operations, "labels")


PROBABILITIES = (0.01, 1.0)

OPERATORS = (
    _score("accuracy", "the share of samples whose best class is the label", _classes(), each(1)),
    _score(
        "top_k_accuracy",
        "the share of samples whose label is among the best `k` classes",
        _classes(k=5),
        each(1),
        ("topk_accuracy",),
    ),
    _score(
        "f1_score",
        "the harmonic mean of precision and recall of the second of two classes",
        _two_classes(),
        each(1),
        ("f1",),
    ),
    _score("mean_absolute_error", "the mean of the absolute differences", _pairs(), each(3), ("mae",)),
    _score("mean_squared_error", "the mean of the squared differences", _pairs(), each(3), ("mse",)),
    _score("root_mean_squared_error", "the root of the mean of the squared differences", _pairs(), each(3), ("rmse",)),
    _score(
        "negative_log_likelihood",
        "the mean of minus the logarithm of the probability of each label",
        _classes(PROBABILITIES),
        _picked(2),
        picks=True,
    ),
    _score(
        "perplexity",
        "e to the power of the negative log-likelihood of the labels",
        _classes(PROBABILITIES),
        _picked(2),
        picks=True,
    ),
    _score(
        "pearson_correlation",
        "the correlation of all data with all labels",
        _pairs(),
        # Two sums for the means; then two differences, three products, and three sums of them.
        each(10),
        ("pearsonr",),
    ),
)
