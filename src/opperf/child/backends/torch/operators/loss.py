"""PyTorch's losses."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from opperf.child.backends.call import Binding, call, composed

REDUCED = {None: torch.mean, "mean": torch.mean, "sum": torch.sum}


def hinge_loss(data: Any, labels: Any, reduction: str | None = None) -> Any:
    """Return what is missing from a margin of one."""
    return _reduced(torch.relu(1 - data * labels), reduction)


def squared_hinge_loss(data: Any, labels: Any, reduction: str | None = None) -> Any:
    """Return the square of what is missing from a margin of one."""
    return _reduced(torch.square(torch.relu(1 - data * labels)), reduction)


def ctc_loss(data: Any, labels: Any) -> Any:
    """Return the loss of whole sequences; PyTorch's takes log-probabilities and the lengths of both."""
    time, batch, _ = data.shape
    lengths = (time,) * batch, (labels.shape[1],) * batch
    return functional.ctc_loss(functional.log_softmax(data, 2), labels, *lengths, reduction="none")


def _reduced(losses: Any, reduction: str | None) -> Any:
    return losses if reduction == "none" else REDUCED[reduction](losses)


#: `kl_div` warns that its mean over all elements, which the catalog wants, will be over samples in a later PyTorch.
SAME = (
    "mse_loss", "l1_loss", "cross_entropy", "nll_loss", "binary_cross_entropy_with_logits", "kl_div",
    "binary_cross_entropy", "poisson_nll_loss",
)  # fmt: skip
#: The arguments of losses that take others than data and labels, and what they are told beside the reduction.
OTHERS = {
    "smooth_l1_loss": ("input=data, target=labels", "beta=beta"),
    "huber_loss": ("input=data, target=labels", "delta=delta"),
    "gaussian_nll_loss": ("input=data, target=labels, var=variance", ""),
    "margin_ranking_loss": ("input1=lhs, input2=rhs, target=labels", "margin=margin"),
    "cosine_embedding_loss": ("input1=lhs, input2=rhs, target=labels", "margin=margin"),
    # The catalog's distance has no `eps` in its differences.
    "triplet_margin_loss": ("anchor=anchor, positive=positive, negative=negative", "margin=margin, eps=0.0"),
}

BINDINGS: dict[str, Binding] = {
    **{name: call(f"torch.nn.functional.{name}", "input=data, target=labels", "reduction=reduction") for name in SAME},
    **{
        name: call(f"torch.nn.functional.{name}", tensors, f"reduction=reduction, {more}")
        for name, (tensors, more) in OTHERS.items()
    },
    "logistic_loss": call("torch.nn.functional.soft_margin_loss", "input=data, target=labels", "reduction=reduction"),
    "hinge_loss": composed(
        hinge_loss, "data, labels", "reduction=reduction", note="a product, torch.relu and torch.mean"
    ),
    "squared_hinge_loss": composed(
        squared_hinge_loss,
        "data, labels",
        "reduction=reduction",
        note="a product, torch.relu, torch.square and torch.mean",
    ),
    "ctc_loss": composed(
        ctc_loss, "data, labels", note="torch.nn.functional.log_softmax and ctc_loss, of sequences in their full length"
    ),
}
