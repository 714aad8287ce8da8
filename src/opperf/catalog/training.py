"""Losses and optimizer updates."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from opperf.catalog.definition import Arguments, Formula, Operator, Outputs
from opperf.catalog.formulas import ELEMENTWISE, each, indices, like, same
from opperf.domain.case import Argument, Case
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

# Losses of predictions (`data`) against `labels`; `reduction` is `mean`, `sum` or `none`.
#
# Operations: one function of each pair, and one addition into the mean or sum. Cross entropy is a log-softmax, five for
# each logit (see `softmax`), and `nll_loss` picks one number for each label.

_Shape = tuple[int, ...]
#: From the shape of the predictions to the labels.
_Labels = Callable[[_Shape], TensorSpec]

REDUCTIONS = ("mean", "sum", "none")
#: (samples, classes): an image classifier's, a language model's (large), few classes (skewed).
CLASSES = {"small": (32, 32), "common": (1024, 1000), "large": (512, 32_000), "skewed": (100_000, 10)}


def _reduces(case: Case) -> bool:
    value = case.get("reduction", "mean")
    if value not in REDUCTIONS:
        raise InputError(f"`reduction` of `{case.operator}` is {value!r}", hint=f"known: {', '.join(REDUCTIONS)}")
    return value != "none"


def _loss(case: Case) -> tuple[TensorSpec, ...]:
    # One number for each label: labels are as large as the data, or lack its class dimension.
    return (like(case.tensor("data"), () if _reduces(case) else case.tensor("labels").shape),)


def _like_labels(case: Case) -> tuple[TensorSpec, ...]:
    labels = case.tensor("labels")
    return (like(labels, () if _reduces(case) else labels.shape),)


def _function_and_sum(case: Case) -> int:
    return case.tensor("labels").elements * (2 if _reduces(case) else 1)


def _declare(
    name: str,
    summary: str,
    *,
    values: tuple[float, float] = (-1.0, 1.0),
    labels: _Labels = TensorSpec,
    shapes: Mapping[str, _Shape] = ELEMENTWISE,
    flops: Formula = _function_and_sum,
    attributes: Mapping[str, Argument] | None = None,
    aliases: tuple[str, ...] = (),
) -> Operator:
    sizes = {
        size: {
            "data": TensorSpec(shape, range=values),
            "labels": labels(shape),
            "reduction": "mean",
            **(attributes or {}),
        }
        for size, shape in shapes.items()
    }
    return Operator(name, "loss", summary, sizes, _loss, flops, differentiable=("data",), aliases=aliases)


def _several(
    name: str,
    summary: str,
    tensors: Mapping[str, Callable[[_Shape], TensorSpec]],
    *,
    outputs: Outputs,
    flops: Formula,
    **attributes: Argument,
) -> Operator:
    """Declare a loss of other tensors than predictions and labels; a gradient flows to those that are not labels."""
    sizes = {
        size: {**{role: make(shape) for role, make in tensors.items()}, **attributes, "reduction": "mean"}
        for size, shape in ELEMENTWISE.items()
    }
    return Operator(
        name, "loss", summary, sizes, outputs, flops, differentiable=tuple(role for role in tensors if role != "labels")
    )


def _of_rows(role: str) -> Outputs:
    """Return the outputs of a loss that is one number for each row of the input `role`."""

    def outputs(case: Case) -> tuple[TensorSpec, ...]:
        rows = case.tensor(role)
        return (like(rows, rows.shape[:-1] if not _reduces(case) else ()),)

    return outputs


def _signs(shape: _Shape) -> TensorSpec:
    """Return a label for each row: 1, 0 or -1."""
    return TensorSpec(shape[:1], "int64", range=(-1, 2))


def _variances(shape: _Shape) -> TensorSpec:
    return TensorSpec(shape, range=(0.5, 1.5))


def _sequences(case: Case) -> tuple[TensorSpec, ...]:
    data = case.tensor("data")
    return (like(data, (data.shape[1],)),)


def _alignments(case: Case) -> int:
    # A log-softmax; then, for each place between and on the labels, at each time: three sums of exponentials.
    data, labels = case.tensor("data"), case.tensor("labels")
    time, batch, _ = data.shape
    return 5 * data.elements + 6 * time * batch * (2 * labels.shape[1] + 1)


def _ctc_arguments(time: int, batch: int, classes: int, length: int) -> Arguments:
    return {
        "data": TensorSpec((time, batch, classes)),
        "labels": TensorSpec((batch, length), "int64", range=(1, classes)),
    }


def _class_labels(shape: _Shape) -> TensorSpec:
    return indices(shape[:1], shape[1])


def _probabilities(shape: _Shape) -> TensorSpec:
    return TensorSpec(shape, range=(0.01, 1.0))


_LOSS = (
    _declare("mse_loss", "the squared difference", aliases=("l2_loss",)),
    _declare("l1_loss", "the absolute difference", aliases=("mae_loss",)),
    _declare(
        "smooth_l1_loss",
        "the absolute difference minus beta / 2; below `beta`, half the squared difference divided by `beta`",
        attributes={"beta": 1.0},
        aliases=("smooth_l1",),
    ),
    _declare(
        "cross_entropy",
        "minus the log-softmax of the logits (samples, classes, ...) at the class labels (samples, ...)",
        labels=_class_labels,
        shapes=CLASSES,
        flops=each(5),
        aliases=("softmax_cross_entropy",),
    ),
    _declare(
        "nll_loss",
        "minus the log-probability (samples, classes, ...) at the class labels (samples, ...)",
        values=(-5.0, -0.1),
        labels=_class_labels,
        shapes=CLASSES,
        aliases=("nll",),
    ),
    _declare(
        "binary_cross_entropy_with_logits",
        "minus the log-likelihood of labels in [0, 1] under the sigmoid of the logits",
        labels=_probabilities,
        aliases=("bce_with_logits",),
    ),
    _declare(
        "kl_div",
        "labels (log(labels) - data): the data are log-probabilities, the mean is over all elements",
        values=(-5.0, -0.1),
        labels=_probabilities,
        aliases=("kl_divergence",),
    ),
    _declare(
        "binary_cross_entropy",
        "minus the log-likelihood of labels in [0, 1] under the probabilities",
        values=(0.05, 0.95),
        labels=_probabilities,
        aliases=("bce",),
    ),
    _declare(
        "huber_loss",
        "half the squared difference; beyond `delta`, delta times (the absolute difference minus delta / 2)",
        attributes={"delta": 0.5},
        aliases=("huber",),
    ),
    _declare("hinge_loss", "one minus data times labels (from -1 to 1), at least 0"),
    _declare("squared_hinge_loss", "the square of the hinge loss"),
    _declare(
        "logistic_loss",
        "the logarithm of one plus e to the power of minus data times labels (1 or -1)",
        aliases=("soft_margin_loss",),
    ),
    _declare(
        "poisson_nll_loss",
        "e to the power of the data, the logarithm of the rate, minus data times labels",
        labels=_probabilities,
    ),
    _several(
        "gaussian_nll_loss",
        "half of log(variance) plus half the squared difference over the variance, which is at least 1e-6",
        {"data": TensorSpec, "labels": TensorSpec, "variance": _variances},
        outputs=_loss,
        flops=lambda case: case.tensor("labels").elements * (6 if _reduces(case) else 5),
    ),
    _several(
        "margin_ranking_loss",
        "`margin` minus labels (1 or -1) times the difference of the sides, at least 0",
        {"lhs": TensorSpec, "rhs": TensorSpec, "labels": TensorSpec},
        outputs=_like_labels,
        flops=_function_and_sum,
        margin=0.1,
    ),
    _several(
        "cosine_embedding_loss",
        "for each row, one minus the cosine of both sides (label 1), or the cosine minus `margin`, at least 0 (-1)",
        {"lhs": TensorSpec, "rhs": TensorSpec, "labels": _signs},
        outputs=_of_rows("lhs"),
        # Three inner products of each pair of rows.
        flops=lambda case: 6 * case.tensor("lhs").elements,
        margin=0.1,
    ),
    _several(
        "triplet_margin_loss",
        "for each row, `margin` plus the distance to the positive minus the distance to the negative, at least 0",
        {"anchor": TensorSpec, "positive": TensorSpec, "negative": TensorSpec},
        outputs=_of_rows("anchor"),
        # Two distances: a difference, and a multiply-add for its square.
        flops=lambda case: 6 * case.tensor("anchor").elements,
        margin=1.0,
    ),
    Operator(
        "ctc_loss",
        "loss",
        "minus the log-likelihood of label sequences under all alignments, from logits (time, batch, classes)",
        sizes={
            "small": _ctc_arguments(8, 2, 8, 3),
            "common": _ctc_arguments(100, 16, 64, 20),
            "large": _ctc_arguments(400, 32, 256, 80),
            "skewed": _ctc_arguments(50, 8, 8000, 10),
        },
        outputs=_sequences,
        flops=_alignments,
        differentiable=("data",),
        aliases=("ctc",),
    ),
)


# Steps of optimizers, which change the weight they are given, and what they remember, in place where a framework can.
#
# Each is one formula, w being the weight, g the gradient and lr the learning rate; everything is element by element.
# The operations are those of the formula, one for each function, product, quotient, sum or difference.

#: The values of states: moving means of squares are positive, the rest has either sign.
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
    sizes = {
        size: {
            "weight": TensorSpec(shape),
            "gradient": TensorSpec(shape),
            **{state: TensorSpec(shape, range=STATES[state]) for state in states},
            "learning_rate": rate,
            **attributes,
        }
        for size, shape in ELEMENTWISE.items()
    }
    return Operator(
        name,
        "optimizer",
        formula,
        sizes=sizes,
        outputs=same("weight"),
        flops=each(operations, "weight"),
        mutates=("weight", *states),
        writes=states,
    )


_OPTIMIZER = (
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


OPERATORS = (*_LOSS, *_OPTIMIZER)
