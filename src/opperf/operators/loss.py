"""Losses of predictions (`data`) against `labels`; `reduction` is `mean`, `sum` or `none`.

Operations: one function of each pair, and one addition into the mean or sum. Cross entropy is a log-softmax, five for
each logit (see `softmax`), and `nll_loss` picks one number for each label.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from opperf.case import Argument, Case
from opperf.errors import InputError
from opperf.operators.definition import Formula, Operator
from opperf.operators.formulas import ELEMENTWISE, each, indices, like
from opperf.tensor import TensorSpec

_Shape = tuple[int, ...]
#: From the shape of the predictions to the labels.
_Labels = Callable[[_Shape], TensorSpec]

REDUCTIONS = ("mean", "sum", "none")
#: (samples, classes): an image classifier's, a language model's (large), few classes (skewed).
CLASSES = {"small": (32, 32), "common": (1024, 1000), "large": (512, 32_000), "skewed": (100_000, 10)}


def _reduces(case: Case) -> bool:
    value = case.get("reduction", "mean")
    if value not in REDUCTIONS:
        raise InputError(f"`reduction` of `{case.operator}` is {value!r}", hint=f"known: {', '.join(REDUCTIONS)}")
    return value != "none"


def _loss(case: Case) -> tuple[TensorSpec, ...]:
    # One number for each label: labels are as large as the data, or lack its class dimension.
    return (like(case.tensor("data"), () if _reduces(case) else case.tensor("labels").shape),)


def _function_and_sum(case: Case) -> int:
    return case.tensor("labels").elements * (2 if _reduces(case) else 1)


def _declare(
    name: str,
    summary: str,
    *,
    values: tuple[float, float] = (-1.0, 1.0),
    labels: _Labels = TensorSpec,
    shapes: Mapping[str, _Shape] = ELEMENTWISE,
    flops: Formula = _function_and_sum,
    attributes: Mapping[str, Argument] | None = None,
    aliases: tuple[str, ...] = (),
) -> Operator:
    return Operator(
        name=name,
        category="loss",
        summary=summary,
        inputs=("data", "labels"),
        sizes={
            size: {
                "data": TensorSpec(shape, range=values),
                "labels": labels(shape),
                "reduction": "mean",
                **(attributes or {}),
            }
            for size, shape in shapes.items()
        },
        outputs=_loss,
        flops=flops,
        differentiable=("data",),
        aliases=aliases,
    )


def _class_labels(shape: _Shape) -> TensorSpec:
    return indices(shape[:1], shape[1])


def _probabilities(shape: _Shape) -> TensorSpec:
    return TensorSpec(shape, range=(0.01, 1.0))


OPERATORS = (
    _declare("mse_loss", "the squared difference", aliases=("l2_loss",)),
    _declare("l1_loss", "the absolute difference", aliases=("mae_loss",)),
    _declare(
        "smooth_l1_loss",
        "the absolute difference minus beta / 2, below `beta` half the squared difference over it",
        attributes={"beta": 1.0},
        aliases=("smooth_l1",),
    ),
    _declare(
        "cross_entropy",
        "minus the log-softmax of the logits (samples, classes, ...) at the class labels (samples, ...)",
        labels=_class_labels,
        shapes=CLASSES,
        flops=each(5),
        aliases=("softmax_cross_entropy",),
    ),
    _declare(
        "nll_loss",
        "minus the log-probability (samples, classes, ...) at the class labels (samples, ...)",
        values=(-5.0, -0.1),
        labels=_class_labels,
        shapes=CLASSES,
        aliases=("nll",),
    ),
    _declare(
        "binary_cross_entropy_with_logits",
        "minus the log-likelihood of labels in [0, 1] by the sigmoid of the logits",
        labels=_probabilities,
        aliases=("bce_with_logits",),
    ),
    _declare(
        "kl_div",
        "labels (log(labels) - data): the data are log-probabilities, the mean is over all elements",
        values=(-5.0, -0.1),
        labels=_probabilities,
        aliases=("kl_divergence",),
    ),
)
