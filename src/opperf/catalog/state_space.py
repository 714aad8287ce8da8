"""Selective state spaces: scan, single step, and the short convolution before; a part of the family of serving."""

from __future__ import annotations

from opperf.catalog.definition import Arguments, Operator
from opperf.catalog.formulas import like, same
from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

# A state h for each channel becomes exp(step decay) h + step x input_weight; the result is the product of h with
# output_weight, plus skip times x. Mamba calls them A (decay), B, C, D and delta (step); decay is negative.
#
# Operations: seven for each state (a product, an exponential; a product for what comes in; two multiply-adds), three
# for each channel (step times x; a multiply-add). A convolution is a multiply-add for each weight and element.

#: (batch, length, channels, states)
SCANS = {"small": (2, 8, 16, 4), "common": (2, 128, 256, 16), "large": (4, 512, 1024, 16), "skewed": (1, 2048, 32, 16)}
#: (batch, channels, states)
STEPS = {"small": (2, 16, 4), "common": (32, 1024, 16), "large": (256, 4096, 16), "skewed": (1, 8192, 128)}
#: (batch, channels, length)
SEQUENCES = {"small": (2, 16, 16), "common": (4, 512, 512), "large": (8, 2048, 1024), "skewed": (1, 4, 262_144)}
#: Weights of a channel's convolution.
WIDTH = 4
PAST, SHORT = (-1.0, -0.1), (0.05, 0.5)


def _scan(batch: int, length: int, channels: int, states: int) -> Arguments:
    return {
        "data": TensorSpec((batch, length, channels)),
        "step": TensorSpec((batch, length, channels), range=SHORT),
        "decay": TensorSpec((channels, states), range=PAST),
        "input_weight": TensorSpec((batch, length, states)),
        "output_weight": TensorSpec((batch, length, states)),
        "skip": TensorSpec((channels,)),
    }


def _step(batch: int, channels: int, states: int) -> Arguments:
    return {
        "state": TensorSpec((batch, channels, states)),
        "data": TensorSpec((batch, channels)),
        "step": TensorSpec((batch, channels), range=SHORT),
        "decay": TensorSpec((channels, states), range=PAST),
        "input_weight": TensorSpec((batch, states)),
        "output_weight": TensorSpec((batch, states)),
        "skip": TensorSpec((channels,)),
    }


def _convolve(batch: int, channels: int, length: int) -> Arguments:
    return {
        "data": TensorSpec((batch, channels, length)),
        "weight": TensorSpec((channels, WIDTH)),
        "bias": TensorSpec((channels,)),
    }


def _outputs(case: Case) -> tuple[TensorSpec, ...]:
    data, decay = case.tensor("data"), case.tensor("decay")
    weights = [case.tensor(name).shape[-1] for name in ("input_weight", "output_weight")]
    if data.shape[-1] != decay.shape[0] or weights != [decay.shape[1]] * 2:
        raise InputError(
            f"`{case.operator}`: the decay is of {decay.shape[0]} channels and {decay.shape[1]} states, and the data "
            f"has {data.shape[-1]} channels, the weights {weights[0]} and {weights[1]} states"
        )
    return (like(data),)


def _flops(case: Case) -> int:
    return case.tensor("data").elements * (7 * case.tensor("decay").shape[1] + 3)


OPERATORS = (
    Operator(
        "selective_scan",
        "state_space",
        "a sequence through states of each channel that decay by steps of its own; (batch, length, channels)",
        sizes={size: _scan(*shape) for size, shape in SCANS.items()},
        outputs=_outputs,
        flops=_flops,
        differentiable=("data", "step", "decay", "input_weight", "output_weight", "skip"),
    ),
    Operator(
        "selective_state_update",
        "state_space",
        "one step of a selective scan, which changes the state; (batch, channels, states)",
        sizes={size: _step(*shape) for size, shape in STEPS.items()},
        outputs=_outputs,
        flops=_flops,
        mutates=("state",),
        writes=("state",),
    ),
    Operator(
        "causal_conv1d",
        "state_space",
        "each channel convolved with a few weights of its own, which see the past, plus a bias",
        sizes={size: _convolve(*shape) for size, shape in SEQUENCES.items()},
        outputs=same(),
        flops=lambda case: 2 * case.tensor("data").elements * case.tensor("weight").shape[-1],
        differentiable=("data", "weight", "bias"),
        backward_flops=2,
    ),
)
