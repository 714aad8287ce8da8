"""Steps of optimizers, which change the weight they are given, and what they remember, in place where a framework can.

Each is one formula, w being the weight, g the gradient and lr the learning rate; everything is element by element. The
operations are those of the formula, one for each function, product, quotient, sum or difference.
"""

from __future__ import annotations

from opperf.catalog.definition import FORWARD_ONLY, Operator
from opperf.catalog.formulas import ELEMENTWISE, each, same
from opperf.domain.case import Argument
from opperf.domain.tensor import TensorSpec

#: What states are filled with: moving means of squares are positive, the rest is of either sign.
STATES = {
    "velocity": (-0.1, 0.1),
    "mean": (-0.1, 0.1),
    "variance": (0.01, 1.0),
    "squares": (0.01, 1.0),
    "steps": (0.01, 1.0),
    "sums": (-2.0, 2.0),
}


def _update(
    name: str,
    formula: str,
    operations: int,
    states: tuple[str, ...] = (),
    *,
    rate: float = 0.01,
    **attributes: Argument,
) -> Operator:
    """Declare `name`; `states` are what the optimizer remembers, `operations` those for each element of the weight."""
    return Operator(
        name=name,
        category="optimizer",
        summary=formula,
        inputs=("weight", "gradient", *states),
        sizes={
            size: {
                "weight": TensorSpec(shape),
                "gradient": TensorSpec(shape),
                **{state: TensorSpec(shape, range=STATES[state]) for state in states},
                "learning_rate": rate,
                **attributes,
            }
            for size, shape in ELEMENTWISE.items()
        },
        outputs=same("weight"),
        flops=each(operations, "weight"),
        directions=FORWARD_ONLY,
        mutates=("weight", *states),
        writes=states,
    )


OPERATORS = (
    _update("sgd_update", "the weight minus `learning_rate` times the gradient, in place where the framework can", 2),
    _update(
        "sgd_momentum_update", "velocity = momentum velocity - lr g; w = w + velocity", 4, ("velocity",), momentum=0.9
    ),
    _update(
        "nag_update",
        "velocity = momentum velocity - lr g; w = w + momentum velocity - lr g",
        6,
        ("velocity",),
        momentum=0.9,
    ),
    _update("signsgd_update", "w = w - lr sign(g)", 3),
    _update(
        "adam_update",
        "mean = b1 mean + (1-b1) g; variance = b2 variance + (1-b2) g^2; w = w - lr mean / (sqrt(variance) + epsilon)",
        12,
        ("mean", "variance"),
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
    ),
    _update(
        "adamw_update",
        "mean and variance as in adam_update; w = w - lr (mean / (sqrt(variance) + epsilon) + weight_decay w)",
        14,
        ("mean", "variance"),
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        weight_decay=0.01,
    ),
    _update(
        "rmsprop_update",
        "squares = rho squares + (1-rho) g^2; w = w - lr g / sqrt(squares + epsilon)",
        9,
        ("squares",),
        rho=0.95,
        epsilon=1e-8,
    ),
    _update(
        "adagrad_update",
        "squares = squares + g^2; w = w - lr g / (sqrt(squares) + epsilon)",
        7,
        ("squares",),
        epsilon=1e-7,
    ),
    _update(
        "adadelta_update",
        "squares = rho squares + (1-rho) g^2; d = g sqrt((steps + epsilon) / (squares + epsilon)); "
        "steps = rho steps + (1-rho) d^2; w = w - lr d",
        16,
        ("squares", "steps"),
        rate=1.0,
        rho=0.9,
        epsilon=1e-5,
    ),
    _update(
        "ftrl_update",
        "sums = sums + g - w (sqrt(squares + g^2) - sqrt(squares)) / lr; squares = squares + g^2; "
        "w = (l1 sign(sums) - sums) lr / (beta + sqrt(squares)) where |sums| > l1, else 0",
        18,
        ("sums", "squares"),
        rate=0.1,
        l1=0.5,
        beta=1.0,
    ),
    _update(
        "lamb_update",
        "mean and variance as in adam_update; d = mean / (sqrt(variance) + epsilon) + weight_decay w; "
        "w = w - lr d |w| / |d|, of the norms of both",
        18,
        ("mean", "variance"),
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-6,
        weight_decay=0.01,
    ),
)
