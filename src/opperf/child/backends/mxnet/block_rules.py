"""Inputs of Gluon's layers and losses, and what they are built with, in the notation of `notation.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.child.backends.notation import Rule, alike
from opperf.domain.registry import BUILT

#: What a block takes that has no rule, by the module that it is in.
USUAL = {"gluon.nn": "x: n,n", "gluon.rnn": "inputs: 16,8,n", "gluon.loss": "pred: n,n | label: n,n"}

ROWS, PLANES, BOXES = "x: 4,8,n", "x: 2,8,n,n", "x: 1,8,8,n,n"
CELL = {"hidden_size": lambda side: side, "input_size": lambda side: side}


def built(arrays: str, **given: Any) -> Rule:
    """Return the rule of a block that is built with what is given."""
    return arrays, {BUILT + name: value for name, value in given.items()}


def trained(arrays: str, **given: Any) -> Rule:
    """Return the rule of a block that does something else in training, and is measured so."""
    return arrays, {**built(arrays, **given)[1], "training": True}


def windows(name: str, **given: int) -> dict[str, Rule]:
    """Return the rules of a layer over one, two and three dimensions; `{}` in its name is for their number."""
    return {name.format(n): built(arrays, **given) for n, arrays in enumerate((ROWS, PLANES, BOXES), 1)}


RULES: Mapping[str, Rule] = {
    # Layers -----------------------------------------------------------------------------------------------------------
    "Activation": built("x: n,n", activation="relu"),
    "Dense": built("x: n,n", units=lambda side: side, in_units=lambda side: side),
    "Dropout": trained("x: n,n", rate=0.5),
    "Embedding": built("x: n int32 0..8", input_dim=1000, output_dim=lambda side: side),
    "LeakyReLU": built("x: n,n", alpha=0.1),
    "BatchNorm": trained(PLANES, in_channels=8),
    "BatchNormReLU": trained(PLANES, in_channels=8),
    "InstanceNorm": built(PLANES, in_channels=8),
    "GroupNorm": built("data: 2,8,n,n", num_groups=2),
    "LayerNorm": built("data: n,n", in_channels=lambda side: side),
    "ReflectionPad2D": built(PLANES, padding=1),
    **windows("Conv{}D", channels=16, kernel_size=3, padding=1, in_channels=8),
    **windows("Conv{}DTranspose", channels=16, kernel_size=3, padding=1, in_channels=8),
    **windows("MaxPool{}D"),
    **windows("AvgPool{}D"),
    **windows("GlobalMaxPool{}D"),
    **windows("GlobalAvgPool{}D"),
    # Recurrent layers, and their cells --------------------------------------------------------------------------------
    **dict.fromkeys(("RNN", "GRU", "LSTM"), built("inputs: 16,8,n", **CELL)),
    **dict.fromkeys(("RNNCell", "GRUCell"), built("inputs: 8,n | states: [8,n]", **CELL)),
    "LSTMCell": built("inputs: 8,n | states: [8,n; 8,n]", **CELL),
    # Losses -----------------------------------------------------------------------------------------------------------
    "CTCLoss": built("pred: 8,n,16 | label: 8,4 1..15 fixed"),
    "CosineEmbeddingLoss": built("input1: n,n | input2: n,n | label: n ones fixed"),
    "KLDivLoss": built("pred: n,n | label: n,n 0..1 fixed"),
    "PoissonNLLLoss": built("pred: n,n | target: n,n 0..4 fixed"),
    "SDMLLoss": built("x1: n,n | x2: n,n"),
    "SoftmaxCrossEntropyLoss": built("pred: n,n | label: n int32 0..8"),
    "TripletLoss": built("pred: n,n | positive: n,n | negative: n,n"),
    **alike("pred: n,n | label: n,n ones fixed", {}, "HingeLoss", "SquaredHingeLoss", "LogisticLoss"),
    **alike("pred: n,n | label: n,n 0..1 fixed", {}, "SigmoidBinaryCrossEntropyLoss"),
}
