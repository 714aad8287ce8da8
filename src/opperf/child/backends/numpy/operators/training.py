"""Losses and optimizer updates in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from opperf.child.backends.array_operators import MADE_OF, Updates
from opperf.child.backends.call import Binding, Missing, composition
from opperf.child.backends.numpy.operators.normalization import log_softmax

#: By the attribute `reduction`; a case that does not say takes the mean.
REDUCTIONS: Mapping[str | None, Callable[[Any], Any]] = {
    None: np.mean,
    "mean": np.mean,
    "sum": np.sum,
    "none": np.asarray,
}


def mse_loss(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return the squared difference."""
    return REDUCTIONS[reduction](np.square(data - labels))


def l1_loss(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return the absolute difference."""
    return REDUCTIONS[reduction](np.abs(data - labels))


def smooth_l1_loss(data: Any, labels: Any, reduction: str | None, beta: float) -> Any:
    """Return half the squared difference over `beta` below `beta`, else the absolute difference less half of `beta`."""
    distance = np.abs(data - labels)
    return REDUCTIONS[reduction](
        np.where(distance < beta, np.square(distance) * (0.5 / beta), distance - 0.5 * beta) if beta else distance
    )


def nll_loss(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return minus the log-probability at the class labels, classes being axis 1."""
    values = np.take_along_axis(data, np.expand_dims(labels, 1), axis=1)
    return REDUCTIONS[reduction](-np.squeeze(values, axis=1))


def cross_entropy(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return minus the log-softmax at the class labels."""
    return nll_loss(log_softmax(data, 1), labels, reduction)


def binary_cross_entropy_with_logits(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return log(1 + e^data) - data labels, without overflow."""
    return REDUCTIONS[reduction](np.logaddexp(data, 0.0) - data * labels)


def kl_div(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return labels (log(labels) - data)."""
    return REDUCTIONS[reduction](labels * (np.log(labels) - data))


def binary_cross_entropy(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return minus the log-likelihood of the labels by probabilities."""
    return REDUCTIONS[reduction](-(labels * np.log(data) + (1 - labels) * np.log1p(-data)))


def huber_loss(data: Any, labels: Any, reduction: str | None, delta: float) -> Any:
    """Return half the squared difference, a straight line beyond `delta`."""
    distance = np.abs(data - labels)
    return REDUCTIONS[reduction](
        np.where(distance < delta, 0.5 * np.square(distance), delta * (distance - 0.5 * delta))
    )


def hinge_loss(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return what is missing from a margin of one."""
    return REDUCTIONS[reduction](np.maximum(1 - data * labels, 0))


def squared_hinge_loss(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return the square of what is missing from a margin of one."""
    return REDUCTIONS[reduction](np.square(np.maximum(1 - data * labels, 0)))


def logistic_loss(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return log(1 + e^(-data labels)), without overflow."""
    return REDUCTIONS[reduction](np.logaddexp(-data * labels, 0.0))


def poisson_nll_loss(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return the rate less the labels' share."""
    return REDUCTIONS[reduction](np.exp(data) - labels * data)


def gaussian_nll_loss(data: Any, labels: Any, variance: Any, reduction: str | None) -> Any:
    """Return the logarithm of the variance and the squared difference over it, half of both."""
    spread = np.maximum(variance, 1e-6)
    return REDUCTIONS[reduction](0.5 * (np.log(spread) + np.square(data - labels) / spread))


def margin_ranking_loss(lhs: Any, rhs: Any, labels: Any, reduction: str | None, margin: float) -> Any:
    """Return what is missing from the margin."""
    return REDUCTIONS[reduction](np.maximum(margin - labels * (lhs - rhs), 0))


def cosine_embedding_loss(lhs: Any, rhs: Any, labels: Any, reduction: str | None, margin: float) -> Any:
    """Return one minus the cosine, or what of it is beyond the margin."""
    squares = np.sum(np.square(lhs), axis=1) * np.sum(np.square(rhs), axis=1)
    cosine = np.sum(lhs * rhs, axis=1) / np.sqrt(squares)
    apart = np.where(labels == -1, np.maximum(cosine - margin, 0), 0)
    return REDUCTIONS[reduction](np.where(labels == 1, 1 - cosine, apart))


def triplet_margin_loss(anchor: Any, positive: Any, negative: Any, reduction: str | None, margin: float) -> Any:
    """Return by how much the positive is not nearer than the negative."""
    near = np.sqrt(np.sum(np.square(anchor - positive), axis=-1))
    far = np.sqrt(np.sum(np.square(anchor - negative), axis=-1))
    return REDUCTIONS[reduction](np.maximum(margin + near - far, 0))


def _loss(function: Callable[..., Any], note: str, more: str = "", tensors: str = "data, labels") -> Binding:
    note = f"{note}; numpy.mean or numpy.sum where it reduces"
    return composition(function, f"{tensors}, reduction{more}", note=note)


UPDATES = Updates(np, immutable=False)

_OPTIMIZER: dict[str, Binding] = {name: UPDATES.binding(name) for name in MADE_OF}


BINDINGS: dict[str, Binding] = {
    # Losses, which NumPy users write with arithmetic and a mean.
    "mse_loss": _loss(mse_loss, "numpy.subtract and numpy.square"),
    "l1_loss": _loss(l1_loss, "numpy.subtract and numpy.abs"),
    "smooth_l1_loss": _loss(smooth_l1_loss, "numpy.abs, numpy.square, numpy.where and arithmetic", ", beta"),
    "cross_entropy": _loss(cross_entropy, "log-softmax of five functions, and numpy.take_along_axis"),
    "nll_loss": _loss(nll_loss, "numpy.take_along_axis and numpy.negative"),
    "binary_cross_entropy_with_logits": _loss(
        binary_cross_entropy_with_logits, "numpy.logaddexp, numpy.multiply and numpy.subtract"
    ),
    "kl_div": _loss(kl_div, "numpy.log, numpy.subtract and numpy.multiply"),
    "binary_cross_entropy": _loss(binary_cross_entropy, "numpy.log, numpy.log1p and arithmetic"),
    "huber_loss": _loss(huber_loss, "numpy.abs, numpy.square, numpy.where and arithmetic", ", delta"),
    "hinge_loss": _loss(hinge_loss, "numpy.multiply, numpy.subtract and numpy.maximum"),
    "squared_hinge_loss": _loss(squared_hinge_loss, "arithmetic, numpy.maximum and numpy.square"),
    "logistic_loss": _loss(logistic_loss, "numpy.multiply and numpy.logaddexp"),
    "poisson_nll_loss": _loss(poisson_nll_loss, "numpy.exp, numpy.multiply and numpy.subtract"),
    "gaussian_nll_loss": _loss(
        gaussian_nll_loss, "numpy.maximum, numpy.log, numpy.square and arithmetic", tensors="data, labels, variance"
    ),
    "margin_ranking_loss": _loss(margin_ranking_loss, "arithmetic and numpy.maximum", ", margin", "lhs, rhs, labels"),
    "cosine_embedding_loss": _loss(
        cosine_embedding_loss, "numpy.sum of products, numpy.sqrt and numpy.where", ", margin", "lhs, rhs, labels"
    ),
    "triplet_margin_loss": _loss(
        triplet_margin_loss, "numpy.sqrt of sums of squares, numpy.maximum", ", margin", "anchor, positive, negative"
    ),
    "ctc_loss": Missing("NumPy has no CTC loss: it is a recursion over time"),
    **_OPTIMIZER,
}
