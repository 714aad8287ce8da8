"""Losses, which NumPy users write with arithmetic and a mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from opperf.backends.call import Binding, composed
from opperf.backends.numpy.operators.softmax import log_softmax

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
    picked = np.take_along_axis(data, np.expand_dims(labels, 1), axis=1)
    return REDUCTIONS[reduction](-np.squeeze(picked, axis=1))


def cross_entropy(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return minus the log-softmax at the class labels."""
    return nll_loss(log_softmax(data, 1), labels, reduction)


def binary_cross_entropy_with_logits(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return log(1 + e^data) - data labels, without overflow."""
    return REDUCTIONS[reduction](np.logaddexp(data, 0.0) - data * labels)


def kl_div(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return labels (log(labels) - data)."""
    return REDUCTIONS[reduction](labels * (np.log(labels) - data))


def _loss(function: Callable[..., Any], note: str, more: str = "") -> Binding:
    note = f"{note}; numpy.mean or numpy.sum where it reduces"
    return composed(function, f"data, labels, reduction{more}", note=note)


BINDINGS: dict[str, Binding] = {
    "mse_loss": _loss(mse_loss, "numpy.subtract and numpy.square"),
    "l1_loss": _loss(l1_loss, "numpy.subtract and numpy.abs"),
    "smooth_l1_loss": _loss(smooth_l1_loss, "numpy.abs, numpy.square, numpy.where and arithmetic", ", beta"),
    "cross_entropy": _loss(cross_entropy, "log-softmax of five functions, and numpy.take_along_axis"),
    "nll_loss": _loss(nll_loss, "numpy.take_along_axis and numpy.negative"),
    "binary_cross_entropy_with_logits": _loss(
        binary_cross_entropy_with_logits, "numpy.logaddexp, numpy.multiply and numpy.subtract"
    ),
    "kl_div": _loss(kl_div, "numpy.log, numpy.subtract and numpy.multiply"),
}
