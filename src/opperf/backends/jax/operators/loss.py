"""Losses in JAX: it has none, and users compose them."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import nn
from jax.scipy.special import xlogy

from opperf.backends.call import Binding, Call, composed


def mse_loss(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return the squared difference."""
    return _reduced(jnp.square(data - labels), reduction)


def l1_loss(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return the absolute difference."""
    return _reduced(jnp.abs(data - labels), reduction)


def smooth_l1_loss(data: Any, labels: Any, reduction: str | None, beta: float | None) -> Any:
    """Return the absolute difference, rounded off below beta."""
    width = 1.0 if beta is None else beta
    difference = jnp.abs(data - labels)
    near = difference < width
    return _reduced(jnp.where(near, 0.5 * jnp.square(difference) / width, difference - 0.5 * width), reduction)


def cross_entropy(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return minus the log-softmax of the logits at the labels."""
    return nll_loss(nn.log_softmax(data, axis=1), labels, reduction)


def nll_loss(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return minus the log-probability at the labels."""
    picked = jnp.take_along_axis(data, jnp.expand_dims(labels, 1), axis=1)
    return _reduced(-jnp.squeeze(picked, 1), reduction)


def binary_cross_entropy_with_logits(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return minus the log-likelihood of the labels, in the form that does not overflow."""
    return _reduced(nn.softplus(data) - data * labels, reduction)


def kl_div(data: Any, labels: Any, reduction: str | None) -> Any:
    """Return labels (log(labels) - data), zero where the label is zero."""
    return _reduced(xlogy(labels, labels) - labels * data, reduction)


def _reduced(losses: Any, reduction: str | None) -> Any:
    return {"mean": jnp.mean, "sum": jnp.sum, "none": lambda same: same}[reduction or "mean"](losses)


def _loss(function: Any, of: str, more: str = "") -> Call:
    return composed(function, f"data, labels, reduction{more}", note=f"composed of {of}")


BINDINGS: dict[str, Binding] = {
    "mse_loss": _loss(mse_loss, "a difference, jax.numpy.square and mean"),
    "l1_loss": _loss(l1_loss, "a difference, jax.numpy.abs and mean"),
    "smooth_l1_loss": _loss(smooth_l1_loss, "jax.numpy.abs, square, where and mean", ", beta"),
    "cross_entropy": _loss(cross_entropy, "jax.nn.log_softmax, jax.numpy.take_along_axis and mean"),
    "nll_loss": _loss(nll_loss, "jax.numpy.take_along_axis and mean"),
    "binary_cross_entropy_with_logits": _loss(
        binary_cross_entropy_with_logits, "jax.nn.softplus, a product and jax.numpy.mean"
    ),
    "kl_div": _loss(kl_div, "jax.scipy.special.xlogy, a product and jax.numpy.mean"),
}
