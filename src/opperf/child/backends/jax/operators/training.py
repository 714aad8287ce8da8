"""Losses and optimizer updates in JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import nn
from jax.scipy.special import xlogy

from opperf.child.backends.arrays.losses import Means, losses
from opperf.child.backends.arrays.updates import MADE_OF, Updates
from opperf.child.backends.binding import Binding, Call, Missing, composition

MEANS: Means = {None: jnp.mean, "mean": jnp.mean, "sum": jnp.sum, "none": lambda same: same}


def kl_div(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return labels (log(labels) - data), zero where the label is zero."""
    return MEANS[reduction](xlogy(labels, labels) - labels * data)


LOSSES = {"kl_div": kl_div, **losses(jnp, MEANS, relu=nn.relu, softplus=nn.softplus, log_softmax=nn.log_softmax)}


def _loss(name: str, of: str, more: str = "", tensors: str = "data, labels") -> Call:
    return composition(LOSSES[name], f"{tensors}, reduction{more}", note=f"composed of {of}")


UPDATES = Updates(jnp, immutable=True)

_OPTIMIZER: dict[str, Binding] = {name: UPDATES.binding(name) for name in MADE_OF}


BINDINGS: dict[str, Binding] = {
    # Losses in JAX: it has none, and users compose them.
    "mse_loss": _loss("mse_loss", "a difference, jax.numpy.square and mean"),
    "l1_loss": _loss("l1_loss", "a difference, jax.numpy.abs and mean"),
    "smooth_l1_loss": _loss("smooth_l1_loss", "jax.numpy.abs, square, where and mean", ", beta"),
    "cross_entropy": _loss("cross_entropy", "jax.nn.log_softmax, jax.numpy.take_along_axis and mean"),
    "nll_loss": _loss("nll_loss", "jax.numpy.take_along_axis and mean"),
    "binary_cross_entropy_with_logits": _loss(
        "binary_cross_entropy_with_logits", "jax.nn.softplus, a product and jax.numpy.mean"
    ),
    "kl_div": _loss("kl_div", "jax.scipy.special.xlogy, a product and jax.numpy.mean"),
    "binary_cross_entropy": _loss("binary_cross_entropy", "jax.numpy.log, log1p, products and mean"),
    "huber_loss": _loss("huber_loss", "jax.numpy.abs, square, where and mean", ", delta"),
    "hinge_loss": _loss("hinge_loss", "a product, jax.nn.relu and jax.numpy.mean"),
    "squared_hinge_loss": _loss("squared_hinge_loss", "a product, jax.nn.relu, jax.numpy.square and mean"),
    "logistic_loss": _loss("logistic_loss", "a product, jax.nn.softplus and jax.numpy.mean"),
    "poisson_nll_loss": _loss("poisson_nll_loss", "jax.numpy.exp, a product and mean"),
    "gaussian_nll_loss": _loss(
        "gaussian_nll_loss", "jax.numpy.log, square, a quotient and mean", tensors="data, labels, variance"
    ),
    "margin_ranking_loss": _loss(
        "margin_ranking_loss", "a product, jax.nn.relu and jax.numpy.mean", ", margin", "lhs, rhs, labels"
    ),
    "cosine_embedding_loss": _loss(
        "cosine_embedding_loss", "jax.numpy.sum of products, sqrt, where and mean", ", margin", "lhs, rhs, labels"
    ),
    "triplet_margin_loss": _loss(
        "triplet_margin_loss", "jax.numpy.sqrt of sums of squares, and mean", ", margin", "anchor, positive, negative"
    ),
    "ctc_loss": Missing("JAX has no CTC loss; Optax has it"),
    **_OPTIMIZER,
}
