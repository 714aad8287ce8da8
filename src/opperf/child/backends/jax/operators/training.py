"""Losses and optimizer updates in JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import nn
from jax.scipy.special import xlogy

from opperf.child.backends.array_operators import MADE_OF, Updates
from opperf.child.backends.call import Binding, Call, Missing, composition


def mse_loss(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return the squared difference."""
    return _reduce(jnp.square(data - labels), reduction)


def l1_loss(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return the absolute difference."""
    return _reduce(jnp.abs(data - labels), reduction)


def smooth_l1_loss(data: Any, labels: Any, reduction: str | None, beta: float | None) -> Any:
    """Return the absolute difference, rounded off below beta."""
    width = 1.0 if beta is None else beta
    difference = jnp.abs(data - labels)
    near = difference < width
    return _reduce(jnp.where(near, 0.5 * jnp.square(difference) / width, difference - 0.5 * width), reduction)


def cross_entropy(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return minus the log-softmax of the logits at the labels."""
    return nll_loss(nn.log_softmax(data, axis=1), labels, reduction)


def nll_loss(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return minus the log-probability at the labels."""
    values = jnp.take_along_axis(data, jnp.expand_dims(labels, 1), axis=1)
    return _reduce(-jnp.squeeze(values, 1), reduction)


def binary_cross_entropy_with_logits(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return minus the log-likelihood of the labels, in the form that does not overflow."""
    return _reduce(nn.softplus(data) - data * labels, reduction)


def kl_div(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return labels (log(labels) - data), zero where the label is zero."""
    return _reduce(xlogy(labels, labels) - labels * data, reduction)


def binary_cross_entropy(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return minus the log-likelihood of the labels by probabilities."""
    return _reduce(-(labels * jnp.log(data) + (1 - labels) * jnp.log1p(-data)), reduction)


def huber_loss(data: Any, labels: Any, reduction: str | None, delta: float | None) -> Any:
    """Return half the squared difference, a straight line beyond delta."""
    width = 1.0 if delta is None else delta
    distance = jnp.abs(data - labels)
    losses = jnp.where(distance < width, 0.5 * jnp.square(distance), width * (distance - 0.5 * width))
    return _reduce(losses, reduction)


def hinge_loss(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return what is missing from a margin of one."""
    return _reduce(nn.relu(1 - data * labels), reduction)


def squared_hinge_loss(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return the square of what is missing from a margin of one."""
    return _reduce(jnp.square(nn.relu(1 - data * labels)), reduction)


def logistic_loss(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return the softplus of minus the margin."""
    return _reduce(nn.softplus(-data * labels), reduction)


def poisson_nll_loss(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return the rate less the labels' share."""
    return _reduce(jnp.exp(data) - labels * data, reduction)


def gaussian_nll_loss(data: Any, labels: Any, variance: Any, reduction: str | None) -> Any:
    """Return the logarithm of the variance and the squared difference over it, half of both."""
    spread = jnp.maximum(variance, 1e-6)
    return _reduce(0.5 * (jnp.log(spread) + jnp.square(data - labels) / spread), reduction)


def margin_ranking_loss(lhs: Any, rhs: Any, labels: Any, reduction: str | None, margin: float | None) -> Any:
    """Return what is missing from the margin."""
    return _reduce(nn.relu((margin or 0.0) - labels * (lhs - rhs)), reduction)


def cosine_embedding_loss(lhs: Any, rhs: Any, labels: Any, reduction: str | None, margin: float | None) -> Any:
    """Return one minus the cosine, or what of it is beyond the margin."""
    squares = jnp.sum(jnp.square(lhs), axis=1) * jnp.sum(jnp.square(rhs), axis=1)
    cosine = jnp.sum(lhs * rhs, axis=1) / jnp.sqrt(squares)
    apart = jnp.where(labels == -1, nn.relu(cosine - (margin or 0.0)), 0)
    return _reduce(jnp.where(labels == 1, 1 - cosine, apart), reduction)


def triplet_margin_loss(anchor: Any, positive: Any, negative: Any, reduction: str | None, margin: float | None) -> Any:
    """Return by how much the positive is not nearer than the negative."""
    near = jnp.sqrt(jnp.sum(jnp.square(anchor - positive), axis=-1))
    far = jnp.sqrt(jnp.sum(jnp.square(anchor - negative), axis=-1))
    return _reduce(nn.relu((1.0 if margin is None else margin) + near - far), reduction)


def _reduce(losses: Any, reduction: str | None) -> Any:
    return {"mean": jnp.mean, "sum": jnp.sum, "none": lambda same: same}[reduction or "mean"](losses)


def _loss(function: Any, of: str, more: str = "", tensors: str = "data, labels") -> Call:
    return composition(function, f"{tensors}, reduction{more}", note=f"composed of {of}")


UPDATES = Updates(jnp, immutable=True)

_OPTIMIZER: dict[str, Binding] = {name: UPDATES.binding(name) for name in MADE_OF}


BINDINGS: dict[str, Binding] = {
    # Losses in JAX: it has none, and users compose them.
    "mse_loss": _loss(mse_loss, "a difference, jax.numpy.square and mean"),
    "l1_loss": _loss(l1_loss, "a difference, jax.numpy.abs and mean"),
    "smooth_l1_loss": _loss(smooth_l1_loss, "jax.numpy.abs, square, where and mean", ", beta"),
    "cross_entropy": _loss(cross_entropy, "jax.nn.log_softmax, jax.numpy.take_along_axis and mean"),
    "nll_loss": _loss(nll_loss, "jax.numpy.take_along_axis and mean"),
    "binary_cross_entropy_with_logits": _loss(
        binary_cross_entropy_with_logits, "jax.nn.softplus, a product and jax.numpy.mean"
    ),
    "kl_div": _loss(kl_div, "jax.scipy.special.xlogy, a product and jax.numpy.mean"),
    "binary_cross_entropy": _loss(binary_cross_entropy, "jax.numpy.log, log1p, products and mean"),
    "huber_loss": _loss(huber_loss, "jax.numpy.abs, square, where and mean", ", delta"),
    "hinge_loss": _loss(hinge_loss, "a product, jax.nn.relu and jax.numpy.mean"),
    "squared_hinge_loss": _loss(squared_hinge_loss, "a product, jax.nn.relu, jax.numpy.square and mean"),
    "logistic_loss": _loss(logistic_loss, "a product, jax.nn.softplus and jax.numpy.mean"),
    "poisson_nll_loss": _loss(poisson_nll_loss, "jax.numpy.exp, a product and mean"),
    "gaussian_nll_loss": _loss(
        gaussian_nll_loss, "jax.numpy.log, square, a quotient and mean", tensors="data, labels, variance"
    ),
    "margin_ranking_loss": _loss(
        margin_ranking_loss, "a product, jax.nn.relu and jax.numpy.mean", ", margin", "lhs, rhs, labels"
    ),
    "cosine_embedding_loss": _loss(
        cosine_embedding_loss, "jax.numpy.sum of products, sqrt, where and mean", ", margin", "lhs, rhs, labels"
    ),
    "triplet_margin_loss": _loss(
        triplet_margin_loss, "jax.numpy.sqrt of sums of squares, and mean", ", margin", "anchor, positive, negative"
    ),
    "ctc_loss": Missing("JAX has no CTC loss; Optax has it"),
    **_OPTIMIZER,
}
