"""Losses, composed as Gluon's are: `nd.softmax_cross_entropy` and its like return a sum, or only gradients.

The functions with NumPy's names return a mean without dimensions, as the neutral losses do.
"""

from __future__ import annotations

from typing import Any

from opperf.backends.call import Binding
from opperf.backends.mxnet.spelling import composed


def mse_loss(F: Any, data: Any, labels: Any, reduction: str = "mean") -> Any:
    """Square the difference."""
    return _reduced(F, F.np.square(data - labels), reduction)


def l1_loss(F: Any, data: Any, labels: Any, reduction: str = "mean") -> Any:
    """Take the absolute difference."""
    return _reduced(F, F.np.absolute(data - labels), reduction)


def smooth_l1_loss(F: Any, data: Any, labels: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    """Use MXNet's, whose `scalar` is one over the square root of the neutral `beta`."""
    return _reduced(F, F.npx.smooth_l1(data - labels, scalar=beta**-0.5), reduction)


def cross_entropy(F: Any, data: Any, labels: Any, reduction: str = "mean") -> Any:
    """Pick from the log-softmax."""
    return nll_loss(F, F.npx.log_softmax(data, axis=1), labels, reduction)


def nll_loss(F: Any, data: Any, labels: Any, reduction: str = "mean") -> Any:
    """Pick each label's element and change its sign."""
    return _reduced(F, F.np.negative(F.npx.pick(data, labels, axis=1)), reduction)


def binary_cross_entropy_with_logits(F: Any, data: Any, labels: Any, reduction: str = "mean") -> Any:
    """Use the form that does not overflow: max(x, 0) - x z + log(1 + exp(-|x|))."""
    rest = F.np.log1p(F.np.exp(F.np.negative(F.np.absolute(data))))
    return _reduced(F, F.npx.relu(data) - data * labels + rest, reduction)


def kl_div(F: Any, data: Any, labels: Any, reduction: str = "mean") -> Any:
    """Weigh the difference of the logarithms."""
    return _reduced(F, labels * (F.np.log(labels) - data), reduction)


def _reduced(F: Any, values: Any, reduction: str) -> Any:
    if reduction == "none":
        return values
    return F.np.mean(values) if reduction == "mean" else F.np.sum(values)


BINDINGS: dict[str, Binding] = {
    function.__name__: composed(
        function, "data, labels", "reduction=reduction" + more, note=f"{note}, composed", numpy=True
    )
    for function, note, more in (
        (mse_loss, "np.square of a difference", ""),
        (l1_loss, "np.absolute of a difference", ""),
        (smooth_l1_loss, "npx.smooth_l1 of a difference", ", beta=beta"),
        (cross_entropy, "npx.log_softmax and npx.pick", ""),
        (nll_loss, "npx.pick and a sign change", ""),
        (binary_cross_entropy_with_logits, "npx.relu, a product and np.log1p of an exponential", ""),
        (kl_div, "np.log, a difference and a product", ""),
    )
}
