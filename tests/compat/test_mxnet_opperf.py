"""The functions of MXNet's opperf in a script with MXNet alone: their forms, and each thing that was broken there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.compat.in_mxnet import run

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_name("mxnet_script.py")
EXAMPLES = sorted((ROOT / "examples/mxnet_opperf").glob("*.py"))
STATISTICS = ("avg", "p50", "p90", "p99", "min", "max", "stdev")


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the script found, by name."""
    folder = tmp_path_factory.mktemp("script")
    answer = tmp_path_factory.mktemp("answer") / "found.json"
    run(SCRIPT, folder, str(answer))
    result: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
    return result


def row(results: list[dict[str, list[dict[str, Any]]]]) -> tuple[str, dict[str, Any]]:
    """Return the name and the first row of the first operator."""
    ((name, rows),) = results[0].items()
    return name, rows[0]


# Forms ----------------------------------------------------------------------------------------------------------------


def test_a_native_row_has_both_directions_and_memory(said: dict[str, Any]) -> None:
    first, second = said["native"][0]["add"]
    assert first["inputs"] == {"lhs": [128, 128], "rhs": [128, 128]}
    for direction in ("forward", "backward"):
        assert all(first[f"{one}_time_{direction}_add"] >= 0 for one in STATISTICS)
        # A busy machine disturbs calls, and those are left out.
        assert 1 <= first[f"samples_{direction}_add"] <= 3
        assert first[f"min_time_{direction}_add"] <= first[f"p50_time_{direction}_add"]
    assert second["inputs"]["lhs"] == [1000, 1]


def test_a_python_row_has_both_directions_together(said: dict[str, Any]) -> None:
    assert [list(result) for result in said["python"]] == [["add"], ["subtract"]]
    answer = said["python"][0]["add"][0]
    assert all(answer[f"{one}_time_add"] >= 0 for one in STATISTICS)
    assert answer["samples_add"] >= 1
    assert not [key for key in answer if "forward" in key or "mem_alloc" in key]


def test_without_backward_a_row_has_forward_alone(said: dict[str, Any]) -> None:
    assert not [key for key in row(said["forward"])[1] if "backward" in key]


def test_the_proposals_forms_hold_for_their_own_dictionary(said: dict[str, Any]) -> None:
    name, result = row(said["proposal"])
    assert name == "add"
    assert result["inputs"]["initializer"] == "normal"
    assert not [key for key in result if "backward" in key]
    assert result["max_storage_mem_alloc_cpu/0"] == 131.072  # 128 x 128 of float64


def test_an_internal_operator_takes_arrays(said: dict[str, Any]) -> None:
    name, result = row(said["internal"])
    assert name == "_copyto"
    assert result["inputs"] == {"data": "<NDArray 2 @cpu(0)>", "out": "<NDArray 2 @cpu(0)>"}
    assert result["avg_time_forward__copyto"] > 0
    assert said["copied"] == [1, 2]


def test_arrays_of_ones_own_get_no_gradient(said: dict[str, Any]) -> None:
    assert said["untouched"]


@pytest.mark.parametrize(
    ("which", "name"), [("block", "Conv2D"), ("made", "Dense"), ("table", "Embedding"), ("cell", "LSTMCell")]
)
def test_a_gluon_block_is_measured_both_ways(said: dict[str, Any], which: str, name: str) -> None:
    result, measured = row(said[which])
    assert result == name
    assert measured[f"avg_time_forward_{name}"] > 0
    assert measured[f"avg_time_backward_{name}"] > 0


def test_every_module_of_mxnet_is_taken(said: dict[str, Any]) -> None:
    result = [row(one) for one in said["modules"]]
    names = ["add", "pick", "quadratic", "relu", "gemm2", "random_normal", "concat", "Embedding"]
    assert [name for name, _ in result] == names
    assert [name for name, measured in result if f"avg_time_forward_{name}" not in measured] == []


def test_one_name_is_looked_up_in_every_module_and_returned(said: dict[str, Any]) -> None:
    assert [next(iter(one)) for one in said["one_name"]] == ["add", "add", "BatchNorm", "batch_norm"]
    old, new = said["one_name"][0]["add"][0], said["one_name"][1]["add"][0]
    assert old["inputs"] == {"lhs": [8, 8], "rhs": [8, 8]}
    assert new["inputs"] == {"x1": [8, 8], "x2": [8, 8]}
    assert all("avg_time_backward_add" in one for one in (old, new))
    assert "no_such_name" in said["unknown"]


def test_one_name_gets_every_array_of_each_module_and_nothing_that_another_takes(said: dict[str, Any]) -> None:
    square = [8, 8]
    result = [[row([one])[1] for one in several] for several in said["every_array"]]
    assert [[one["inputs"] for one in several] for several in result] == [
        [{"condition": square, "x": square, "y": square}] * 2,
        [{"data": square}] * 2,  # not the lengths, which only `use_length` asks for
        [{"x1": square, "x2": square}],
        [{"data": [square, square]}],
        [{"data": square, "shape": [4, 16]}, *[{"a": square, "newshape": [4, 16]}] * 2],
    ]
    assert [one.get("error") for several in result for one in several] == [None] * 9


def test_the_script_needs_nothing_of_the_parent(said: dict[str, Any]) -> None:
    assert said["parents"] == []
    assert not {"typer", "rich", "psutil", "jinja2", "hypothesis"} & set(said["imported"])


# What was broken ------------------------------------------------------------------------------------------------------


def test_an_operator_that_fails_costs_its_own_row_alone(said: dict[str, Any]) -> None:
    broken, good, other = said["isolated"][0]["add"]
    assert "could not be broadcast" in broken["error"]
    assert "avg_time_forward_add" in good
    assert "error" in other
    assert "avg_time_forward_relu" in said["isolated"][1]["relu"][2]


def test_whole_numbers_run(said: dict[str, Any]) -> None:
    for name, rows in said["whole"].items():
        assert [one.get("error") for one in rows] == [None] * len(rows)
        assert all(f"avg_time_forward_{name}" in one for one in rows)


def test_memory_is_what_one_call_holds_not_half_of_it_nor_what_the_process_did(said: dict[str, Any]) -> None:
    first, second = said["native"][0]["add"]
    assert first["max_storage_mem_alloc_cpu/0"] == 65.536  # 128 x 128 of float32; it was 32.768
    assert second["max_storage_mem_alloc_cpu/0"] == 4.0  # whatever came before
    assert said["after"][0]["add"][0]["max_storage_mem_alloc_cpu/0"] == 65.536


def test_memory_of_nothing_is_a_reading(said: dict[str, Any]) -> None:
    assert row(said["internal"])[1]["max_storage_mem_alloc_cpu/0"] == 0.0


def test_times_are_found_whatever_mxnet_calls_the_operator(said: dict[str, Any]) -> None:
    for result in said["named"]:
        name, answer = row(result)
        assert answer[f"avg_time_forward_{name}"] > 0, name
        assert answer[f"avg_time_backward_{name}"] > 0, name


def test_a_custom_operators_time_has_its_python_in_it(said: dict[str, Any]) -> None:
    assert row(said["custom"])[1]["min_time_forward_Custom"] >= 5.0


def test_every_shape_is_warmed_up(said: dict[str, Any]) -> None:
    assert min(said["calls"]) > 40


def test_updates_of_several_weights_are_all_there_and_take_the_runs_asked_for(said: dict[str, Any]) -> None:
    names = ["multi_mp_sgd_mom_update", "preloaded_multi_sgd_update", "reset_arrays"]
    assert list(said["updates"]) == names
    for name in names:
        assert all(one[f"samples_forward_{name}"] <= 2 for one in said["updates"][name])
        assert all("no_backward" in one for one in said["updates"][name])


def test_a_list_of_shapes_is_not_taken_for_data(said: dict[str, Any]) -> None:
    assert "`lhs` is a list of shapes, expected one shape" in said["shapes"]


def test_wrong_usage_says_what_was_expected(said: dict[str, Any]) -> None:
    assert "expected a list of dictionaries" in said["no_list"]
    assert "known: native, python" in said["clock"]
    assert "`ctx` is 'cpu', expected a device of MXNet" in said["ctx"]
    assert "no dtype `flot32`" in said["dtype"]
    assert "`int64_tensor` is `yes`, expected on or off" in said["int64"]


def test_one_operator_may_be_named_without_a_list(said: dict[str, Any]) -> None:
    assert said["one"] == ["shape_array"]


def test_a_category_has_the_originals_values_on_request(said: dict[str, Any]) -> None:
    (row, *_) = said["original"]["take"]
    assert row["inputs"]["initializer"] == "normal"
    assert row["avg_time_forward_take"] > 0


def test_nothing_is_left_in_the_folder(said: dict[str, Any]) -> None:
    assert said["files"] == []


# The profiler ---------------------------------------------------------------------------------------------------------


def test_a_summary_has_all_bytes_by_device(said: dict[str, Any]) -> None:
    first, second, _ = said["summaries"]
    assert first["Memory"]["cpu/0"]["Total Bytes Allocated"] == 80000
    assert second["Memory"]["cpu/0"]["Total Bytes Allocated"] == 160000
    assert second["Memory"]["cpu/0"]["Allocations"] == 4
    assert second["Memory"]["cpu/0"]["Peak Bytes"] >= 80000


def test_a_summary_has_times_by_operator(said: dict[str, Any]) -> None:
    first, second, _ = said["summaries"]
    counts = [one["Time"]["operator"]["broadcast_add"]["Count"] for one in (first, second)]
    assert counts == [2, 4]
    timed = second["Time"]["operator"]["broadcast_add"]
    assert timed["Avg"] == timed["Total"] / 4


def test_a_reset_forgets(said: dict[str, Any]) -> None:
    last = said["summaries"][2]
    assert last["Time"].get("operator", {}) == {}
    assert last["Memory"] == {}


def test_a_measurement_in_between_does_not_cost_the_configuration(said: dict[str, Any]) -> None:
    assert said["configured_again"]["Memory"]["cpu/0"]["Total Bytes Allocated"] == 40000


def test_a_profiler_configured_elsewhere_has_no_memory_and_says_so(said: dict[str, Any]) -> None:
    assert said["unconfigured"]["Memory"] is None
    assert "set_config" in said["unconfigured"]["Note"]


def test_a_profiler_that_adds_nothing_up_has_no_times_and_says_so(said: dict[str, Any]) -> None:
    for told in said["nothing_yet"]:
        assert told["Time"] is None
        assert "no times were summed up" in told["Note"]


# Examples -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("example", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_an_example_runs_in_mxnets_environment(example: Path, tmp_path: Path) -> None:
    printed = run(example, tmp_path, engine="NaiveEngine")  # a wait for another thread costs most of the time
    assert printed
    assert "'error'" not in printed
    assert list(tmp_path.iterdir()) == []
    assert example.read_text(encoding="utf-8").startswith('"""')
