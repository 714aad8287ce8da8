"""The classes of dl-operator-benchmark in a script with MXNet alone: names, defaults, keys, and what was empty."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.compat.in_mxnet import run

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_name("dl_script.py")
EXAMPLES = sorted((ROOT / "examples/dl_operator_benchmark").glob("*.py"))
SQUARE = [1024, 1024]


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the script found, by name."""
    folder = tmp_path_factory.mktemp("script")
    run(SCRIPT, folder, str(folder / "found.json"))
    result: dict[str, Any] = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    return result


def test_a_class_measures_forward_and_backward_in_seconds(said: dict[str, Any]) -> None:
    ((key, seconds),) = said["add"].items()
    assert key == "MX_Add_Forward_Backward_Time"
    assert 1e-7 < seconds < 10
    assert said["samples"][0] in (1, 2, 3)


def test_printing_before_a_run_says_that_there_is_nothing(said: dict[str, Any]) -> None:
    assert "run_benchmark()" in said["before"]


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        (
            "Add",
            {"lhs": SQUARE, "rhs": SQUARE, "initializer": "normal", "run_backward": True, "dtype": "float32"},
        ),
        ("Power", {"base": SQUARE, "exp": SQUARE, "initializer": None, "run_backward": True, "dtype": "float32"}),
        (
            "TopK",
            {"data": [1024, 1000], "axis": -1, "k": 10, "ret_typ": "indices", "is_ascend": True}
            | {"initializer": "normal", "run_backward": False, "dtype": "float32"},
        ),
        (
            "Arange",
            {"start": 1, "stop": 100, "step": 1.0, "repeat": 10, "run_backward": False, "dtype": "float32"},
        ),
        (
            "Dense",
            {"data": [512, 512], "data_initializer": "normal", "units": 256, "activation": None, "use_bias": True}
            | {"flatten": True, "weight_initializer": "Xavier", "bias_initializer": "Zeros", "hybridize": False}
            | {"run_backward": True, "dtype": "float32"},
        ),
        (
            "Conv2D",
            {"data": [32, 3, 256, 256], "data_initializer": "normal", "channels": 64, "kernel_size": [3, 3]}
            | {"strides": [1, 1], "padding": [0, 0], "dilation": [1, 1], "layout": "NCHW", "activation": None}
            | {"hybridize": False, "run_backward": True, "dtype": "float32"},
        ),
        (
            "RNN",
            {"data": [25, 32, 256], "data_initializer": "normal", "hidden_size": 100, "num_layers": 1}
            | {"layout": "TNC", "dropout": 0, "bidirectional": False, "activation": "relu", "hybridize": False}
            | {"run_backward": True, "dtype": "float32"},
        ),
        (
            "Softmax",
            {"data": [32, 3, 256, 256], "data_initializer": "normal", "run_backward": True, "dtype": "float32"},
        ),
    ],
)
def test_defaults_are_those_of_the_original(name: str, inputs: dict[str, Any], said: dict[str, Any]) -> None:
    assert said["inputs"][name] == inputs


def test_a_parameter_replaces_its_default(said: dict[str, Any]) -> None:
    assert list(said["double"]) == ["MX_Add_Forward_Backward_Time"]
    assert said["filled"] == [64.0, 64.0]


def test_a_key_says_forward_where_no_gradient_exists(said: dict[str, Any]) -> None:
    assert list(said["whole"]) == ["MX_Add_Forward_Time"]


def test_a_parameter_that_is_not_there_is_refused_with_its_neighbour(said: dict[str, Any]) -> None:
    assert "`dtyp`" in said["unknown"]
    assert "did you mean `dtype`?" in said["unknown"]


def test_keys_are_those_of_the_original(said: dict[str, Any]) -> None:
    assert said["keys"] == [
        "MX_Lesser_Forward_Backward_Time",
        "MX_TopK_Forward_Backward_Time",  # forward alone, as there
        "MX_Zeros_Forward_Time",
        "MX_CustomOp_Elementwise_Add_Forward_Backward_Time",
        "MX_Concatenate_Forward_Backward_Time",
    ]


def test_inputs_vary_by_size(said: dict[str, Any]) -> None:
    assert list(said["varying"]) == ["small", "common", "large", "skewed"]
    assert said["varying"]["common"] == SQUARE


def test_what_writes_into_its_input_is_measured_forward(said: dict[str, Any]) -> None:
    assert list(said["restored"]) == ["MX_Inplace_Multiply_Forward_Time"]
    assert said["once"] < 1e-6  # one product after many calls: the operand was put back before each


def test_a_parameter_that_no_operator_of_a_group_has_is_refused(said: dict[str, Any]) -> None:
    assert "no input `dat`\n\nhint: did you mean `data`" in said["unknown_to_all"]


def test_a_class_that_is_not_there_is_told_with_its_neighbours(said: dict[str, Any]) -> None:
    assert "no operator `Addd`\n\nhint: did you mean `Add`" in said["no_class"]


def test_the_seven_modules_that_were_empty_have_operators_that_run(said: dict[str, Any]) -> None:
    assert {group: len(results) > 0 and set(results) == {1} for group, results in said["empty"].items()} == {
        "conversion": True,
        "indexing": True,
        "join_split": True,
        "miscellaneous": True,
        "random_sampling": True,
        "reduction": True,
        "shape_change": True,
    }


def test_every_layer_runs_under_its_key(said: dict[str, Any]) -> None:
    layers = said["layers"]
    assert all(len(keys) == 1 for keys in layers.values())
    assert layers["Lambda"] == ["MX_Gluon_Imperative_Lambda_Batchify_Forward_Backward_Time"]
    assert layers["L1Loss"] == ["MX_Gluon_Imperative_L1Loss_Forward_Time"]
    assert layers["LogSoftmax"] == ["MX_Log_Softmax_Forward_Backward_Time"]
    assert layers["Conv2DRelu"] == ["MX_Gluon_Imperative_Conv2D_Relu_Forward_Backward_Time"]
    assert set(said["in_groups"]) <= set(layers)


def test_a_fused_layer_can_be_hybridized(said: dict[str, Any]) -> None:
    assert said["hybrid"] == ["MX_Gluon_Hybrid_Conv2D_BatchNorm_Forward_Backward_Time"]


def test_there_is_a_class_for_each_operator_of_the_catalog(said: dict[str, Any]) -> None:
    assert said["classes"]["nd"] > 250
    assert said["classes"]["gluon"] == len(said["layers"])


def test_a_runner_prints_and_returns_each_result_in_order(said: dict[str, Any]) -> None:
    keys = [key for results in said["arithmetic"] for key in results]
    both = ["Add", "Subtract", "Multiply", "Divide", "Modulo", "Power", "Negative"]
    in_place = ["Add", "Subtract", "Multiply", "Division", "Modulo"]
    assert keys == [
        *(f"MX_{name}_Forward_Backward_Time" for name in both),
        *(f"MX_Inplace_{name}_Forward_Time" for name in in_place),
    ]
    assert [line.split(" - ")[0] for line in said["told"].splitlines()][: len(keys)] == keys
    assert said["told"].splitlines()[0].endswith(" seconds")


def test_an_operator_that_fails_is_told_and_ends_nothing(said: dict[str, Any]) -> None:
    assert said["wrong"] == []
    assert "Dot failed: " in said["failed"]
    assert "BatchDot failed: " in said["failed"]
    assert "failed: Traceback" not in said["failed"]


def test_whole_numbers_end_no_group_of_layers(said: dict[str, Any]) -> None:
    keys = [f"MX_Gluon_Imperative_{name}_Forward_Time" for name in ("Flatten", "Lambda_Batchify")]
    assert [key for results in said["whole_layers"] for key in results][:2] == keys
    assert "Dense failed: " in said["failed"]  # MXNet multiplies floating numbers alone


def test_arrays_stand_for_themselves_and_stay_as_they_were(said: dict[str, Any]) -> None:
    assert said["arrays"] == [10.0, 10.0, [2.0, 2.0], [1.0, 1.0, 1.0, 1.0]]
    assert said["array_results"] == [
        "MX_Multiply_Forward_Backward_Time",
        "MX_Concatenate_Forward_Backward_Time",
        "MX_Gluon_Imperative_Flatten_Forward_Backward_Time",
    ]


def test_a_device_is_one_of_mxnets(said: dict[str, Any]) -> None:
    assert said["ctx"] == "`ctx` is 'cpu', expected a device of MXNet: mx.cpu() or mx.gpu(0)"


def test_the_driver_writes_three_formats(said: dict[str, Any]) -> None:
    keys = ["MX_Sqrt_Forward_Backward_Time", "MX_Square_Forward_Backward_Time"]
    assert list(json.loads(said["json"])) == keys
    assert [line.split(",")[0] for line in said["csv"].splitlines()] == ["Operator", *keys]
    assert [line.split(" | ")[0] for line in said["md"].splitlines()[2:]] == [f"| {key}" for key in keys]
    assert [said["json_code"], said["md_code"], said["csv_code"]] == [0, 0, 0]


def test_the_driver_refuses_what_cannot_be_before_anything_runs(said: dict[str, Any]) -> None:
    assert said["refused"] == [2, 2, 2, 2]
    assert "no category `power`" in said["failed"]
    assert "`--runs` is 0, expected a whole number >= 1" in said["failed"]
    assert "MXNet has no device `cuda:9` here" in said["failed"]
    assert "cannot write `no/such/folder.json`" in said["failed"]


def test_all_operators_together_are_one_dictionary_of_seconds(said: dict[str, Any]) -> None:
    assert list(said["every"]) == [
        "MX_Square_Forward_Backward_Time",
        "MX_Gluon_Imperative_Flatten_Forward_Backward_Time",
    ]


def test_functions_for_a_class_of_ones_own_time_a_call_and_return_its_result(said: dict[str, Any]) -> None:
    assert said["own"] == [True, 48.0, True]


@pytest.mark.parametrize("example", EXAMPLES, ids=[path.name for path in EXAMPLES])
def test_an_example_runs_and_says_what_it_is_for(example: Path, tmp_path: Path) -> None:
    assert example.read_text(encoding="utf-8").startswith('"""')
    assert "seconds" in run(example, tmp_path, engine="NaiveEngine")
    assert not list(tmp_path.iterdir())
