"""Recurrent networks: a cell is one step of a batch, a layer all steps of a sequence (time, batch, features).

Weights are (gates x hidden, features), gates one below the other: input, forget, candidate, output of an LSTM; reset,
update, candidate of a GRU, which resets the product of hidden state and weight. An LSTM's cell state becomes forget
times cell plus input times candidate, the hidden state output times its tanh. A GRU's hidden state becomes
(1 - update) candidate + update hidden.

Operations: two products of multiply-adds at each step, where biases are what the sums start from; one for each gate's
function; and the arithmetic of the states (5 for an LSTM, 5 for a GRU).
"""

from __future__ import annotations

from collections.abc import Mapping

from opperf.catalog.definition import Arguments, Formula, Operator, Outputs
from opperf.catalog.formulas import like
from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

#: Gates of each kind, and operations of one hidden element at one step beside the products.
KINDS = {"rnn": (1, 1), "lstm": (4, 9), "gru": (3, 8)}
#: (batch, features, hidden); skewed is a single sample, for which weights are all that is read.
CELLS = {"small": (2, 16, 16), "common": (32, 256, 256), "large": (256, 1024, 1024), "skewed": (1, 64, 2048)}
#: (time, batch, features, hidden); skewed is a long sequence through a small network.
LAYERS = {
    "small": (4, 2, 16, 16),
    "common": (32, 16, 128, 128),
    "large": (64, 32, 512, 512),
    "skewed": (1000, 1, 32, 32),
}
#: Small enough that gates do not saturate.
WEIGHTS = (-0.2, 0.2)


def _weights(kind: str, features: int, hidden: int, prefix: str = "") -> dict[str, TensorSpec]:
    rows = KINDS[kind][0] * hidden
    return {
        f"{prefix}weight_input": TensorSpec((rows, features), range=WEIGHTS),
        f"{prefix}weight_hidden": TensorSpec((rows, hidden), range=WEIGHTS),
        f"{prefix}bias_input": TensorSpec((rows,), range=WEIGHTS),
        f"{prefix}bias_hidden": TensorSpec((rows,), range=WEIGHTS),
    }


def _meet(case: Case) -> None:
    data, weight = case.tensor("data"), case.tensor("weight_input")
    if data.shape[-1] != weight.shape[-1]:
        raise InputError(
            f"`{case.operator}`: the data has {data.shape[-1]} features, and the weight takes {weight.shape[-1]}"
        )


def _states(kind: str) -> tuple[str, ...]:
    return ("hidden", "cell") if kind == "lstm" else ("hidden",)


def _stepped(kind: str) -> Outputs:
    def outputs(case: Case) -> tuple[TensorSpec, ...]:
        _meet(case)
        return tuple(like(case.tensor(state)) for state in _states(kind))

    return outputs


def _unrolled(kind: str) -> Outputs:
    def outputs(case: Case) -> tuple[TensorSpec, ...]:
        _meet(case)
        data, hidden = case.tensor("data"), case.tensor("hidden")
        joined = like(data, (*data.shape[:2], hidden.shape[0] * hidden.shape[2]))
        return (joined, *(like(case.tensor(state)) for state in _states(kind)))

    return outputs


def _work(kind: str) -> Formula:
    """Return the operations of every step: all of the data but its features is steps and samples."""
    gates, rest = KINDS[kind]

    def flops(case: Case) -> int:
        data, hidden = case.tensor("data"), case.tensor("hidden")
        directions = hidden.shape[0] if len(hidden.shape) == 3 else 1
        features, width = data.shape[-1], hidden.shape[-1]
        steps = data.elements // features
        return directions * steps * width * (2 * gates * (features + width) + rest)

    return flops


def _recurrent(
    name: str, summary: str, kind: str, sizes: Mapping[str, Arguments], outputs: Outputs, aliases: tuple[str, ...] = ()
) -> Operator:
    roles = tuple(sizes["common"])
    return Operator(
        name=name,
        category="recurrent",
        summary=summary,
        inputs=roles,
        sizes=sizes,
        outputs=outputs,
        flops=_work(kind),
        differentiable=roles,
        aliases=aliases,
    )


def _cell(name: str, summary: str, kind: str) -> Operator:
    sizes = {
        size: {
            "data": TensorSpec((batch, features)),
            **{state: TensorSpec((batch, hidden)) for state in _states(kind)},
            **_weights(kind, features, hidden),
        }
        for size, (batch, features, hidden) in CELLS.items()
    }
    return _recurrent(name, summary, kind, sizes, _stepped(kind))


def _layer(name: str, summary: str, kind: str, *, both_ways: bool = False, aliases: tuple[str, ...] = ()) -> Operator:
    sizes = {
        size: {
            "data": TensorSpec((time, batch, features)),
            **{state: TensorSpec((1 + both_ways, batch, hidden)) for state in _states(kind)},
            **_weights(kind, features, hidden),
            **(_weights(kind, features, hidden, "reverse_") if both_ways else {}),
        }
        for size, (time, batch, features, hidden) in LAYERS.items()
    }
    return _recurrent(name, summary, kind, sizes, _unrolled(kind), aliases)


OPERATORS = (
    _cell("rnn_tanh_cell", "one step of a plain recurrent network, by tanh", "rnn"),
    _cell("rnn_relu_cell", "one step of a plain recurrent network, by relu", "rnn"),
    _cell("lstm_cell", "one step of a long short-term memory: hidden and cell state", "lstm"),
    _cell("gru_cell", "one step of a gated recurrent unit", "gru"),
    _layer("rnn", "a sequence through a plain recurrent network, by tanh: every step, and the last state", "rnn"),
    _layer("lstm", "a sequence through a long short-term memory: every step, and the last states", "lstm"),
    _layer("gru", "a sequence through a gated recurrent unit: every step, and the last state", "gru"),
    _layer(
        "bidirectional_lstm",
        "a sequence through two long short-term memories, one of which goes backwards, side by side",
        "lstm",
        both_ways=True,
        aliases=("bilstm",),
    ),
)
