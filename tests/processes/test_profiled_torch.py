"""PyTorch's operators as its profiler sees them: the same counts and times as its own table, exact memory, modules."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from opperf.domain.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment, interpreter
from opperf.parent.workers.package import package_folder

HERE = Path(__file__).parent
LENET = HERE.parents[1] / "examples" / "models" / "lenet_torch.py"
#: Bytes of the arrays whose memory is looked at: 1024 x 1024 of float32.
ARRAY = 4 * 1024 * 1024


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """What the script saw, by name."""
    python = interpreter(choose_environment(EnvironmentSpec.parse("current"), "torch"), framework="torch")
    done = subprocess.run(
        [str(python), str(HERE / "profiled_torch.py"), str(LENET)],
        env={**os.environ, "PYTHONPATH": str(package_folder())},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def test_every_operator_has_the_calls_and_times_of_pytorchs_own_table(found: dict[str, Any]) -> None:
    ours, theirs = found["ours"], found["theirs"]
    assert len(ours) > 30
    assert {name: row[0] for name, row in ours.items()} == {name: theirs[name][0] for name in ours}
    for name, (_, total, own) in ours.items():
        assert total == pytest.approx(theirs[name][1], rel=0.01), name
        assert own == pytest.approx(theirs[name][2], rel=0.01, abs=1e-9), name
    assert sum(row[2] for row in ours.values()) == pytest.approx(sum(theirs[name][2] for name in ours), rel=0.01)


def test_what_is_left_out_of_the_operators_is_the_engines_and_the_optimizers_own(found: dict[str, Any]) -> None:
    assert set(found["theirs"]) - set(found["ours"]) == set(found["tasks"])
    assert all(name.startswith(("autograd::engine::", "Optimizer.")) for name in found["tasks"])


def test_what_was_taken_is_not_taken_again(found: dict[str, Any]) -> None:
    assert found["taken twice"] == 0


def test_spans_lie_between_readings_of_the_clock_around_them(found: dict[str, Any]) -> None:
    assert found["between"]


def test_threads_go_by_their_names_and_those_of_the_script_are_seen(found: dict[str, Any]) -> None:
    assert found["thread"] == ["MainThread"]
    assert found["elsewhere"] == ["worker"]


def test_memory_of_each_call_and_of_the_program_is_exact(found: dict[str, Any]) -> None:
    assert found["memory"] == [
        ["aten::add", ARRAY, ARRAY],
        ["aten::add", ARRAY, ARRAY],
        ["aten::mul", ARRAY, ARRAY],
    ]
    assert found["readings"] == [held * ARRAY for held in (0, 1, 2, 1, 2, 1, 0)]
    assert found["summary"] == {
        "cpu/0": {"Allocations": 3, "Total Bytes Allocated": 3 * ARRAY, "Peak Bytes": 2 * ARRAY}
    }


def test_memory_of_a_call_is_that_of_the_calls_within_it_too(found: dict[str, Any]) -> None:
    assert found["softmax"] == [[ARRAY, ARRAY]]


def test_shapes_are_those_of_the_inputs_and_give_the_operations(found: dict[str, Any]) -> None:
    assert found["mm"] == [[[[64, 128], [128, 32]], 2 * 64 * 128 * 32]]
    assert found["cat"] == [[[64, 32], [1, 32], []]]


def test_operators_belong_to_the_module_that_called_them_forward_and_backward(found: dict[str, Any]) -> None:
    assert found["modules"] == ["LeNet", "LeNet.conv1", "LeNet.conv2", "LeNet.dense1", "LeNet.dense2"]
    assert found["forward"] == ["LeNet.conv1", "LeNet.conv2"]
    assert found["backward"] == ["LeNet.conv1", "LeNet.conv2"]
    assert found["backward is"] == [True]
    assert found["outside"] == [""]


def test_a_node_of_the_graph_knows_the_operator_that_it_is_the_gradient_of(found: dict[str, Any]) -> None:
    assert found["flow"][:4] == [
        ["aten::nll_loss_forward", "NllLossBackward0"],
        ["aten::_log_softmax", "LogSoftmaxBackward0"],
        ["aten::addmm", "AddmmBackward0"],
        ["aten::t", "TBackward0"],
    ]
    assert len(found["flow"]) == 14


def test_a_module_that_raises_is_left_and_no_hook_stays(found: dict[str, Any]) -> None:
    assert found["broken"] == [["aten::relu", "Sequential.0"], ["aten::cos", ""]]
    assert found["hooks"] == 0


def test_a_stack_leads_to_the_line_that_called_backward_too(found: dict[str, Any]) -> None:
    assert found["stack"] == [True, True]


def test_named_ranges_and_compilation_are_tasks_and_a_compiled_graph_is_fused(found: dict[str, Any]) -> None:
    assert found["kinds"] == [
        ["mine", "task", False],
        ["aten::cos", "operator", False],
        ["CompiledFxGraph", "operator", True],
        ["aten::sin", "operator", False],
        ["compile_file", "task", False],
        ["aten::tan", "operator", False],
    ]


def test_only_the_steps_that_count_are_seen(found: dict[str, Any]) -> None:
    assert found["steps"] == [
        ["step 2", "step"],
        ["aten::cos", "operator"],
        ["step 3", "step"],
        ["aten::cos", "operator"],
    ]


def test_a_second_start_and_pytorchs_own_profiler_are_refused(found: dict[str, Any]) -> None:
    assert found["taken"] == "profiler_taken"
    assert found["twice"] == ["profiler_running", "profiler_running", "profiler_running"]
    assert found["stopped"] == "profiler_stopped"
    assert found["counts"] == {"aten::cos": 1}


def test_a_script_that_uses_pytorchs_profiler_by_itself_has_it_and_the_profile_says_that_it_is_lost(
    found: dict[str, Any],
) -> None:
    assert found["own"] == ["aten::cos"]
    events, note = found["ended"]
    assert events == 0
    assert "which ended this one" in note
