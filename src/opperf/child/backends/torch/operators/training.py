"""Losses and optimizer updates in PyTorch."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F

from opperf.child.backends.arrays.losses import Means, annotate, losses
from opperf.child.backends.binding import Binding, call, compositions

MEANS: Means = {None: torch.mean, "mean": torch.mean, "sum": torch.sum, "none": lambda same: same}
LOSSES = losses(torch, MEANS, relu=torch.relu, softplus=F.softplus, log_softmax=F.log_softmax)
#: What losses are made of that PyTorch does not have.
NOTES = {"hinge_loss": "a product, torch.relu", "squared_hinge_loss": "a product, torch.relu, torch.square"}


def ctc_loss(data: Any, labels: Any) -> Any:
    """Return the loss of whole sequences; PyTorch's takes log-probabilities and the lengths of both."""
    time, batch, _ = data.shape
    lengths = (time,) * batch, (labels.shape[1],) * batch
    return F.ctc_loss(F.log_softmax(data, 2), labels, *lengths, reduction="none")


#: `kl_div` warns that its mean over all elements, which the catalog wants, will be over samples in a later PyTorch.
SAME = (
    "mse_loss", "l1_loss", "cross_entropy", "nll_loss", "binary_cross_entropy_with_logits", "kl_div",
    "binary_cross_entropy", "poisson_nll_loss",
)  # fmt: skip
#: Losses with arguments other than data and labels, and their settings besides the reduction.
OTHERS = {
    "smooth_l1_loss": ("input=data, target=labels", "beta=beta"),
    "huber_loss": ("input=data, target=labels", "delta=delta"),
    "gaussian_nll_loss": ("input=data, target=labels, var=variance", ""),
    "margin_ranking_loss": ("input1=lhs, input2=rhs, target=labels", "margin=margin"),
    "cosine_embedding_loss": ("input1=lhs, input2=rhs, target=labels", "margin=margin"),
    # The catalog's distance has no `eps` in its differences.
    "triplet_margin_loss": ("anchor=anchor, positive=positive, negative=negative", "margin=margin, eps=0.0"),
}


def sgd_momentum_update(weight: Any, gradient: Any, velocity: Any, learning_rate: float, momentum: float) -> Any:
    velocity.mul_(momentum).sub_(gradient, alpha=learning_rate)
    return weight.add_(velocity)


def nag_update(weight: Any, gradient: Any, velocity: Any, learning_rate: float, momentum: float) -> Any:
    velocity.mul_(momentum).sub_(gradient, alpha=learning_rate)
    return weight.add_(velocity, alpha=momentum).sub_(gradient, alpha=learning_rate)


def adam_update(
    weight: Any,
    gradient: Any,
    mean: Any,
    variance: Any,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> Any:
    _remember(gradient, mean, variance, beta1, beta2)
    return weight.addcdiv_(mean, variance.sqrt().add_(epsilon), value=-learning_rate)


def adamw_update(
    weight: Any,
    gradient: Any,
    mean: Any,
    variance: Any,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    weight_decay: float,
) -> Any:
    weight.mul_(1 - learning_rate * weight_decay)
    return adam_update(weight, gradient, mean, variance, learning_rate, beta1, beta2, epsilon)


def rmsprop_update(weight: Any, gradient: Any, squares: Any, learning_rate: float, rho: float, epsilon: float) -> Any:
    squares.mul_(rho).addcmul_(gradient, gradient, value=1 - rho)
    return weight.addcdiv_(gradient, squares.add(epsilon).sqrt_(), value=-learning_rate)


def adagrad_update(weight: Any, gradient: Any, squares: Any, learning_rate: float, epsilon: float) -> Any:
    squares.addcmul_(gradient, gradient)
    return weight.addcdiv_(gradient, squares.sqrt().add_(epsilon), value=-learning_rate)


def adadelta_update(
    weight: Any, gradient: Any, squares: Any, steps: Any, learning_rate: float, rho: float, epsilon: float
) -> Any:
    squares.mul_(rho).addcmul_(gradient, gradient, value=1 - rho)
    root = squares.add(epsilon).sqrt_()
    step = steps.add(epsilon).sqrt_().div_(root).mul_(gradient)
    steps.mul_(rho).addcmul_(step, step, value=1 - rho)
    return weight.sub_(step, alpha=learning_rate)


def ftrl_update(
    weight: Any, gradient: Any, sums: Any, squares: Any, learning_rate: float, l1: float, beta: float
) -> Any:
    before = squares.sqrt()
    root = squares.addcmul_(gradient, gradient).sqrt()
    sums.add_(gradient).addcmul_(root - before, weight, value=-1 / learning_rate)
    shrinkage = F.softshrink(sums, l1)
    return torch.div(shrinkage.mul_(-learning_rate), root.add_(beta), out=weight)


def lamb_update(
    weight: Any,
    gradient: Any,
    mean: Any,
    variance: Any,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    weight_decay: float,
) -> Any:
    _remember(gradient, mean, variance, beta1, beta2)
    step = mean.div(variance.sqrt().add_(epsilon)).add_(weight, alpha=weight_decay)
    return weight.sub_(step.mul_(weight.norm() / step.norm()), alpha=learning_rate)


def _remember(gradient: Any, mean: Any, variance: Any, beta1: float, beta2: float) -> None:
    mean.lerp_(gradient, 1 - beta1)
    variance.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)


BINDINGS: dict[str, Binding] = {
    # PyTorch's losses.
    **{name: call(f"torch.nn.functional.{name}", "input=data, target=labels", "reduction=reduction") for name in SAME},
    **{
        name: call(f"torch.nn.functional.{name}", tensors, f"reduction=reduction, {more}")
        for name, (tensors, more) in OTHERS.items()
    },
    "logistic_loss": call("torch.nn.functional.soft_margin_loss", "input=data, target=labels", "reduction=reduction"),
    **annotate(LOSSES, NOTES, "{} and torch.mean"),
    **compositions(
        ctc_loss=(ctc_loss, "torch.nn.functional.log_softmax and ctc_loss, of sequences in their full length")
    ),
    # PyTorch's optimizer steps, which change the weight in place.
    #
    # All but the simplest are the same calls, in the same order, as `torch.optim` makes them for one tensor.
    "sgd_update": call("torch.Tensor.sub_", "self=weight, other=gradient", "alpha=learning_rate"),
    **compositions(
        sgd_momentum_update=(sgd_momentum_update, "mul_, sub_ and add_, in place"),
        nag_update=(nag_update, "mul_, sub_, add_ and sub_, in place"),
        signsgd_update=(
            lambda weight, gradient, learning_rate: weight.sub_(torch.sign(gradient), alpha=learning_rate),
            "torch.sign and sub_, in place",
        ),
        adam_update=(adam_update, "lerp_, mul_, addcmul_, sqrt, add_ and addcdiv_, in place"),
        adamw_update=(adamw_update, "mul_, lerp_, mul_, addcmul_, sqrt, add_ and addcdiv_, in place"),
        rmsprop_update=(rmsprop_update, "mul_, addcmul_, add, sqrt_ and addcdiv_, in place"),
        adagrad_update=(adagrad_update, "addcmul_, sqrt, add_ and addcdiv_, in place"),
        adadelta_update=(adadelta_update, "mul_, addcmul_, add, sqrt_, div_, mul_ and sub_, in place"),
        ftrl_update=(ftrl_update, "sqrt, addcmul_, softshrink, mul_, add_ and torch.div, in place"),
        lamb_update=(lamb_update, "lerp_, mul_, addcmul_, div, add_, norm and sub_, in place"),
    ),
}
