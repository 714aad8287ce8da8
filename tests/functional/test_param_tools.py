"""`--ncu` and `--nsys` of PARAM's command line, with stand-ins for NVIDIA's tools."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opperf.compat.param.__main__ import main
from opperf.compat.param.command.batches import run
from opperf.domain.errors import HarnessError

TENSOR = {"type": "tensor", "dtype": "float", "shape": [4, 4]}


@pytest.fixture
def config(here: Path) -> Path:
    """Three cases of an operator, of which the last is the first again, and one of an operator that raises."""
    steady = [{"args": [{**TENSOR, "shape": [size]}]} for size in (4, 8, 4)]
    entries = {"null:steady": steady, "null:raise": [{"args": [TENSOR]}]}
    generator = {"input_data_generator": "PyTorch:DefaultDataGenerator"}
    path = here / "null.json"
    path.write_text(json.dumps({name: {**generator, "config": [{"input": put}]} for name, put in entries.items()}))
    return path


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path with both stand-ins."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = Path(__file__).with_name("nvidia_stand_in.py").read_text(encoding="utf-8")
    for name in ("ncu", "nsys"):
        (folder / name).write_text(f"#!{sys.executable}\n{script}")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return folder


Lines = list[dict[str, Any]]


@pytest.fixture
def lines(
    config: Path, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[Any, Lines, str]]:
    """Run PARAM's command line on the config; returns its exit code, its lines and its talk."""

    def run(*words: str) -> tuple[Any, Lines, str]:
        argv = ["param", "-c", str(config), "-o", "out.json", *words]
        monkeypatch.setattr(sys, "argv", argv)
        code: Any = 0
        try:
            main()
        except SystemExit as left:
            code = left.code
        out = here / "out.json"
        result = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
        return code, result, capsys.readouterr().err

    return run


def metrics(result: Lines, tool: str) -> dict[tuple[str, str], Any]:
    """Return what a tool saw, by run id and direction."""
    return {
        (line["run_id"], name): metric[tool]
        for line in result
        if "run_id" in line
        for name, metric in line["metric"].items()
    }


@pytest.mark.usefixtures("tools")
def test_ncu_is_started_on_batches_and_its_kernels_are_in_the_records(lines: Any, here: Path) -> None:
    code, result, err = lines("--ncu", "-b", "--ncu-iteration", "2", "--run-batch-size", "1")
    assert code == 0, err
    batches = [line for line in result if "ncu_file" in line]
    # The third case is the first one again: a tool looks at it once.
    assert [(line["start_run_id"], line["end_run_id"]) for line in batches] == [
        (name, name) for name in ("null:steady|0|0|0", "null:steady|0|0|1", "null:raise|0|0|0")
    ]
    assert [Path(line["ncu_file"]).name for line in batches] == [f"out_ncu_{i}.csv" for i in range(3)]
    seen = metrics(result, "ncu")
    assert seen["null:steady|0|0|0", "forward"] == seen["null:steady|0|0|2", "forward"]
    backward = seen["null:steady|0|0|1", "backward"]
    assert (backward["iterations"], backward["file"]) == (2, str(here / "out_ncu_1.csv"))
    assert backward["kernel_time"] == pytest.approx(2 * 0.0015)
    assert backward["kernels"] == [
        {
            "name": f"{name}(float *, int)",
            "grid": [2, 1, 1],
            "block": [128, 1, 1],
            "launches": 1.0,
            "metrics": {"gpu__time_duration.sum": {"value": 1500.0, "unit": "ns"}},
        }
        for name in ("add_kernel", "grad_kernel")
    ]
    assert seen["null:raise|0|0|0", "forward"]["reason"]["message"] == "this operator always raises"
    again = here / "out_ncu_1.csv"
    report = again.read_text()
    again.unlink()
    assert subprocess.run(shlex.split(batches[1]["ncu_cmd_str"])).returncode == 0
    assert again.read_text() == report
    assert all("statistics" in line["metric"]["forward"] for line in result if line.get("op_name") == "null:steady")


@pytest.mark.usefixtures("tools")
def test_counters_that_param_reads_with_cupti_are_read_with_ncu(lines: Any) -> None:
    counters = "kineto__tensor_core_insts,dram__bytes.sum"
    code, result, err = lines("--cupti-profiler", "--cupti-profiler-metrics", counters, "-d", "cuda:1", "-b")
    assert code == 0, err
    batch = next(line for line in result if "ncu_file" in line)
    assert "--metrics sm__inst_executed_pipe_tensor.sum,dram__bytes.sum " in batch["ncu_cmd_str"]
    backward = metrics(result, "ncu")["null:steady|0|0|0", "backward"]
    byte = {"value": 64.0, "unit": "byte"}
    assert [kernel["metrics"]["dram__bytes.sum"] for kernel in backward["kernels"]] == [byte, byte]
    assert backward["metrics"]["dram__bytes.sum"] == {"value": 128.0, "unit": "byte"}
    _, result, err = lines("--cupti-profiler", "--cuda-graph")
    assert err.count("is disabled: the device is no CUDA device") == 2
    assert not any("ncu_file" in line for line in result)


@pytest.mark.usefixtures("tools")
def test_nsys_is_started_on_one_batch_and_kernels_are_found_by_their_launch(lines: Any, here: Path) -> None:
    code, result, err = lines("--nsys", "--ncu", "--nsys-iteration", "3")
    assert code == 0, err
    (batch,) = (line for line in result if "nsys_file" in line)
    assert (batch["start_run_id"], batch["end_run_id"]) == ("null:steady|0|0|0", "null:raise|0|0|0")
    assert Path(batch["nsys_file"]) == here / "out_nsys_0.sqlite"
    _, after, _ = lines("--nsys", "-a", "-r", "null:steady|0|0|1")
    assert [Path(line["nsys_file"]).name for line in after if "nsys_file" in line] == [
        "out_nsys_0.sqlite",
        "out_nsys_1.sqlite",
    ]
    nsys, ncu = (metrics(result, tool)["null:steady|0|0|1", "forward"] for tool in ("nsys", "ncu"))
    assert (nsys["kernel_time"], ncu["kernel_time"]) == (pytest.approx(0.0015), pytest.approx(0.0015))
    (kernel,) = nsys["kernels"]
    assert (kernel["name"], kernel["launches"]) == ("add_kernel(float *, int)", 1.0)
    assert kernel["metrics"] == {"duration": {"value": 1500.0, "unit": "ns"}}


def test_more_words_and_another_batch_command_are_given_to_a_tool(lines: Any, tools: Path, here: Path) -> None:
    (here / "words").write_text("--metrics dram__bytes.sum  # of memory\n")
    own = f"{shlex.quote(sys.executable)} -m opperf.child.worker.batch"
    code, result, err = lines("--ncu", "--ncu-bin", str(tools / "ncu"), "--ncu-args-file", "words", "--batch-cmd", own)
    assert code == 0, err
    (batch,) = (line for line in result if "ncu_file" in line)
    assert "--nvtx-include opperf " in batch["ncu_cmd_str"]
    assert batch["ncu_cmd_str"].endswith(f"--metrics dram__bytes.sum {own} {here / 'out_ncu_0_batch.json'}")
    seen = metrics(result, "ncu")["null:steady|0|0|0", "forward"]
    assert (seen["kernel_time"], seen["kernels"][0]["metrics"]) == (
        None,
        {"dram__bytes.sum": {"value": 64.0, "unit": "byte"}},
    )


@pytest.mark.usefixtures("tools")
def test_a_tool_that_fails_is_a_reason_and_the_operators_are_measured(lines: Any, here: Path) -> None:
    (here / "words").write_text("--metrics no_such_metric")
    code, result, err = lines("--ncu", "--ncu-args-file", "words")
    reason = metrics(result, "ncu")["null:steady|0|0|0", "forward"]["reason"]
    assert (code, reason["slug"]) == (0, "tool_failed")
    assert reason["message"].endswith("ended with 9: Failed to find metric no_such_metric")
    assert "Failed to find metric" in err
    assert result[2]["metric"]["forward"]["measure.time"] == pytest.approx([0.1])


@pytest.mark.usefixtures("tools")
def test_a_batch_sees_the_gpu_that_is_named_and_says_when_no_kernel_is_launched(lines: Any, here: Path) -> None:
    command = f"sh -c 'echo $CUDA_VISIBLE_DEVICES > {here}/seen'"
    code, result, _ = lines("--ncu", "-d", "cuda:1", "--batch-cuda-device", "3", "--batch-cmd", command)
    assert (code, metrics(result, "ncu")["null:steady|0|0|0", "forward"]["reason"]["slug"]) == (0, "no_kernels")
    batch = result[1]["config"]
    assert (here / "seen").read_text() == "3\n"
    assert {batch["side"]["device"], *(one["trial"]["side"]["device"] for one in batch["trials"])} == {"cuda:0"}


def test_a_tool_that_is_not_there_is_told_before_anything_runs(lines: Any, here: Path) -> None:
    code, result, err = lines("--nsys", "--nsys-bin", "no-such-nsys")
    assert (code, result) == (2, [])
    assert "`--nsys` needs Nsight Systems, which is not installed: no program `no-such-nsys`" in err
    assert "hint: it comes with NVIDIA's CUDA toolkit" in err
    assert [path.name for path in here.iterdir()] == ["null.json"]


LEAVING = """
import subprocess, sys
print(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True).pid)
print("said last", file=sys.stderr)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a supervisor needs what Linux has")
def test_what_a_tool_leaves_running_ends_with_it(here: Path) -> None:
    code, (number, last) = run([sys.executable, "-c", LEAVING], {**os.environ, "PYTHONPATH": str(here)}, 60)
    assert (code, last) == (0, "said last")
    assert not Path(f"/proc/{number}").exists()


def test_a_tool_that_does_not_end_or_does_not_start_is_told(here: Path) -> None:
    variables = {**os.environ, "PYTHONPATH": str(here)}
    with pytest.raises(HarnessError, match=r"was not finished within 0\.5 s"):
        run([sys.executable, "-c", "import time; time.sleep(600)"], variables, 0.5)
    with pytest.raises(HarnessError, match="cannot start `no-such-tool`"):
        run(["no-such-tool"], variables, 60)
