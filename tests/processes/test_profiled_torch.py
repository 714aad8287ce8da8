"""PyTorch's operators as its profiler sees them: the same counts and times as its own table, exact memory, modules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.in_environment import printed

HERE = Path(__file__).parent
LENET = HERE.parents[1] / "examples" / "models" / "lenet_torch.py"
#: Bytes of the arrays whose memory is looked at: 1024 x 1024 of float32.
ARRAY = 4 * 1024 * 1024


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    """What the script saw, by name."""
    # PyTorch keeps the number of the thread that imports it, which is not that of a copy.
    seen: dict[str, Any] = json.loads(printed("torch", HERE / "profiled_torch.py", LENET, fresh=True))
    return seen


def test_every_operator_has_the_calls_and_times_of_pytorchs_own_table(result: dict[str, Any]) -> None:
    ours, theirs = result["ours"], result["theirs"]
    assert len(ours) > 30
    assert {name: row[0] for name, row in ours.items()} == {name: theirs[name][0] for name in ours}
    for name, (_, total, own) in ours.items():
        assert total == pytest.approx(theirs[name][1], rel=0.01), name
        assert own == pytest.approx(theirs[name][2], rel=0.01, abs=1e-9), name
    assert sum(row[2] for row in ours.values()) == pytest.approx(sum(theirs[name][2] for name in ours), rel=0.01)


def test_calls_of_python_are_known_by_their_names_where_pytorch_does_not_say(result: dict[str, Any]) -> None:
    seen = result["calls of Python"]
    assert seen["said"] > 20
    assert seen["others"] > 5
    assert seen["told apart alike"]


def test_modules_and_what_is_of_none_add_up_to_pytorchs_own_sum(result: dict[str, Any]) -> None:
    by_module = result["by module"]
    outermost = {name: time for name, (level, time) in by_module.items() if level == 1}
    assert sum(outermost.values()) == pytest.approx(result["theirs in modules"], rel=0.01)
    within = {name: time for name, (level, time) in by_module.items() if level == 2}
    assert "LeNet.conv1" in within
    assert sum(within.values()) <= outermost["LeNet"] * 1.0001


def test_compiled_graphs_are_known_by_their_operators_and_modules(result: dict[str, Any]) -> None:
    compiled = result["compiled"]
    first, second, *again = compiled["graphs"]
    assert first["operators"] == {"linear": 2, "relu": 2}
    assert first["modules"] == {"Doubled": 2, "Doubled.layers.0": 1, "Doubled.layers.1": 1}
    assert second["operators"] == {"sin": 1}
    assert [graph["operators"] for graph in again] == [first["operators"], second["operators"]]
    assert sum(compiled["breaks"].values()) == 2
    assert len(compiled["recompilations"]) == 2
    assert all("size mismatch" in line for line in compiled["recompilations"])
    assert result["compile is put back"]


def test_what_is_left_out_of_the_operators_is_the_engines_and_the_optimizers_own(result: dict[str, Any]) -> None:
    assert set(result["theirs"]) - set(result["ours"]) == set(result["tasks"])
    assert all(name.startswith(("autograd::engine::", "Optimizer.")) for name in result["tasks"])


def test_what_was_taken_is_not_taken_again(result: dict[str, Any]) -> None:
    assert result["taken twice"] == 0


def test_spans_lie_between_readings_of_the_clock_around_them(result: dict[str, Any]) -> None:
    assert result["between"]


def test_threads_go_by_their_names_and_those_of_the_script_are_seen(result: dict[str, Any]) -> None:
    assert result["thread"] == ["MainThread"]
    assert result["elsewhere"] == ["worker"]


def test_memory_of_each_call_and_of_the_program_is_exact(result: dict[str, Any]) -> None:
    assert result["memory"] == [
        ["aten::add", ARRAY, ARRAY],
        ["aten::add", ARRAY, ARRAY],
        ["aten::mul", ARRAY, ARRAY],
    ]
    assert result["readings"] == [held * ARRAY for held in (0, 1, 2, 1, 2, 1, 0)]
    assert result["summary"] == {
        "cpu/0": {"Allocations": 3, "Total Bytes Allocated": 3 * ARRAY, "Peak Bytes": 2 * ARRAY}
    }


def test_what_was_alive_at_the_peak_is_known_by_operator_and_shape(result: dict[str, Any]) -> None:
    alive = ["aten::add", ARRAY, [1024, 1024], "float32"]
    assert result["alive"] == [alive, alive]


def test_memory_of_a_call_is_that_of_the_calls_within_it_too(result: dict[str, Any]) -> None:
    assert result["softmax"] == [[ARRAY, ARRAY]]


def test_shapes_are_those_of_the_inputs_and_give_the_operations(result: dict[str, Any]) -> None:
    assert result["mm"] == [[[[64, 128], [128, 32]], 2 * 64 * 128 * 32]]
    assert result["cat"] == [[[64, 32], [1, 32], []]]


def test_operators_belong_to_the_module_that_called_them_forward_and_backward(result: dict[str, Any]) -> None:
    assert result["modules"] == ["LeNet", "LeNet.conv1", "LeNet.conv2", "LeNet.dense1", "LeNet.dense2"]
    assert result["forward"] == ["LeNet.conv1", "LeNet.conv2"]
    assert result["backward"] == ["LeNet.conv1", "LeNet.conv2"]
    assert result["backward is"] == [True]
    assert result["outside"] == [""]


def test_what_checkpointing_recomputes_belongs_to_its_own_module_in_a_phase_of_its_own(result: dict[str, Any]) -> None:
    expected = [
        ["aten::gelu", "Checkpointed.act", ""],
        ["aten::add", "Checkpointed", ""],
        ["recomputation", "Checkpointed", "recomputed"],
        ["aten::gelu", "Checkpointed.act", "recomputed"],
        ["aten::add", "Checkpointed", "recomputed"],
        ["aten::gelu_backward", "Checkpointed.act", "backward"],
    ]
    assert result["checkpointed"] == [expected, expected]


def test_a_node_of_the_graph_knows_the_operator_that_it_is_the_gradient_of(result: dict[str, Any]) -> None:
    assert result["flow"][:4] == [
        ["aten::nll_loss_forward", "NllLossBackward0"],
        ["aten::_log_softmax", "LogSoftmaxBackward0"],
        ["aten::addmm", "AddmmBackward0"],
        ["aten::t", "TBackward0"],
    ]
    assert len(result["flow"]) == 14


def test_a_module_that_raises_is_left_and_no_hook_stays(result: dict[str, Any]) -> None:
    assert result["broken"] == [["aten::relu", "Sequential.0"], ["aten::cos", ""]]
    assert result["hooks"] == 0


def test_a_stack_leads_to_the_line_that_called_backward_too(result: dict[str, Any]) -> None:
    assert result["stack"] == [True, True]


def test_named_ranges_and_compilation_are_tasks_and_a_compiled_graph_is_fused(result: dict[str, Any]) -> None:
    assert result["kinds"] == [
        ["mine", "task", False],
        ["aten::cos", "operator", False],
        ["CompiledFxGraph", "operator", True],
        ["aten::sin", "operator", False],
        ["compile_file", "task", False],
        ["aten::tan", "operator", False],
    ]


def test_only_the_steps_that_count_are_seen(result: dict[str, Any]) -> None:
    assert result["steps"] == [
        ["step 2", "step"],
        ["aten::cos", "operator"],
        ["step 3", "step"],
        ["aten::cos", "operator"],
    ]


def test_in_a_short_gap_the_profiler_rests_and_what_runs_in_it_does_not_count(result: dict[str, Any]) -> None:
    ends, stretches, names = result["rested"]
    assert ends == [1, 1, 1, 1]  # the first gap is not known before it is over
    assert stretches == 4
    assert "aten::cos" in names
    assert "aten::sin" not in names
    assert result["after a rest"] == ["aten::tan"]


def test_a_second_start_and_pytorchs_own_profiler_are_refused(result: dict[str, Any]) -> None:
    assert result["taken"] == "profiler_taken"
    assert result["twice"] == ["profiler_running", "profiler_running", "profiler_running"]
    assert result["stopped"] == "profiler_stopped"
    assert result["counts"] == {"aten::cos": 1}


def test_a_script_that_uses_pytorchs_profiler_by_itself_has_it_and_the_profile_says_that_it_is_lost(
    result: dict[str, Any],
) -> None:
    assert result["own"] == ["aten::cos"]
    events, note = result["ended"]
    assert events == 0
    assert "which ended this one" in note
