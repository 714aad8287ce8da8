"""PyTorch's recurrent networks: the functions that its modules call, with their weights in a list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from opperf.child.backends.call import Binding, Call, call

NAMES = ("weight_input", "weight_hidden", "bias_input", "bias_hidden")
WEIGHTS = "w_ih=weight_input, w_hh=weight_hidden, b_ih=bias_input, b_hh=bias_hidden"


def _listed(made: Mapping[str, Any]) -> list[Any]:
    """Return the weights, those of the way back after the others."""
    return [made[f"{way}{name}"] for way in ("", "reverse_") for name in NAMES if f"{way}{name}" in made]


def _states(made: Mapping[str, Any]) -> tuple[Any, ...]:
    return made["hidden"], made["cell"]


def _layer(path: str, state: str, *, both_ways: bool = False) -> Call:
    """Write down a layer: with biases, one deep, no dropout, not training, time first."""
    derive: dict[str, Callable[[Mapping[str, Any]], Any]] = {"weights": _listed, "states": _states}
    if state == "hidden":
        del derive["states"]
    settings = f"True, 1, 0.0, False, {both_ways}, False"
    return call(path, f"data, {state}, weights, {settings}", derive=derive)


BINDINGS: dict[str, Binding] = {
    **{
        name: call(f"torch.{name}", f"input=data, hx=hidden, {WEIGHTS}")
        for name in ("rnn_tanh_cell", "rnn_relu_cell", "gru_cell")
    },
    "lstm_cell": call("torch.lstm_cell", f"input=data, hx=states, {WEIGHTS}", derive={"states": _states}),
    "rnn": _layer("torch.rnn_tanh", "hidden"),
    "lstm": _layer("torch.lstm", "states"),
    "gru": _layer("torch.gru", "hidden"),
    "bidirectional_lstm": _layer("torch.lstm", "states", both_ways=True),
}
