"""Three models of PyTorch whose operators are known by hand: each runs in its module and its phase, as often."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.in_environment import printed

#: The operators that compute something, without those that they are made of, and without views and copies.
COUNTED = {
    *("addmm", "mm", "bmm", "add", "add_", "relu", "gelu", "_softmax", "native_layer_norm", "embedding"),
    *("threshold_backward", "gelu_backward", "_softmax_backward_data", "native_layer_norm_backward"),
    "embedding_dense_backward",
}
#: A linear layer has the gradients of its weight and of its input, each a product; what reads data needs no gradient.
MLP = {
    "Mlp.0 forward": {"addmm": 1},
    "Mlp.1 forward": {"relu": 1},
    "Mlp.2 forward": {"addmm": 1},
    "Mlp.2 backward": {"mm": 2},
    "Mlp.1 backward": {"threshold_backward": 1},
    "Mlp.0 backward": {"mm": 1},
    "(optimizer)": {"add_": 4},
}
LAYERS = 3
LINEAR = ("mixed", "out", "up", "down")
#: Of all layers together: attention has two products, and its backward the gradients of both inputs of each. A norm
#: begins each half, where its gradient is added to the one that passes it by.
FORWARD = {
    "layers.*": {"bmm": 2 * LAYERS, "_softmax": LAYERS, "add": 2 * LAYERS},
    **{f"layers.*.{name}": {"addmm": LAYERS} for name in LINEAR},
    **{f"layers.*.{name}": {"native_layer_norm": LAYERS} for name in ("norm1", "norm2")},
    "layers.*.act": {"gelu": LAYERS},
}
BACKWARD = {
    "layers.*": {"bmm": 4 * LAYERS, "_softmax_backward_data": LAYERS},
    **{f"layers.*.{name}": {"mm": 2 * LAYERS} for name in LINEAR},
    **{f"layers.*.{name}": {"native_layer_norm_backward": LAYERS, "add_": LAYERS} for name in ("norm1", "norm2")},
    "layers.*.act": {"gelu_backward": LAYERS},
}
#: What is computed again ends with what a gradient needs: the last addition of a layer is no part of it.
RECOMPUTED = {**FORWARD, "layers.*": {"bmm": 2 * LAYERS, "_softmax": LAYERS, "add": LAYERS}}
#: Weight and bias of four linear layers and two norms in each layer, of the head, and the weight of the embedding.
PARAMETERS = 12 * LAYERS + 2 + 1


def counts(model: str, **phases: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """Return the calls of a transformer: those of its layers by phase, and those around them."""
    return {
        f"{model}.words forward": {"embedding": 1},
        f"{model}.head forward": {"addmm": 1},
        f"{model}.head backward": {"mm": 2},
        f"{model}.words backward": {"embedding_dense_backward": 1},
        "(optimizer)": {"add_": PARAMETERS},
        **{f"{model}.{module} {phase}": calls for phase, rows in phases.items() for module, calls in rows.items()},
    }


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    """What the script saw of each model."""
    seen: dict[str, Any] = json.loads(printed("torch", Path(__file__).with_name("counted_models.py")))
    return seen


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("mlp", MLP),
        ("transformer", counts("Transformer", forward=FORWARD, backward=BACKWARD)),
        ("checkpointed", counts("Checkpointed", forward=FORWARD, backward=BACKWARD, recomputed=RECOMPUTED)),
    ],
)
def test_operators_are_counted_by_module_and_phase_as_by_hand(
    model: str, expected: dict[str, dict[str, int]], result: dict[str, Any]
) -> None:
    calls = {
        place: {name: count for name, count in operators.items() if name in COUNTED}
        for place, operators in result[model]["calls"].items()
    }
    assert {place: operators for place, operators in calls.items() if operators} == expected


@pytest.mark.parametrize(("model", "again"), [("transformer", 1), ("checkpointed", 2)])
def test_equal_layers_are_one_row_which_was_called_again_where_it_is_recomputed(
    model: str, again: int, result: dict[str, Any]
) -> None:
    rows = {name: row[:2] for name, row in result[model]["rows"].items()}
    layers = {f"{model.title()}.{name}": [LAYERS, again * LAYERS] for name in FORWARD}
    around = {f"{model.title()}{name}": [1, 1] for name in ("", ".words", ".head")}
    assert rows == {**layers, **around, "(no module)": [0, 0]}


def test_a_module_has_the_parameters_and_the_operators_of_all_within_it(result: dict[str, Any]) -> None:
    rows = result["transformer"]["rows"]
    embedding, head, linear, norms = 16 * 8, 9 * 16, 9 * 24 + 9 * 8 + 9 * 16 + 17 * 8, 2 * 16
    assert rows["Transformer"][3] == embedding + head + LAYERS * (linear + norms)
    calls = result["transformer"]["calls"]
    within = sum(sum(names.values()) for place, names in calls.items() if place.startswith("Transformer"))
    assert rows["Transformer"][2] == within


@pytest.mark.parametrize("model", ["mlp", "transformer"])
def test_times_of_modules_add_up_to_those_of_pytorchs_own_profiler(model: str, result: dict[str, Any]) -> None:
    assert result[model]["ours"] == pytest.approx(result[model]["theirs"], rel=0.01)


def test_what_recomputing_takes_of_python_is_the_only_time_that_is_no_operators(result: dict[str, Any]) -> None:
    assert 0 < result["checkpointed"]["ours"] <= result["checkpointed"]["theirs"] * 1.0001
