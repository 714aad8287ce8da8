"""Gluon's layers and losses: built before they are called, at the paths that users write, `gluon.nn.Dense`.

A path may come from a file, so it reaches only the blocks that Gluon itself defines and that compute by themselves:
none that holds others, or takes a function or a graph.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import mxnet as mx

from opperf.child.backends.naming import notation
from opperf.child.backends.naming.notation import Rule, alike
from opperf.domain.backend import Unsupported
from opperf.domain.call import Layer
from opperf.domain.case import Case
from opperf.domain.registry import BUILD_PREFIX

HOMES = {"gluon.nn": mx.gluon.nn, "gluon.rnn": mx.gluon.rnn, "gluon.loss": mx.gluon.loss}
#: What computes nothing by itself: what others derive from, and what is made of other blocks, a function or a graph.
LEFT_OUT = frozenset(
    {
        "Block", "HybridBlock", "Loss", "RecurrentCell", "HybridRecurrentCell", "ModifierCell", "Sequential",
        "HybridSequential", "SequentialRNNCell", "HybridSequentialRNNCell", "BidirectionalCell", "ResidualCell",
        "ZoneoutCell", "DropoutCell", "Lambda", "HybridLambda", "SymbolBlock",
    }
)  # fmt: skip


def paths() -> list[str]:
    """Return the path of every block, one for those with several names."""
    names = [f"{home}.{name}" for home, module in HOMES.items() for name in dir(module)]
    return [path for path in names if (block := maker(path)) is not None and path.endswith(f".{block.__name__}")]


def maker(path: str) -> type | None:
    """Return the class of the block at a path, None for another path."""
    home, _, name = path.rpartition(".")
    block = getattr(HOMES.get(home), name, None)
    if not inspect.isclass(block) or not issubclass(block, mx.gluon.Block) or block.__name__ in LEFT_OUT:
        return None
    return block if block.__module__.startswith("mxnet.gluon.") else None


def layer(path: str, arguments: Sequence[Any], keywords: Mapping[str, Any], context: Any) -> Layer | None:
    """Return the block at a path, on a device, with weights that are the same every time; None for another path.

    Raises `Unsupported` for a block that is not told how long its inputs are, and for an initializer of several words,
    which may read a file.
    """
    make = maker(path)
    if make is None:
        return None
    for name, value in keywords.items():
        if name.endswith("initializer") and isinstance(value, str) and not value.isidentifier():
            raise Unsupported(f"`build.{name}` is `{value}`, expected the name of an initializer", slug="no_such_value")
    mx.random.seed(0)
    block = make(*arguments, **keywords)
    parameters = list(block.collect_params().values())
    if any(parameter.shape is None or 0 in parameter.shape for parameter in parameters):
        lengths = [name for name in inspect.signature(make).parameters if name.startswith(("in_", "input_"))]
        raise Unsupported(
            f"`{path}` needs the length of its inputs to create its weights",
            slug="no_length",
            hint=f"say {' or '.join(f'`build.{name}`' for name in lengths)}",
        )
    weights = [parameter for parameter in parameters if parameter.grad_req != "null"]
    for parameter in weights:
        parameter.grad_req = "null"  # a gradient is attached where one is measured
    block.initialize(ctx=context)
    return Layer(block, tuple(parameter.data() for parameter in weights))


def parameters(block: Any) -> dict[str, Any]:
    """Return the arrays of a block by the names that they have in its graph."""
    return {name: parameter.data() for name, parameter in block.collect_params().items()}


def examples(path: str, size: str) -> list[Case]:
    """Return the case of a block at a size: by its rule, else by what its kind takes; none for a size without rules."""
    if size not in notation.SIDES:
        return []
    home, _, name = path.rpartition(".")
    side = notation.SIDES[size]
    arrays, attributes = RULES.get(name, (USUAL[home], {}))
    return [Case(f"mxnet:{path}", notation.inputs(arrays, side), notation.attributes(attributes, side))]


#: What a block takes that has no rule, by the module that it is in.
USUAL = {"gluon.nn": "x: n,n", "gluon.rnn": "inputs: 16,8,n", "gluon.loss": "pred: n,n | label: n,n"}

ROWS, PLANES, BOXES = "x: 4,8,n", "x: 2,8,n,n", "x: 1,8,8,n,n"
CELL = {"hidden_size": lambda side: side, "input_size": lambda side: side}


def rule(arrays: str, **settings: Any) -> Rule:
    """Return the rule of a block that is built with what is given."""
    return arrays, {BUILD_PREFIX + name: value for name, value in settings.items()}


def training_rule(arrays: str, **settings: Any) -> Rule:
    """Return the rule of a block that does something else in training, and is measured so."""
    return arrays, {**rule(arrays, **settings)[1], "training": True}


def windows(name: str, **settings: int) -> dict[str, Rule]:
    """Return the rules of a layer over one, two and three dimensions; `{}` in its name is for their number."""
    return {name.format(n): rule(arrays, **settings) for n, arrays in enumerate((ROWS, PLANES, BOXES), 1)}


RULES: Mapping[str, Rule] = {
    # Layers -----------------------------------------------------------------------------------------------------------
    "Activation": rule("x: n,n", activation="relu"),
    "Dense": rule("x: n,n", units=lambda side: side, in_units=lambda side: side),
    "Dropout": training_rule("x: n,n", rate=0.5),
    "Embedding": rule("x: n int32 0..8", input_dim=1000, output_dim=lambda side: side),
    "LeakyReLU": rule("x: n,n", alpha=0.1),
    "BatchNorm": training_rule(PLANES, in_channels=8),
    "BatchNormReLU": training_rule(PLANES, in_channels=8),
    "InstanceNorm": rule(PLANES, in_channels=8),
    "GroupNorm": rule("data: 2,8,n,n", num_groups=2),
    "LayerNorm": rule("data: n,n", in_channels=lambda side: side),
    "ReflectionPad2D": rule(PLANES, padding=1),
    **windows("Conv{}D", channels=16, kernel_size=3, padding=1, in_channels=8),
    **windows("Conv{}DTranspose", channels=16, kernel_size=3, padding=1, in_channels=8),
    **windows("MaxPool{}D"),
    **windows("AvgPool{}D"),
    **windows("GlobalMaxPool{}D"),
    **windows("GlobalAvgPool{}D"),
    # Recurrent layers, and their cells --------------------------------------------------------------------------------
    **dict.fromkeys(("RNN", "GRU", "LSTM"), rule("inputs: 16,8,n", **CELL)),
    **dict.fromkeys(("RNNCell", "GRUCell"), rule("inputs: 8,n | states: [8,n]", **CELL)),
    "LSTMCell": rule("inputs: 8,n | states: [8,n; 8,n]", **CELL),
    # Losses -----------------------------------------------------------------------------------------------------------
    "CTCLoss": rule("pred: 8,n,16 | label: 8,4 1..15 fixed"),
    "CosineEmbeddingLoss": rule("input1: n,n | input2: n,n | label: n ones fixed"),
    "KLDivLoss": rule("pred: n,n | label: n,n 0..1 fixed"),
    "PoissonNLLLoss": rule("pred: n,n | target: n,n 0..4 fixed"),
    "SDMLLoss": rule("x1: n,n | x2: n,n"),
    "SoftmaxCrossEntropyLoss": rule("pred: n,n | label: n int32 0..8"),
    "TripletLoss": rule("pred: n,n | positive: n,n | negative: n,n"),
    **alike("pred: n,n | label: n,n ones fixed", {}, "HingeLoss", "SquaredHingeLoss", "LogisticLoss"),
    **alike("pred: n,n | label: n,n 0..1 fixed", {}, "SigmoidBinaryCrossEntropyLoss"),
}
