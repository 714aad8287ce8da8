"""Gluon's layers and losses: built before they are called, at the paths that users write, `gluon.nn.Dense`.

A path may come from a file, so it reaches only the blocks that Gluon itself defines and that compute by themselves:
none that holds others, or takes a function or a graph.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import mxnet as mx

from opperf.child.backends import notation
from opperf.child.backends.mxnet.block_rules import RULES, USUAL
from opperf.domain.backend import Layer, Unsupported
from opperf.domain.case import Case

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
    return [path for path in names if (made := maker(path)) is not None and path.endswith(f".{made.__name__}")]


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
            f"`{path}` has weights only when it knows how long its inputs are",
            slug="no_length",
            hint=f"say {' or '.join(f'`build.{name}`' for name in lengths)}",
        )
    trained = [parameter for parameter in parameters if parameter.grad_req != "null"]
    for parameter in trained:
        parameter.grad_req = "null"  # a gradient is attached where one is measured
    block.initialize(ctx=context)
    return Layer(block, tuple(parameter.data() for parameter in trained))


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
