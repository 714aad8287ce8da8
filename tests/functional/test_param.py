"""PARAM's configs: `opperf run --config`, `opperf config`, and PARAM's own command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from opperf.compat.param.__main__ import main

Opperf: TypeAlias = Callable[..., Any]

TENSOR = {"type": "tensor", "dtype": "float", "shape": [4, 4]}
GENERATOR = {"input_data_generator": "PyTorch:DefaultDataGenerator"}


def _config(**operators: Any) -> dict[str, Any]:
    """Return a config with one entry of arguments for each operator."""
    return {
        name.replace("_", ":", 1): {**GENERATOR, "config": [{"input": inputs}]} for name, inputs in operators.items()
    }


@pytest.fixture
def config(here: Path) -> Path:
    """Two operators of the null framework, three cases, of which two are the same; and one that raises."""
    sizes = [{"args": [TENSOR]}, {"args": [{**TENSOR, "shape": [8]}]}, {"args": [TENSOR]}]
    path = here / "null.json"
    path.write_text(json.dumps(_config(null_steady=sizes, null_raise=[{"args": [TENSOR]}])))
    return path


@pytest.fixture
def param(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[Any, str, str]]:
    """Run PARAM's command line; returns its exit code, its data and its talk."""

    def run(*words: object) -> tuple[Any, str, str]:
        monkeypatch.setattr(sys, "argv", ["param", *map(str, words)])
        capsys.readouterr()
        code: Any = 0
        try:
            main()
        except SystemExit as left:
            code = left.code
        return (code, *capsys.readouterr())

    return run


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_config_is_measured_and_its_records_have_its_run_ids(opperf: Opperf, config: Path) -> None:
    done = opperf("run", "--config", config, "--runs", "3", "--format", "json")
    assert done.code == 0, done.err
    told = {(record["origin"], record["status"]) for record in done.records}
    assert told == {
        ("config:null:steady|0|0|0, null:steady|0|0|2", "ok"),
        ("config:null:steady|0|0|1", "ok"),
        ("config:null:raise|0|0|0", "failed"),
    }


def test_neutral_operators_are_measured_where_the_command_says(opperf: Opperf, here: Path) -> None:
    (here / "neutral.json").write_text(
        json.dumps({"softmax": {**GENERATOR, "config": [{"input": [{"args": [TENSOR]}]}]}})
    )
    done = opperf("run", "--config", "neutral.json", "--framework", "null", "--dry-run")
    assert done.out.splitlines() == [
        f"softmax  {direction}  null (current, cpu, eager)  data=4x4:range=0..1 axis=-1"
        for direction in ("forward", "backward")
    ]


def test_a_wrong_config_is_refused_before_anything_runs(opperf: Opperf, here: Path) -> None:
    (here / "bad.json").write_text(json.dumps({"null:stedy": {"config": [{"input": [{"args": [{"type": "tensr"}]}]}]}}))
    checked, run = opperf("config", "check", "bad.json"), opperf("run", "--config", "bad.json", "--output", "r.json")
    assert (checked.code, run.code) == (2, 2)
    assert "bad.json: 3 mistakes" in checked.err
    assert "no operator `null:stedy` (did you mean `null:steady`" in checked.err
    assert "Traceback" not in checked.err + run.err
    assert [path.name for path in here.iterdir()] == ["bad.json"]


def test_an_operator_that_a_framework_does_not_have_is_refused_with_near_names(opperf: Opperf, here: Path) -> None:
    (here / "unknown.json").write_text(json.dumps(_config(null_stedy=[{"args": []}])))
    done = opperf("run", "--config", "unknown.json")
    assert (done.code, done.out) == (2, "")
    assert '$["null:stedy"]: no operator `null:stedy`' in done.err
    assert "did you mean `null:steady`" in done.err


def test_a_sound_config_is_counted_and_the_schema_is_json(opperf: Opperf, config: Path) -> None:
    assert opperf("config", "check", config).out == f"{config}: 2 operators, 4 cases\n"
    assert json.loads(opperf("config", "schema").out)["$defs"]["tensor"]["required"] == ["type", "shape", "dtype"]


def test_params_command_line_writes_params_lines(param: Any, config: Path, here: Path) -> None:
    code, out, err = param("-c", config, "-w", "2", "-i", "4", "-b", "-o", "out", "-p")
    assert code == 0, err
    (path,) = (one for one in here.glob("out_*.json") if "trace" not in one.name)
    head, *cases, finish, trace = _lines(path)
    assert (head["run_options"]["iteration"], finish.keys() >= {"finish_time"}) == (4, True)
    # The third case is the first one again: measured once, and told under both ids.
    assert [line["id"] for line in cases] == ["0|0|0", "0|0|1", "0|0|2", "0|0|0"]
    assert [line["run_id"] for line in cases if line["status"] == "failed"] == ["null:raise|0|0|0"]
    assert cases[0]["metric"]["forward"]["measure.time"] == pytest.approx([0.1] * 4)
    assert cases[0]["metric"]["backward"]["statistics"]["median"] == pytest.approx(0.2)
    assert out.splitlines()[0] == "null:steady|0|0|0  forward  100 us"
    assert json.loads(Path(trace["trace_file"]).read_text())["traceEvents"]


def test_a_run_resumes_at_an_id_that_it_printed_and_appends(param: Any, config: Path, here: Path) -> None:
    param("-c", config, "-o", "one.json", "--stop-id", "null:steady|0|0|1", "-l", "ERROR")
    words = ("-c", config, "-o", "one.json", "-l", "ERROR")
    code, out, err = param(*words, "-a", "-r", "0|0|1", "--stop_id", "null:raise|0|0|0")
    assert code == 0, err
    assert [line["run_id"] for line in _lines(here / "one.json") if "run_id" in line] == [
        "null:steady|0|0|0", "null:steady|0|0|1", "null:steady|0|0|2",
    ]  # fmt: skip
    assert len(out.splitlines()) == 2


def test_a_run_in_which_everything_failed_ends_with_three(param: Any, config: Path, here: Path) -> None:
    code, out, err = param("-c", config, "-o", "one.json", "-r", "null:raise|0|0|0", "-l", "ERROR")
    assert (code, out) == (3, "null:raise|0|0|0  forward  failed: this operator always raises\n")
    assert "1 of 1 trials failed" in err
    assert [line.get("status") for line in _lines(here / "one.json")] == [None, "failed", None]


def test_a_wrong_id_leaves_the_results_as_they_were(param: Any, config: Path, here: Path) -> None:
    (here / "one.json").write_text("kept")
    code, _, err = param("-c", config, "-o", "one.json", "-r", "nothing")
    assert (code, (here / "one.json").read_text()) == (2, "kept")
    assert "no run id `nothing`" in err


def test_a_command_without_a_config_says_what_is_missing(param: Any) -> None:
    code, _, err = param("-w", "1")
    assert code == 2
    assert "error: no config\n\nhint: name one: `-c FILE`" in err
