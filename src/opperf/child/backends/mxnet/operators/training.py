"""Losses and optimizer updates in MXNet."""

from __future__ import annotations

from typing import Any

import mxnet as mx

from opperf.child.backends.binding import Binding, call
from opperf.child.backends.mxnet.spelling import CallSpec, adjust, composition, compositions

# Losses, composed as Gluon's are: `nd.softmax_cross_entropy` and its like return a sum, or only gradients.
#
# The functions with NumPy's names return a mean without dimensions, as the neutral losses do.


def mse_loss(F: Any, data: Any, labels: Any, reduction: str = "mean") -> Any:
    return _reduce(F, F.np.square(data - labels), reduction)


def l1_loss(F: Any, data: Any, labels: Any, reduction: str = "mean") -> Any:
    return _reduce(F, F.np.absolute(data - labels), reduction)


def smooth_l1_loss(F: Any, data: Any, labels: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    """Use MXNet's, whose `scalar` is one over the square root of the neutral `beta`."""
    return _reduce(F, F.npx.smooth_l1(data - labels, scalar=beta**-0.5), reduction)


def cross_entropy(F: Any, data: Any, labels: Any, reduction: str = "mean") -> Any:
    return nll_loss(F, F.npx.log_softmax(data, axis=1), labels, reduction)


def nll_loss(F: Any, data: Any, labels: Any, reduction: str = "mean") -> Any:
    return _reduce(F, F.np.negative(F.npx.pick(data, labels, axis=1)), reduction)


def binary_cross_entropy_with_logits(F: Any, data: Any, labels: Any, reduction: str = "mean") -> Any:
    """Use the form that does not overflow: max(x, 0) - x z + log(1 + exp(-|x|))."""
    rest = F.np.log1p(F.np.exp(F.np.negative(F.np.absolute(data))))
    return _reduce(F, F.npx.relu(data) - data * labels + rest, reduction)


def kl_div(F: Any, data: Any, labels: Any, reduction: str = "mean") -> Any:
    return _reduce(F, labels * (F.np.log(labels) - data), reduction)


def binary_cross_entropy(F: Any, data: Any, labels: Any, reduction: str = "mean") -> Any:
    likelihood = labels * F.np.log(data) + (1 - labels) * F.np.log(1 - data)
    return _reduce(F, F.np.negative(likelihood), reduction)


def huber_loss(F: Any, data: Any, labels: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    """Scale MXNet's smooth l1, which is the Huber loss over delta."""
    return _reduce(F, delta * F.npx.smooth_l1(data - labels, scalar=delta**-0.5), reduction)


def hinge_loss(F: Any, data: Any, labels: Any, reduction: str = "mean") -> Any:
    return _reduce(F, F.npx.relu(1 - data * labels), reduction)


def squared_hinge_loss(F: Any, data: Any, labels: Any, reduction: str = "mean") -> Any:
    return _reduce(F, F.np.square(F.npx.relu(1 - data * labels)), reduction)


def logistic_loss(F: Any, data: Any, labels: Any, reduction: str = "mean") -> Any:
    """Use softplus, as Gluon does."""
    return _reduce(F, F.npx.activation(F.np.negative(data * labels), act_type="softrelu"), reduction)


def poisson_nll_loss(F: Any, data: Any, labels: Any, reduction: str = "mean") -> Any:
    return _reduce(F, F.np.exp(data) - labels * data, reduction)


def gaussian_nll_loss(F: Any, data: Any, labels: Any, variance: Any, reduction: str = "mean") -> Any:
    spread = F.np.maximum(variance, 1e-6)
    return _reduce(F, 0.5 * (F.np.log(spread) + F.np.square(data - labels) / spread), reduction)


def margin_ranking_loss(F: Any, lhs: Any, rhs: Any, labels: Any, reduction: str = "mean", margin: float = 0.0) -> Any:
    return _reduce(F, F.npx.relu(margin - labels * (lhs - rhs)), reduction)


def cosine_embedding_loss(F: Any, lhs: Any, rhs: Any, labels: Any, reduction: str = "mean", margin: float = 0.0) -> Any:
    squares = F.np.sum(F.np.square(lhs), axis=1) * F.np.sum(F.np.square(rhs), axis=1)
    cosine = F.np.sum(lhs * rhs, axis=1) / F.np.sqrt(squares)
    apart = F.np.where(labels == -1, F.npx.relu(cosine - margin), F.np.zeros_like(cosine))
    return _reduce(F, F.np.where(labels == 1, 1 - cosine, apart), reduction)


def triplet_margin_loss(
    F: Any, anchor: Any, positive: Any, negative: Any, reduction: str = "mean", margin: float = 1.0
) -> Any:
    near = F.np.sqrt(F.np.sum(F.np.square(anchor - positive), axis=-1))
    far = F.np.sqrt(F.np.sum(F.np.square(anchor - negative), axis=-1))
    return _reduce(F, F.npx.relu(margin + near - far), reduction)


def _reduce(F: Any, values: Any, reduction: str) -> Any:
    if reduction == "none":
        return values
    return F.np.mean(values) if reduction == "mean" else F.np.sum(values)


# MXNet's steps of optimizers: operators of its own that write into the weight, and compositions where it has none.


def adagrad_update(
    F: Any, weight: Any, gradient: Any, squares: Any, learning_rate: float, epsilon: float, out: Any
) -> Any:
    """Divide by the root of the sum of squares, as `mxnet.optimizer.AdaGrad` does."""
    F.elemwise_add(squares, F.square(gradient), out=squares)
    step = gradient / (F.sqrt(squares) + epsilon)
    return F.elemwise_sub(weight, learning_rate * step, out=out)


def adadelta_update(
    F: Any,
    weight: Any,
    gradient: Any,
    squares: Any,
    steps: Any,
    learning_rate: float,
    rho: float,
    epsilon: float,
    out: Any,
) -> Any:
    """Scale the step by the steps before it, as `mxnet.optimizer.AdaDelta` does."""
    F.elemwise_add(rho * squares, (1 - rho) * F.square(gradient), out=squares)
    step = F.sqrt(steps + epsilon) / F.sqrt(squares + epsilon) * gradient
    F.elemwise_add(rho * steps, (1 - rho) * F.square(step), out=steps)
    return F.elemwise_sub(weight, learning_rate * step, out=out)


def lamb_update(
    F: Any,
    weight: Any,
    gradient: Any,
    mean: Any,
    variance: Any,
    learning_rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    weight_decay: float,
    out: Any,
) -> Any:
    """Use MXNet's two halves, and the norms between them, as `mxnet.optimizer.LAMB` does."""
    settings = {"beta1": beta1, "beta2": beta2, "epsilon": epsilon, "wd": weight_decay}
    step = F.lamb_update_phase1(weight, gradient, mean, variance, t=1, bias_correction=False, **settings)
    return F.lamb_update_phase2(weight, step, F.norm(weight), F.norm(step), lr=learning_rate, out=out)


def _adamw(weight: Any, *tensors: Any, **settings: Any) -> CallSpec:
    """Make the tensor that the gradient is scaled by; a scale of one, as there is no loss scaling."""
    return "nd._internal._adamw_update", (weight, *tensors, mx.nd.ones(1, ctx=weight.context)), {**settings, "lr": 1.0}


MOMENTUM = "lr=learning_rate, momentum=momentum, out=weight"
ADAM = "beta1=beta1, beta2=beta2, epsilon=epsilon, out=weight"


BINDINGS: dict[str, Binding] = {
    **compositions(
        numpy=True,
        mse_loss=(mse_loss, "np.square of a difference"),
        l1_loss=(l1_loss, "np.absolute of a difference"),
        smooth_l1_loss=(smooth_l1_loss, "npx.smooth_l1 of a difference"),
        cross_entropy=(cross_entropy, "npx.log_softmax and npx.pick"),
        nll_loss=(nll_loss, "npx.pick and a sign change"),
        binary_cross_entropy_with_logits=(
            binary_cross_entropy_with_logits,
            "npx.relu, a product and np.log1p of an exponential",
        ),
        kl_div=(kl_div, "np.log, a difference and a product"),
        binary_cross_entropy=(binary_cross_entropy, "np.log of both probabilities, products and a sum"),
        huber_loss=(huber_loss, "npx.smooth_l1 of a difference, scaled"),
        hinge_loss=(hinge_loss, "a product and npx.relu"),
        squared_hinge_loss=(squared_hinge_loss, "a product, npx.relu and np.square"),
        logistic_loss=(logistic_loss, "a product and npx.activation (softrelu)"),
        poisson_nll_loss=(poisson_nll_loss, "np.exp, a product and a difference"),
        gaussian_nll_loss=(gaussian_nll_loss, "np.log, np.square and a quotient"),
        margin_ranking_loss=(margin_ranking_loss, "a difference, a product and npx.relu"),
        cosine_embedding_loss=(cosine_embedding_loss, "np.sum of products, np.sqrt and np.where"),
        triplet_margin_loss=(triplet_margin_loss, "np.sqrt of np.sum of squares"),
    ),
    "ctc_loss": call("nd.CTCLoss", "data, labels", "blank_label='first'", also=("nd.contrib.CTCLoss",)),
    "sgd_update": call("nd.sgd_update", "weight=weight, grad=gradient", "lr=learning_rate, out=weight"),
    "sgd_momentum_update": call("nd.sgd_mom_update", "weight=weight, grad=gradient, mom=velocity", MOMENTUM),
    "nag_update": call("nd.nag_mom_update", "weight=weight, grad=gradient, mom=velocity", MOMENTUM),
    "signsgd_update": call("nd.signsgd_update", "weight=weight, grad=gradient", "lr=learning_rate, out=weight"),
    "adam_update": call(
        "nd.adam_update", "weight=weight, grad=gradient, mean=mean, var=variance", f"lr=learning_rate, {ADAM}"
    ),
    # Its `eta` scales the whole step, and its `lr` all but the decay.
    "adamw_update": adjust(
        "nd.contrib.adamw_update",
        "weight=weight, grad=gradient, mean=mean, var=variance",
        f"eta=learning_rate, wd=weight_decay, {ADAM}",
        settle=_adamw,
    ),
    "rmsprop_update": call(
        "nd.rmsprop_update",
        "weight=weight, grad=gradient, n=squares",
        "lr=learning_rate, gamma1=rho, epsilon=epsilon, out=weight",
    ),
    "adagrad_update": composition(
        adagrad_update,
        "weight, gradient, squares, learning_rate, epsilon",
        "out=weight",
        note="square, sums, sqrt, a quotient and a difference of `nd`, composed; MXNet's own needs sparse gradients",
    ),
    "adadelta_update": composition(
        adadelta_update,
        "weight, gradient, squares, steps, learning_rate, rho, epsilon",
        "out=weight",
        note="square, sqrt and arithmetic of `nd`, composed",
    ),
    "ftrl_update": call(
        "nd.ftrl_update",
        "weight=weight, grad=gradient, z=sums, n=squares",
        "lr=learning_rate, lamda1=l1, beta=beta, out=weight",
    ),
    "lamb_update": composition(
        lamb_update,
        "weight, gradient, mean, variance, learning_rate, beta1, beta2, epsilon, weight_decay",
        "out=weight",
        note="nd.lamb_update_phase1, nd.norm of step and weight, and nd.lamb_update_phase2",
    ),
}
