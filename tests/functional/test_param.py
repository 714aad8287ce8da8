"""PARAM's configs: `opperf run --config`, `opperf config`, and PARAM's own command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from opperf.compat.param.__main__ import main
from opperf.parent.workers import canaries
from opperf.parent.workers.canaries import Turn
from opperf.parent.workers.topology import leases, usable_cores

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
    assert [" ".join(line.split()) for line in done.out.splitlines()[2:]] == [
        f"softmax {direction} null (current, cpu, eager) data=4x4:range=0..1 axis=-1"
        for direction in ("forward", "backward")
    ]


def test_a_neutral_operator_may_stay_on_one_framework(opperf: Opperf, here: Path) -> None:
    """Its binding is called, as for the same name on the command line; where others are named too, that is told."""
    config = {"numpy:add": {**GENERATOR, "config": [{"input": [{"args": [TENSOR, TENSOR]}]}]}}
    (here / "numpy.json").write_text(json.dumps(config), encoding="utf-8-sig")
    words = ("run", "--config", "numpy.json", "--framework", "null", "--direction", "forward")
    done = opperf(*words, "--runs", "3", "--format", "json")
    assert done.code == 0, done.err
    (record,) = done.records
    assert (record["case"]["operator"], record["status"], record["origin"]) == ("add", "ok", "config:numpy:add|0|0|0")
    assert record["facts"]["implementation"] == "numpy:numpy.add"
    assert "`--framework null` is unused: no selected operator runs on it" in done.err


OWN = """
from opperf.child.backends.null.runtime import NullTensor
from opperf.compat.param import ConfigIterator, DataGenerator, register_config_iterator, register_data_generator
from opperf.domain.tensor import TensorSpec

class Sizes(ConfigIterator):
    def __init__(self, configs, key, device):
        super().__init__(configs, key, device)
        self.sizes = list(configs[key][0]["sizes"])

    def __next__(self):
        if not self.sizes:
            raise StopIteration
        size = self.sizes.pop(0)
        return size, {"args": [{"type": "tensor", "dtype": "float", "shape": [size]}]}

class Rows(DataGenerator):
    def get_data(self, config, device):
        return [NullTensor(TensorSpec((config["rows"], 2), "int64")), 3], {}

register_config_iterator("Sizes", Sizes)
register_data_generator("Rows", Rows)
"""


@pytest.fixture
def own(here: Path) -> Path:
    """A config that leaves entries to an iterator of the user's, and data to a generator; `own.py` has both."""
    (here / "own.py").write_text(OWN)
    swept = {**GENERATOR, "input_iterator": "Sizes", "config": [{"input": [{"sizes": [4, 8]}]}]}
    made = {"input_data_generator": "Rows", "config": [{"input": [{"rows": 3}, {"rows": 5, "id": "five"}]}]}
    path = here / "own.json"
    path.write_text(json.dumps({"null:steady": swept, "null:noisy": made}))
    return path


def test_a_plugin_brings_iterators_and_data_generators(opperf: Opperf, own: Path) -> None:
    checked = opperf("config", "check", own, "--plugin", "own.py")
    assert (checked.code, checked.out) == (0, f"{own}: 2 operators, 4 cases\n"), checked.err
    done = opperf("run", "--config", own, "--plugin", "own", "--runs", "3", "--format", "json")
    assert done.code == 0, done.err
    told = {record["origin"]: record["case"]["inputs"]["0"]["shape"] for record in done.records}
    assert told == {
        "config:null:steady|0|0|4": [4],
        "config:null:steady|0|0|8": [8],
        "config:null:noisy|0|0|0": [3, 2],
        "config:null:noisy|0|0|five": [5, 2],
    }
    assert {record["status"] for record in done.records} == {"ok"}
    made = [record["case"]["attributes"]["made.by"] for record in done.records if "noisy" in record["origin"]]
    assert made == ["Rows", "Rows"]


FUNCTIONS = """
import opperf

@opperf.operator()
def mixed(left, right, share):
    return left * share + right

@opperf.operator(implements="add")
def summed(x, y):
    return x + y
"""


def test_a_config_names_operators_of_a_plugin(opperf: Opperf, here: Path) -> None:
    (here / "functions.py").write_text(FUNCTIONS)
    half = {"type": "float", "value": 0.5}
    inputs = {"mixed": {"args": [TENSOR, TENSOR], "kwargs": {"share": half}}, "summed": {"args": [TENSOR, TENSOR]}}
    config = {name: {**GENERATOR, "config": [{"input": [one]}]} for name, one in inputs.items()}
    (here / "own.json").write_text(json.dumps(config))
    words = ("--config", "own.json", "--framework", "numpy", "--plugin", "functions.py", "--direction", "forward")
    done = opperf("run", *words, "--runs", "3", "--format", "json")
    assert done.code == 0, done.err
    assert [record["status"] for record in done.records] == ["ok", "ok"]
    mixed, summed = done.records
    assert (mixed["case"]["operator"], set(mixed["case"]["inputs"])) == ("functions.py:mixed", {"left", "right"})
    assert mixed["case"]["attributes"] == {"share": 0.5}
    assert (summed["case"]["operator"], set(summed["case"]["inputs"])) == ("add", {"lhs", "rhs"})
    assert [record["side"]["implementation"] for record in done.records] == [
        "code:functions.py:mixed", "code:functions.py:summed",
    ]  # fmt: skip
    assert [record["origin"] for record in done.records] == ["config:mixed|0|0|0", "config:summed|0|0|0"]


def test_an_operator_of_a_plugin_is_called_with_what_it_takes(opperf: Opperf, here: Path) -> None:
    (here / "functions.py").write_text(FUNCTIONS)
    config = {"mixed": {**GENERATOR, "config": [{"input": [{"args": [TENSOR] * 4}]}]}}
    (here / "own.json").write_text(json.dumps(config))
    done = opperf("run", "--config", "own.json", "--framework", "null", "--plugin", "functions.py")
    assert (done.code, done.out) == (2, "")
    assert "found 4 arguments, and `mixed` takes 3 by position" in done.err


def test_without_the_plugin_its_names_are_unknown(opperf: Opperf, own: Path) -> None:
    checked = opperf("config", "check", own)
    assert checked.code == 2
    assert "no input iterator `Sizes`" in checked.err
    assert "no input data generator `Rows`" in checked.err


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("self.sizes.pop(0)", "1 / 0"), "`Sizes` raised ZeroDivisionError: division by zero"),
        (('"shape": [size]', '"shape": size'), "step 0 of `Sizes`.args[0].shape: found 4, expected a list"),
        (('[NullTensor(TensorSpec((config["rows"], 2), "int64")), 3]', "[object()]"), "a value of type `object`"),
        (("import TensorSpec", "import Tensor"), "cannot load `own.py`: ImportError"),
    ],
)
def test_what_a_plugin_makes_wrong_is_told_before_anything_runs(
    change: tuple[str, str], told: str, opperf: Opperf, own: Path, here: Path
) -> None:
    assert change[0] in OWN
    (here / "own.py").write_text(OWN.replace(*change))
    for words in (("config", "check", own), ("run", "--config", own)):
        done = opperf(*words, "--plugin", "own.py")
        assert (done.code, done.out) == (2, "")
        assert told in done.err
        assert "Traceback" not in done.err


def test_a_file_names_no_data_generator_that_the_command_does_not(opperf: Opperf, own: Path, here: Path) -> None:
    attributes = {"made.by": "Rows", "made.of": json.dumps({"entry": {"rows": 3}, "names": ["0"]})}
    case = {"operator": "null:steady", "inputs": {"0": {"shape": [3, 2]}}, "attributes": attributes}
    suite = {"schema_version": 1, "name": "s", "source": "t", "cases": [{"case": case, "count": 1, "origin": "o"}]}
    (here / "suite.json").write_text(json.dumps(suite))
    words = ("run", "--suite", "suite.json", "--framework", "null", "--direction", "forward", "--format", "json")
    (record,) = opperf(*words).records
    assert (record["status"], record["reason"]["message"]) == ("failed", "no data generator `Rows`")
    (record,) = opperf(*words, "--plugin", "own.py").records
    assert record["status"] == "ok"


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


@pytest.mark.skipif(len(leases(usable_cores(), 1)) < 2, reason="two physical cores are needed")
def test_two_jobs_write_the_lines_of_one_in_order_and_say_on_which_cpus(
    param: Any, config: Path, monkeypatch: pytest.MonkeyPatch, here: Path
) -> None:
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(here / "cache"))
    # On a busy machine everything would run alone.
    monkeypatch.setattr(canaries, "_turn", lambda canaries, seconds: Turn(0.01, 1.0))
    assert param("-c", config, "-i", 3, "-o", "two.json", "--jobs", 2)[0] == 0
    measured = [line for line in _lines(Path("two.json")) if "run_id" in line]
    assert [line["run_id"] for line in measured] == [
        *(f"null:steady|0|0|{place}" for place in range(3)),
        "null:raise|0|0|0",
    ]
    assert all(line["metric"]["forward"]["facts"]["jobs"]["cpus"] for line in measured[:3])


def test_a_number_of_jobs_that_is_none_is_refused(param: Any, config: Path) -> None:
    code, _, talk = param("-c", config, "--jobs", "many")
    assert code == 2
    assert "`--jobs` is `many`, expected `auto` or a whole number >= 1" in talk


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


@pytest.mark.parametrize("words", [["-i", "0"], ["-w", "0", "-i", "0"]])
def test_without_iterations_a_config_is_expanded_and_nothing_is_measured(
    words: list[str], param: Any, config: Path, here: Path
) -> None:
    code, out, err = param("-c", config, "-o", "one.json", *words)
    assert code == 0, err
    assert out.split() == ["null:steady|0|0|0", "null:steady|0|0|1", "null:steady|0|0|2", "null:raise|0|0|0"]
    lines = [line for line in _lines(here / "one.json") if "run_id" in line]
    assert [(line["status"], line["metric"]) for line in lines] == [("not_run", {})] * 4
    assert lines[1]["config"]["input"]["args"][0]["shape"] == [8]


def test_names_that_nobody_knows_are_passed_over_as_param_does(param: Any, opperf: Opperf, here: Path) -> None:
    document = _config(null_steady=[{"args": [TENSOR]}], null_nothing=[{"args": [TENSOR]}])
    document["null:steady"] |= {"build_iterator": "Mine", "colour": "red"}
    document["no such operator"] = document["null:nothing"]
    document["null:raise"] = {"input_data_generator": "Mine", "config": [{"input": [{"args": [TENSOR]}]}]}
    path = here / "strange.json"
    path.write_text(json.dumps(document))
    code, out, err = param("-c", path, "-o", "one.json")
    assert code == 0, err
    assert out == "null:steady|0|0|0  forward  100 us\n"
    for told in ("no key `colour`", "no build iterator `Mine`", "no operator `no such operator`", "`null:nothing`"):
        assert told in err
    assert "no input data generator `Mine`" in err
    # The strict reading stays that of opperf itself.
    done = opperf("run", "--config", path)
    assert done.code == 2
    assert "4 mistakes" in done.err


@pytest.mark.parametrize(
    ("document", "words", "told"),
    [
        ({}, [], "the config has no operator to run"),
        ({"no such operator": GENERATOR}, ["-r", "x|0|0|0"], "the config has no operator to run"),
        ({"null:steady": {"config": [{"input": [{"args": [TENSOR]}]}]}}, [], "no `input_data_generator`"),
        ({"null:steady": GENERATOR}, ["-b"], ".config: found null"),
        (_config(null_steady=[{"args": [TENSOR]}]), ["-s", "null:steady|0|0|0"], "the stop id is excluded"),
        (_config(null_nothing=[{"args": [TENSOR]}]), [], "no operator `null:nothing`; skipped"),
    ],
)
def test_nothing_to_run_is_a_file_without_cases_as_param_has_it(
    document: Any, words: list[str], told: str, param: Any, here: Path
) -> None:
    (here / "config.json").write_text(json.dumps(document))
    code, out, err = param("-c", "config.json", "-o", "one.json", *words)
    assert (code, out) == (0, ""), err
    assert told in err
    assert "error" not in err
    head, finish = _lines(here / "one.json")
    assert ("run_options" in head, "finish_time" in finish) == (True, True)


def test_an_operator_that_is_written_wrongly_does_not_stop_the_others(param: Any, here: Path) -> None:
    document = _config(null_steady=[{"args": [TENSOR]}], null_raise=[{"args": [{"type": "tensr"}]}])
    (here / "config.json").write_text(json.dumps(document))
    code, out, err = param("-c", "config.json", "-o", "one.json")
    assert (code, out) == (0, "null:steady|0|0|0  forward  100 us\n"), err
    assert 'note: $["null:raise"].config[0].input[0].args[0].type: no type `tensr`' in err
    (line,) = (line for line in _lines(here / "one.json") if "run_id" in line)
    assert line["config"] == {"build": None, "input": {"args": [TENSOR]}}


def test_an_execution_trace_is_recorded_of_one_call_of_each_case(param: Any, config: Path, here: Path) -> None:
    code, _, err = param("-c", config, "-o", "one.json", "--et", "-s", "null:raise|0|0|0")
    assert code == 0, err
    (line,) = (line for line in _lines(here / "one.json") if "et_file" in line)
    assert Path(line["et_file"]) == here / "one_et.json"  # as PARAM calls it
    labels = [f"[param|null:steady|0|0|{place}|measure|forward]" for place in (0, 1)]
    assert json.loads(Path(line["et_file"]).read_text()) == labels  # the third case is the first again
    assert (line["start_run_id"], line["end_run_id"]) == ("null:steady|0|0|0", "null:steady|0|0|1")
