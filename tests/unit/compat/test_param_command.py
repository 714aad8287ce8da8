"""PARAM's command line: its flags, its run ids, its lines and its trace."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.each import each

from opperf.compat.param.command.lines import Lines, LineStyle, cases_between, output_path
from opperf.compat.param.command.running import mode_of, write_trace
from opperf.compat.param.command.tools import MODES, parser, quiet, warnings
from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.measurement import Measurement, Outcome, Quantity, Sample, Samples
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Reason
from opperf.param.cases import ConfigCase
from opperf.param.names import Meaning

#: What PARAM's help lists, and its values.
FLAGS = (
    "-c x.json -w 2 -i 5 -b -d cuda -o out -r a -s b -a --cuda-l2-cache off --ncu --ncu-bin n --ncu-args-file f "
    "--ncu-warmup 1 --ncu-iteration 2 --nsys --nsys-bin n --nsys-args-file f --nsys-warmup 1 --nsys-iteration 2 "
    "--run-batch-size 3 --batch-cuda-device 0 --batch-cmd c --exec-mode continuous -p -l DEBUG"
)


def made(*run_ids: str) -> list[ConfigCase]:
    """Return cases of these run ids."""
    return [ConfigCase(name, Case("add"), Meaning("torch", "torch.add")) for name in run_ids]


IDS = made("torch.add|0|0|0", "torch.add|0|0|1", "torch.mm|0|0|0", "torch.mm|0|0|2_1")
SAMPLES = Samples((Sample(1, 2_000_000, 1_000_000), Sample(1, 4_000_000, 1_000_000, clean=False)))
MEASURED = Measurement(
    {
        "time": Samples((Sample(4, 4_000_000, 4_000_000), Sample(4, 8_000_000, 4_000_000))),
        "latency": SAMPLES,
        "memory_peak": Quantity(3 * 2**20, "seen"),
    }
)


def outcome(direction: str = "forward", device: str = "cpu") -> Outcome:
    """Return an outcome with samples of 2 and 4 ms a call."""
    return Outcome(Trial(Case("add"), Side("torch", device=device), direction), 0, "ok", MEASURED, version="2.13")


# Flags ---------------------------------------------------------------------------------------------------------------


def test_every_flag_of_param_is_taken() -> None:
    given = parser().parse_args(FLAGS.split())
    assert (given.config, given.warmup, given.iteration, given.backward) == (Path("x.json"), 2, 5, True)
    assert (given.resume_id, given.stop_id, given.append, given.cuda_l2_cache) == ("a", "b", True, "off")
    assert (given.exec_mode, given.profile, given.run_batch_size) == ("continuous", True, 3)


@each("name", sorted({word for word in re.findall(r"--[\w-]+", FLAGS) if "-" in word[2:]}))
def test_both_spellings_of_a_flag_are_one(name: str) -> None:
    value = {"--cuda-l2-cache": ["off"], "--ncu-bin": ["n"], "--nsys-bin": ["n"], "--batch-cmd": ["c"]}.get(name, ["7"])
    words = ["--exec-mode", "continuous"] if name == "--exec-mode" else [name, *value]
    other = [f"--{words[0][2:].replace('-', '_')}", *words[1:]]
    assert parser().parse_args(words) == parser().parse_args(other) != parser().parse_args([])


@each(
    ("words", "name", "value"),
    [
        ("--iter 5", "iteration", 5),
        ("--resume a", "resume_id", "a"),
        ("--cupti_profiler_met x", "cupti_profiler_metrics", "x"),
        ("--pt2", "pt2_model", True),
        ("--et", "et", True),
        ("--cuda_graph", "cuda_graph", True),
        ("--cupti-profiler-measure", "cupti_profiler_measure_per_kernel", True),
    ],
)
def test_flags_may_be_abbreviated(words: str, name: str, value: Any) -> None:
    assert getattr(parser().parse_args(words.split()), name) == value


def test_flags_without_effect_are_warned_of() -> None:
    told = warnings(parser().parse_args(["--cuda-graph", "--cupti-profiler"]))
    assert told == [
        "`--cuda-graph` is disabled: the device is no CUDA device",
        "`--cupti-profiler` is disabled: the device is no CUDA device",
    ]
    told = warnings(parser().parse_args(["-d", "cuda", "--cuda-graph", "--pt2-model", "--cupti-profiler", "--nsys"]))
    assert told == [
        "`--pt2-model` is disabled: `--cuda-graph` captures operators as they are, not compiled",
        "`--cupti-profiler` is disabled: `--ncu` or `--nsys` already examines the kernels",
    ]
    assert warnings(parser().parse_args(["-d", "cuda", "--cuda-graph", "--cupti-profiler"])) == []
    assert warnings(parser().parse_args([])) == []


@pytest.mark.parametrize(
    ("words", "modes"),
    [
        ("", ()),
        ("--pt2-model", ("compiled",)),
        ("--cuda-graph", ()),
        ("--cuda-graph -d cuda", ("cuda_graph",)),
        ("--cuda-graph -d cuda:1 --pt2-model", ("cuda_graph",)),
    ],
)
def test_a_cuda_graph_is_a_mode_of_a_gpu(words: str, modes: tuple[str, ...]) -> None:
    assert mode_of(parser().parse_args(words.split())) == modes


def test_a_flag_that_is_the_beginning_of_several_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["--ncu-w", "1", "--nsys-", "x"])
    assert "ambiguous option: --nsys-" in capsys.readouterr().err


@pytest.mark.parametrize("spelling", ["--stop_id", "--stop-id", "-s"])
def test_the_stop_id_has_the_spelling_that_param_mixes(spelling: str) -> None:
    assert parser().parse_args([spelling, "x"]).stop_id == "x"


def test_bare_flags_have_the_value_that_param_gives_them() -> None:
    given = parser().parse_args(["--exec-mode", "--cuda-l2-cache"])
    assert (given.exec_mode, given.cuda_l2_cache) == (MODES[0], "on")


@pytest.mark.parametrize("words", [["-w", "-1"], ["-i", "-1"], ["--exec-mode", "fast"], ["-x"]])
def test_a_value_that_cannot_be_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        parser().parse_args(words)
    assert left.value.code == 2
    assert "error: " in capsys.readouterr().err


def test_nothing_is_said_below_the_level_of_an_error() -> None:
    assert quiet(parser().parse_args(["-l", "error"]))
    assert not quiet(parser().parse_args([]))


# Run ids -------------------------------------------------------------------------------------------------------------


@each(
    ("resume", "stop", "left"),
    [
        (None, None, slice(0, 4)),
        ("torch.mm|0|0|0", None, slice(2, 4)),
        ("torch.mm:0|0|0", None, slice(2, 4)),
        ("0|0|2_1", None, slice(3, 4)),
        (None, "torch.mm|0|0|0", slice(0, 2)),
        ("0|0|1", "0|0|2_1", slice(1, 3)),
    ],
)
def test_a_run_goes_from_one_id_to_before_another(resume: str | None, stop: str | None, left: slice) -> None:
    assert cases_between(IDS, resume, stop) == IDS[left]


@pytest.mark.parametrize("given", ["torch.mm|0|0|1|0", "0|0|1|0", "torch.mm:0|0|1|0"])
def test_the_ids_that_param_makes_of_several_builds_are_those_of_the_last_one(given: str) -> None:
    ids = made("torch.mm|0|0|0", "torch.mm|0|1|0", "torch.mm|0|2|0")
    assert cases_between(ids, given, None) == ids[1:]


@pytest.mark.parametrize(
    ("resume", "stop", "message"),
    [
        ("0|0|0", None, "`--resume-id 0|0|0` matches several cases"),
        ("torch.ad|0|0|0", None, "no run id `torch.ad|0|0|0` for `--resume-id`"),
        (None, "0", "no run id `0` for `--stop-id`"),
    ],
)
def test_an_id_that_is_not_there_is_refused_with_those_that_are(
    resume: str | None, stop: str | None, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        cases_between(IDS, resume, stop)
    assert message in caught.value.message
    assert "|0|0" in (caught.value.hint or "")


@each(("resume", "stop"), [("torch.mm|0|0|0", "torch.add|0|0|1"), (None, "torch.add|0|0|0")])
def test_no_case_stands_before_one_that_comes_first(resume: str | None, stop: str) -> None:
    assert cases_between(IDS, resume, stop) == []


def test_a_config_without_cases_has_none_between_any_ids() -> None:
    assert cases_between([], "torch.add|0|0|0", "torch.mm|0|0|0") == []


# Lines ---------------------------------------------------------------------------------------------------------------


def test_a_line_has_params_fields_and_units_and_statistics_beside_them() -> None:
    known = replace(IDS[3], config={"build": None, "input": {"args": [{"type": "int", "value": 3}]}})
    line = LineStyle(Settings(runs=2), discrete=True).line(known, "torch.mm", {"forward": outcome()})
    metric = line["metric"]["forward"]
    assert (line["op_name"], line["id"], line["run_id"], line["status"]) == ("torch.mm", "0|0|2_1", known.run_id, "ok")
    assert metric["measure.time"] == pytest.approx([2.0, 4.0])
    assert metric["measure.gpu.memory"] == [0.0, 0.0]
    assert metric["measure.clean"] == [True, False]
    assert (metric["statistics"]["unit"], metric["statistics"]["of"]) == ("ms", "latency")
    assert (metric["statistics"]["max"], metric["statistics"]["discarded"]) == (pytest.approx(2.0), 1)
    assert metric["memory_peak"] == {"unit": "MB", "value": 3.0, "source": "seen"}
    assert line["config"] == known.config


def test_the_continuous_modes_time_blocks_of_calls() -> None:
    metric = LineStyle(Settings(runs=2), discrete=False).line(IDS[0], "torch.add", {"forward": outcome()})["metric"][
        "forward"
    ]
    assert metric["measure.time"] == pytest.approx([1.0, 2.0])
    assert (metric["measure.gpu.memory"], metric["statistics"]["of"]) == ([], "time")


def test_the_memory_of_a_device_stands_beside_each_time() -> None:
    metric = LineStyle(Settings(), discrete=True).line(IDS[0], "torch.add", {"forward": outcome(device="cuda:0")})[
        "metric"
    ]
    assert metric["forward"]["measure.gpu.memory"] == [3.0, 3.0]


def test_what_was_not_measured_has_its_reason() -> None:
    failed = Outcome(outcome().trial, 0, "failed", reason=Reason("operator_error", "no"))
    line = LineStyle(Settings(), discrete=True).line(IDS[0], "torch.add", {"forward": outcome(), "backward": failed})
    assert (line["status"], line["metric"]["backward"]) == ("failed", {})
    assert line["reasons"]["backward"]["slug"] == "operator_error"


def test_a_line_is_whole_on_the_disk_as_soon_as_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    for append in (False, True):
        lines = Lines(path, append=append)
        lines.add({"a": 1})
        assert path.read_text().endswith('{"a": 1}\n')
        lines.close()
    assert path.read_text() == '{"a": 1}\n{"a": 1}\n'


def test_results_go_to_a_new_file_unless_they_are_appended(tmp_path: Path) -> None:
    prefix = str(tmp_path / "out")
    assert output_path(prefix, "7_8", append=False).name == "out_7_8.json"
    assert output_path(prefix, "7_8", append=True).name == "out_7_8.json"
    for age, name in enumerate(("out_1_2.json", "out_3_4.json", "out_3_4_trace.json", "out_x.json")):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (age, age))
    assert output_path(prefix, "7_8", append=True).name == "out_3_4.json"
    assert output_path(prefix, "7_8", append=False).name == "out_7_8.json"
    assert output_path(str(tmp_path / "own.json"), "7_8", append=True).name == "own.json"


def test_a_trace_has_an_event_for_each_sample(tmp_path: Path) -> None:
    write_trace(tmp_path / "trace.json", [("a|0|0|0", "forward", SAMPLES), ("a|0|0|0", "backward", SAMPLES)])
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    timed = [(one["ts"], one["dur"], one["cat"]) for one in events if one["ph"] == "X"]
    assert timed == [(0, 2e3, "forward"), (2e3, 4e3, "forward"), (6e3, 2e3, "backward"), (8e3, 4e3, "backward")]
    assert [one["args"]["name"] for one in events if one["ph"] == "M"] == ["opperf", "forward", "backward"]


def test_a_case_whose_forward_was_measured_is_not_skipped_because_it_has_no_backward() -> None:
    skipped = Outcome(
        Trial(Case("add"), Side("torch"), "backward"), 0, "skipped", reason=Reason("no_gradient", "it has none")
    )
    shown = LineStyle(Settings(runs=2), discrete=True)
    line = shown.line(IDS[0], "torch.add", {"forward": outcome(), "backward": skipped})
    assert line["status"] == "ok"
    assert line["reasons"]["backward"]["slug"] == "no_gradient"
    assert shown.line(IDS[0], "torch.add", {"backward": skipped})["status"] == "skipped"
