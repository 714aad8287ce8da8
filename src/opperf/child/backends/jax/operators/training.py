"""Losses and optimizer updates in JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import nn
from jax.scipy.special import xlogy

from opperf.child.backends.arrays.losses import Means, annotate, losses
from opperf.child.backends.arrays.updates import Updates
from opperf.child.backends.binding import Binding, gaps

MEANS: Means = {None: jnp.mean, "mean": jnp.mean, "sum": jnp.sum, "none": lambda same: same}


def kl_div(data: Any, labels: Any, reduction: str | None) -> Any:
    return MEANS[reduction](xlogy(labels, labels) - labels * data)


LOSSES = {"kl_div": kl_div, **losses(jnp, MEANS, relu=nn.relu, softplus=nn.softplus, log_softmax=nn.log_softmax)}


#: What each loss is made of: JAX has none, and users compose them.
NOTES = {
    "mse_loss": "a difference, jax.numpy.square and mean",
    "l1_loss": "a difference, jax.numpy.abs and mean",
    "smooth_l1_loss": "jax.numpy.abs, square, where and mean",
    "cross_entropy": "jax.nn.log_softmax, jax.numpy.take_along_axis and mean",
    "nll_loss": "jax.numpy.take_along_axis and mean",
    "binary_cross_entropy_with_logits": "jax.nn.softplus, a product and jax.numpy.mean",
    "kl_div": "jax.scipy.special.xlogy, a product and jax.numpy.mean",
    "binary_cross_entropy": "jax.numpy.log, log1p, products and mean",
    "huber_loss": "jax.numpy.abs, square, where and mean",
    "hinge_loss": "a product, jax.nn.relu and jax.numpy.mean",
    "squared_hinge_loss": "a product, jax.nn.relu, jax.numpy.square and mean",
    "logistic_loss": "a product, jax.nn.softplus and jax.numpy.mean",
    "poisson_nll_loss": "jax.numpy.exp, a product and mean",
    "gaussian_nll_loss": "jax.numpy.log, square, a quotient and mean",
    "margin_ranking_loss": "a product, jax.nn.relu and jax.numpy.mean",
    "cosine_embedding_loss": "jax.numpy.sum of products, sqrt, where and mean",
    "triplet_margin_loss": "jax.numpy.sqrt of sums of squares, and mean",
}


BINDINGS: dict[str, Binding] = {
    **annotate(LOSSES, NOTES, "composed of {}"),
    **gaps("JAX has no CTC loss; Optax has it", "ctc_loss"),
    **Updates(jnp, immutable=True).bindings(),
}
