"""Losses written once, for frameworks that share NumPy's functions.

They are closures and not methods: looking `self` up for each function would add to the time of every call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, Union

from opperf.child.backends.binding import Binding, compositions

Loss: TypeAlias = Callable[..., Any]
#: What makes the losses of all elements one, by the attribute `reduction`; a case that does not say takes the mean.
Means: TypeAlias = Mapping[Union[str, None], Loss]


def losses(np: Any, means: Means, *, relu: Loss, softplus: Loss, log_softmax: Loss) -> dict[str, Loss]:
    """Return the losses by name: those of data and labels, of classes, and of distances.

    `np` has NumPy's functions. Those after `means` some frameworks have of their own, with gradients of their own.
    """
    table: dict[str, Loss] = {
        "mse_loss": lambda data, labels, reduction: means[reduction](np.square(data - labels)),
        "l1_loss": lambda data, labels, reduction: means[reduction](np.abs(data - labels)),
        "binary_cross_entropy_with_logits": lambda data, labels, reduction: means[reduction](
            softplus(data) - data * labels
        ),
        "binary_cross_entropy": lambda data, labels, reduction: means[reduction](
            -(labels * np.log(data) + (1 - labels) * np.log1p(-data))
        ),
        "hinge_loss": lambda data, labels, reduction: means[reduction](relu(1 - data * labels)),
        "squared_hinge_loss": lambda data, labels, reduction: means[reduction](np.square(relu(1 - data * labels))),
        "logistic_loss": lambda data, labels, reduction: means[reduction](softplus(-data * labels)),
        "poisson_nll_loss": lambda data, labels, reduction: means[reduction](np.exp(data) - labels * data),
        "margin_ranking_loss": lambda lhs, rhs, labels, reduction, margin: means[reduction](
            relu((margin or 0.0) - labels * (lhs - rhs))
        ),
        **_of_classes(np, means, log_softmax),
        **_of_distances(np, means, relu),
    }
    return table


def annotate(table: Mapping[str, Loss], notes: Mapping[str, str], note: str) -> dict[str, Binding]:
    """Return the bindings of losses by their notes, each of which stands in `note` in place of `{}`."""
    return compositions(**{name: (table[name], note.format(of)) for name, of in notes.items()})


def _of_classes(np: Any, means: Means, log_softmax: Loss) -> dict[str, Loss]:
    def nll_loss(data: Any, labels: Any, reduction: str | None) -> Any:
        """Return minus the log-probability at the labels, classes being axis 1."""
        values = np.take_along_axis(data, np.expand_dims(labels, 1), axis=1)
        return means[reduction](-np.squeeze(values, axis=1))

    def cross_entropy(data: Any, labels: Any, reduction: str | None) -> Any:
        return nll_loss(log_softmax(data, 1), labels, reduction)

    return {"nll_loss": nll_loss, "cross_entropy": cross_entropy}


def _of_distances(np: Any, means: Means, relu: Loss) -> dict[str, Loss]:
    def smooth_l1_loss(data: Any, labels: Any, reduction: str | None, beta: float | None) -> Any:
        """Return the absolute difference, rounded off below beta."""
        width = 1.0 if beta is None else beta
        distance = np.abs(data - labels)
        if not width:
            return means[reduction](distance)
        near = np.square(distance) * (0.5 / width)
        return means[reduction](np.where(distance < width, near, distance - 0.5 * width))

    def huber_loss(data: Any, labels: Any, reduction: str | None, delta: float | None) -> Any:
        """Return half the squared difference, a straight line beyond delta."""
        width = 1.0 if delta is None else delta
        distance = np.abs(data - labels)
        far = width * (distance - 0.5 * width)
        return means[reduction](np.where(distance < width, 0.5 * np.square(distance), far))

    def gaussian_nll_loss(data: Any, labels: Any, variance: Any, reduction: str | None) -> Any:
        """Return the logarithm of the variance and the squared difference over it, half of both."""
        spread = np.maximum(variance, 1e-6)
        return means[reduction](0.5 * (np.log(spread) + np.square(data - labels) / spread))

    def cosine_embedding_loss(lhs: Any, rhs: Any, labels: Any, reduction: str | None, margin: float | None) -> Any:
        """Return one minus the cosine, or what of it is beyond the margin."""
        squares = np.sum(np.square(lhs), axis=1) * np.sum(np.square(rhs), axis=1)
        cosine = np.sum(lhs * rhs, axis=1) / np.sqrt(squares)
        apart = np.where(labels == -1, relu(cosine - (margin or 0.0)), 0)
        return means[reduction](np.where(labels == 1, 1 - cosine, apart))

    def triplet_margin_loss(
        anchor: Any, positive: Any, negative: Any, reduction: str | None, margin: float | None
    ) -> Any:
        """Return by how much the positive is not nearer than the negative."""
        near = np.sqrt(np.sum(np.square(anchor - positive), axis=-1))
        far = np.sqrt(np.sum(np.square(anchor - negative), axis=-1))
        return means[reduction](relu((1.0 if margin is None else margin) + near - far))

    several = (smooth_l1_loss, huber_loss, gaussian_nll_loss, cosine_embedding_loss, triplet_margin_loss)
    return {function.__name__: function for function in several}
