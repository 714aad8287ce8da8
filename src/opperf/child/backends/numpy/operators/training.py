"""Losses and optimizer updates in NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from opperf.child.backends.arrays.losses import Means, annotate, losses
from opperf.child.backends.arrays.updates import Updates
from opperf.child.backends.binding import Binding, gaps
from opperf.child.backends.numpy.operators.normalization import log_softmax

MEANS: Means = {None: np.mean, "mean": np.mean, "sum": np.sum, "none": np.asarray}


def kl_div(data: Any, labels: Any, reduction: str | None) -> Any:
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
#: What each loss is made of, which NumPy users write with arithmetic and a mean.
NOTES = {
    "mse_loss": "numpy.subtract and numpy.square",
    "l1_loss": "numpy.subtract and numpy.abs",
    "smooth_l1_loss": "numpy.abs, numpy.square, numpy.where and arithmetic",
    "cross_entropy": "log-softmax of five functions, and numpy.take_along_axis",
    "nll_loss": "numpy.take_along_axis and numpy.negative",
    "binary_cross_entropy_with_logits": "numpy.logaddexp, numpy.multiply and numpy.subtract",
    "kl_div": "numpy.log, numpy.subtract and numpy.multiply",
    "binary_cross_entropy": "numpy.log, numpy.log1p and arithmetic",
    "huber_loss": "numpy.abs, numpy.square, numpy.where and arithmetic",
    "hinge_loss": "numpy.multiply, numpy.subtract and numpy.maximum",
    "squared_hinge_loss": "arithmetic, numpy.maximum and numpy.square",
    "logistic_loss": "numpy.multiply and numpy.logaddexp",
    "poisson_nll_loss": "numpy.exp, numpy.multiply and numpy.subtract",
    "gaussian_nll_loss": "numpy.maximum, numpy.log, numpy.square and arithmetic",
    "margin_ranking_loss": "arithmetic and numpy.maximum",
    "cosine_embedding_loss": "numpy.sum of products, numpy.sqrt and numpy.where",
    "triplet_margin_loss": "numpy.sqrt of sums of squares, numpy.maximum",
}

BINDINGS: dict[str, Binding] = {
    **annotate(LOSSES, NOTES, "{}; numpy.mean or numpy.sum where it reduces"),
    **gaps("NumPy has no CTC loss: it is a recursion over time", "ctc_loss"),
    **Updates(np, immutable=False).bindings(),
}
