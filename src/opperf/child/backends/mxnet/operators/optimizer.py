"""MXNet's steps of optimizers: operators of its own that write into the weight, and compositions where it has none."""

from __future__ import annotations

from typing import Any

import mxnet as mx

from opperf.child.backends.call import Binding, call
from opperf.child.backends.mxnet.spelling import Settled, composed, settled


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


def _adamw(weight: Any, *tensors: Any, **settings: Any) -> Settled:
    """Make the tensor that the gradient is scaled by; a scale of one, as there is no loss scaling."""
    return "nd._internal._adamw_update", (weight, *tensors, mx.nd.ones(1, ctx=weight.context)), {**settings, "lr": 1.0}


MOMENTUM = "lr=learning_rate, momentum=momentum, out=weight"
ADAM = "beta1=beta1, beta2=beta2, epsilon=epsilon, out=weight"

BINDINGS: dict[str, Binding] = {
    "sgd_update": call("nd.sgd_update", "weight=weight, grad=gradient", "lr=learning_rate, out=weight"),
    "sgd_momentum_update": call("nd.sgd_mom_update", "weight=weight, grad=gradient, mom=velocity", MOMENTUM),
    "nag_update": call("nd.nag_mom_update", "weight=weight, grad=gradient, mom=velocity", MOMENTUM),
    "signsgd_update": call("nd.signsgd_update", "weight=weight, grad=gradient", "lr=learning_rate, out=weight"),
    "adam_update": call(
        "nd.adam_update", "weight=weight, grad=gradient, mean=mean, var=variance", f"lr=learning_rate, {ADAM}"
    ),
    # Its `eta` scales the whole step, and its `lr` all but the decay.
    "adamw_update": settled(
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
    "adagrad_update": composed(
        adagrad_update,
        "weight, gradient, squares, learning_rate, epsilon",
        "out=weight",
        note="square, sums, sqrt, a quotient and a difference of `nd`, composed: its own takes sparse gradients only",
    ),
    "adadelta_update": composed(
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
    "lamb_update": composed(
        lamb_update,
        "weight, gradient, mean, variance, learning_rate, beta1, beta2, epsilon, weight_decay",
        "out=weight",
        note="nd.lamb_update_phase1, nd.norm of step and weight, and nd.lamb_update_phase2",
    ),
}
