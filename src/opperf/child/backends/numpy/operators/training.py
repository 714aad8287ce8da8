"""Losses and optimizer updates in NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from opperf.child.backends.arrays.losses import Means, losses
from opperf.child.backends.arrays.updates import MADE_OF, Updates
from opperf.child.backends.binding import Binding, Missing, composition
from opperf.child.backends.numpy.operators.normalization import log_softmax

MEANS: Means = {None: np.mean, "mean": np.mean, "sum": np.sum, "none": np.asarray}


def kl_div(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return labels (log(labels) - data)."""
    return MEANS[reduction](labels * (np.log(labels) - data))


LOSSES = {
    "kl_div": kl_div,
    **losses(
        np,
        MEANS,
        relu=partial(np.maximum, 0),
        softplus=partial(np.logaddexp, 0.0),
        log_softmax=log_softmax,
    ),
}


def _loss(name: str, note: str, more: str = "", tensors: str = "data, labels") -> Binding:
    note = f"{note}; numpy.mean or numpy.sum where it reduces"
    return composition(LOSSES[name], f"{tensors}, reduction{more}", note=note)


UPDATES = Updates(np, immutable=False)

_OPTIMIZER: dict[str, Binding] = {name: UPDATES.binding(name) for name in MADE_OF}


BINDINGS: dict[str, Binding] = {
    # Losses, which NumPy users write with arithmetic and a mean.
    "mse_loss": _loss("mse_loss", "numpy.subtract and numpy.square"),
    "l1_loss": _loss("l1_loss", "numpy.subtract and numpy.abs"),
    "smooth_l1_loss": _loss("smooth_l1_loss", "numpy.abs, numpy.square, numpy.where and arithmetic", ", beta"),
    "cross_entropy": _loss("cross_entropy", "log-softmax of five functions, and numpy.take_along_axis"),
    "nll_loss": _loss("nll_loss", "numpy.take_along_axis and numpy.negative"),
    "binary_cross_entropy_with_logits": _loss(
        "binary_cross_entropy_with_logits", "numpy.logaddexp, numpy.multiply and numpy.subtract"
    ),
    "kl_div": _loss("kl_div", "numpy.log, numpy.subtract and numpy.multiply"),
    "binary_cross_entropy": _loss("binary_cross_entropy", "numpy.log, numpy.log1p and arithmetic"),
    "huber_loss": _loss("huber_loss", "numpy.abs, numpy.square, numpy.where and arithmetic", ", delta"),
    "hinge_loss": _loss("hinge_loss", "numpy.multiply, numpy.subtract and numpy.maximum"),
    "squared_hinge_loss": _loss("squared_hinge_loss", "arithmetic, numpy.maximum and numpy.square"),
    "logistic_loss": _loss("logistic_loss", "numpy.multiply and numpy.logaddexp"),
    "poisson_nll_loss": _loss("poisson_nll_loss", "numpy.exp, numpy.multiply and numpy.subtract"),
    "gaussian_nll_loss": _loss(
        "gaussian_nll_loss", "numpy.maximum, numpy.log, numpy.square and arithmetic", tensors="data, labels, variance"
    ),
    "margin_ranking_loss": _loss("margin_ranking_loss", "arithmetic and numpy.maximum", ", margin", "lhs, rhs, labels"),
    "cosine_embedding_loss": _loss(
        "cosine_embedding_loss", "numpy.sum of products, numpy.sqrt and numpy.where", ", margin", "lhs, rhs, labels"
    ),
    "triplet_margin_loss": _loss(
        "triplet_margin_loss", "numpy.sqrt of sums of squares, numpy.maximum", ", margin", "anchor, positive, negative"
    ),
    "ctc_loss": Missing("NumPy has no CTC loss: it is a recursion over time"),
    **_OPTIMIZER,
}
