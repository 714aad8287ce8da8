"""`opperf run` on the user's own code, in real children with NumPy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest
from tests.processes.conftest import command_here

MINE = """
import numpy as np
import opperf

@opperf.operator(implements="softmax")
def fast(x):
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)

@opperf.operator(implements="softmax")
def wrong(x):
    return 1 / (1 + np.exp(-x))

@opperf.operator(sizes={"common": {"x": (64, 32)}}, flops=lambda x: x[0] * x[1], reference=lambda x: x + x)
def twice(x):
    return 2 * x
"""

pytestmark = pytest.mark.usefixtures("forked_children", "few_rounds")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the user's, with a file of operators in it."""
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """Measure with NumPy, forward."""
    common = ["--framework", "numpy", "--direction", "forward", "--runs", "3"]
    return command_here("run", *words, *common)


def records(*words: str) -> list[dict[str, Any]]:
    """Return the records of a run that ends well."""
    done = run(*words, "--format", "json")
    assert done.returncode == 0, done.stderr
    result: list[dict[str, Any]] = json.loads(done.stdout)["records"]
    return result


def test_mine_stands_beside_the_frameworks_own_under_one_case_and_is_checked_against_it() -> None:
    mine, theirs = records("mine:fast", "softmax", "--input", "x=64x128")
    assert mine["case"] == theirs["case"]
    assert mine["case"]["inputs"]["data"]["shape"] == [64, 128]
    assert mine["side"]["implementation"] == "code:mine:fast"
    assert mine["facts"]["checked"].startswith("timed calls against numpy:")
    assert theirs["facts"]["checked"].startswith("against NumPy ")
    assert [record["status"] for record in (mine, theirs)] == ["ok", "ok"]


def test_a_wrong_one_is_failed_and_not_timed() -> None:
    done = run("mine.py:wrong", "mine.py:fast", "--input", "x=8x8", "--format", "json")
    wrong, fast = json.loads(done.stdout)["records"]
    assert (wrong["status"], fast["status"]) == ("failed", "ok")
    assert wrong["reason"]["slug"] == "wrong_result"
    assert wrong["metrics"] == {}


def test_a_wrong_one_is_timed_when_nobody_wants_it_checked() -> None:
    (wrong,) = records("mine.py:wrong", "--input", "x=8x8", "--no-check")
    assert wrong["status"] == "ok"


def test_a_plugin_brings_its_operators_sizes_counts_and_references() -> None:
    (twice,) = records("twice", "--plugin", "mine.py")
    assert twice["case"]["operator"] == "mine.py:twice"
    assert twice["case"]["inputs"]["x"]["shape"] == [64, 32]
    assert twice["origin"] == "declared:common"
    assert twice["metrics"]["flops"] == {"unit": "FLOP", "value": 2048, "source": "declared"}
    assert twice["facts"]["checked"] == "timed calls against its reference"


def test_a_plugin_without_names_brings_all_it_declares() -> None:
    done = run("--plugin", "mine.py", "--format", "json")
    assert [record["side"]["implementation"] for record in json.loads(done.stdout)["records"]] == [
        "code:mine.py:fast", "code:mine.py:wrong", "code:mine.py:twice",
    ]  # fmt: skip


def test_an_installed_plugin_brings_operators_by_name(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = here / "installed"
    folder = installed / "mine-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[opperf.plugins]\nmine = mine_operators\ngone = gone_operators\n")
    (installed / "mine_operators.py").write_text(MINE)
    monkeypatch.setenv("PYTHONPATH", str(installed))
    listed = subprocess.run([sys.executable, "-m", "opperf", "operators", "tw*"], capture_output=True, text=True)
    assert [line.split()[:2] for line in listed.stdout.splitlines()[2:]] == [["twice", "plugin"]]
    assert listed.stderr.splitlines() == ["plugin `gone` is left out: there is no module `gone_operators`"]
    words = ("run", "twice", "--framework", "numpy", "--runs", "3", "--format", "json")
    done = subprocess.run([sys.executable, "-m", "opperf", *words], capture_output=True, text=True)
    twice = json.loads(done.stdout)["records"][0]
    assert twice["facts"]["checked"] == "timed calls against its reference"


@pytest.mark.parametrize(
    ("name", "told"),
    [("mine:nothing", "has no `nothing`"), ("nowhere:f", "ModuleNotFoundError"), ("mine.py:np", "expected a function")],
)
def test_code_that_is_not_there_is_one_message_and_exit_code_two(name: str, told: str) -> None:
    done = run(name, "--input", "x=3")
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_suite_has_cases_of_mine_when_i_name_the_function_again(here: Path) -> None:
    case = {"operator": "mine.py:twice", "inputs": {"x": {"shape": [4, 4]}}, "attributes": {}}
    suite = {"schema_version": 1, "name": "s", "source": "t", "cases": [{"case": case, "count": 1, "origin": "o"}]}
    (here / "suite.json").write_text(json.dumps(suite))
    done = run("--suite", "suite.json")
    assert done.returncode == 2
    assert "suite.json: cases[0]: `mine.py:twice` is code" in done.stderr
    (record,) = records("--suite", "suite.json", "--plugin", "mine.py")
    assert (record["status"], record["side"]["implementation"]) == ("ok", "code:mine.py:twice")
    assert record["facts"]["checked"] == "timed calls against its reference"


def test_a_result_of_mine_is_read_back_and_goes_on_where_i_name_the_function(here: Path) -> None:
    assert run("mine.py:twice", "--output", "result.json").returncode == 0
    (first,) = json.loads((here / "result.json").read_text())["records"]
    assert run("--resume", "result.json").returncode == 2
    assert run("mine.py:twice", "--resume", "result.json").returncode == 0
    (second,) = json.loads((here / "result.json").read_text())["records"]
    assert first["side"]["implementation"] == "code:mine.py:twice"
    assert (first["samples"], first["side"]) == (second["samples"], second["side"])


def test_what_is_expected_of_mine_is_judged_where_i_name_the_function(here: Path) -> None:
    def gate(*words: str) -> subprocess.CompletedProcess[str]:
        expected = ("--expected", "expected.json", "--threshold", "900%", "--processes", "3")
        return command_here("gate", *words, *expected)

    updated = gate("mine.py:twice", "--update-expected", "--framework", "numpy")
    assert updated.returncode == 0, updated.stderr
    refused = gate()
    assert refused.returncode == 2
    assert "`code:mine.py:twice` is code, and a file does not say which code is run" in refused.stderr
    for words in (["mine.py:twice", "--framework", "numpy"], ["--plugin", "mine.py"]):
        judged = gate(*words)
        assert judged.returncode in (0, 4), judged.stderr
        assert "twice" in judged.stdout


def test_an_operator_that_leaves_tracing_on_is_warned_of_and_slows_nobody_after_it(here: Path) -> None:
    (here / "traced.py").write_text(
        "import sys, threading\n"
        "def quiet(x): return x\n"
        "def leaves(x):\n    sys.settrace(lambda *_: None)\n    threading.setprofile(lambda *_: None)\n    return x\n"
        "def fails(x):\n    sys.setprofile(lambda *_: None)\n    raise ValueError('on purpose')\n"
        "def seen(x):\n"
        "    if sys.gettrace() or sys.getprofile() or threading.getprofile(): raise ValueError('still traced')\n"
        "    return x\n"
        "again = lambda x: seen(x)\n"
    )
    names = [f"traced.py:{name}" for name in ("quiet", "leaves", "seen", "fails", "again")]
    done = run(*names, "--input", "x=4", "--format", "json")
    told = {
        record["side"]["implementation"].rpartition(":")[2]: record for record in json.loads(done.stdout)["records"]
    }
    warned = {name: [one["slug"] for one in record["warnings"]] for name, record in told.items()}
    assert "traced" in warned["leaves"]
    assert "traced" not in warned["quiet"]
    assert told["fails"]["status"] == "failed"
    for name in ("seen", "again"):
        assert (told[name]["status"], "traced" in warned[name]) == ("ok", False)


def test_comparisons_and_floors_warn_of_an_operator_that_leaves_tracing_on(here: Path) -> None:
    (here / "traced.py").write_text(
        "import sys\ndef quiet(x): return x @ x\ndef leaves(x):\n    sys.settrace(lambda *_: None)\n    return x @ x\n"
    )
    said = "the operator leaves `sys.settrace` on"
    few = ["--pairs", "3", "--tolerance", "1000%"]  # within which both are the same, so that no pair confirms it
    sides = ["traced.py:quiet", "--new", "traced.py:leaves", *few]
    asked = ["--input", "x=64x64", "--format", "json"]
    for verb, words in (("compare", sides), ("gate", [*sides, "--inconclusive", "pass"])):
        done = command_here(verb, *words, *asked)
        assert done.returncode in (0, 1), done.stderr
        (comparison,) = json.loads(done.stdout)["comparisons"]
        (warning,) = (one for one in comparison["warnings"] if one["slug"] == "traced")
        assert warning["message"].startswith(f"new: {said}")
    words = ["traced.py:leaves", "--framework", "numpy", "--repeats", "1", "--pairs", "3"]
    done = command_here("noise", *words, *asked)
    assert f"warning: base: {said}" in done.stderr


def test_two_builds_are_compared_and_guarded_by_a_function_of_mine(here: Path) -> None:
    (here / "mine.py").write_text(
        "import numpy\nimport built\n\n"
        "def sorted_often(x):\n    for _ in range(built.TURNS):\n        y = numpy.sort(x)\n    return y\n"
    )
    sides = []
    for name, turns in (("before", 1), ("after", 40)):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", name], check=True)
        (packages,) = (here / name).glob("lib/python*/site-packages")
        (packages / "numpy.pth").write_text(f"{Path(numpy.__file__).parents[1]}\n")
        (packages / "built.py").write_text(f"TURNS = {turns}\n")
        sides.append(f"python={name}/bin/python;framework=numpy")
    words = ["mine.py:sorted_often", "--base", sides[0], "--new", sides[1], "--input", "x=200", "--pairs", "3"]
    for verb, code in (("compare", 0), ("gate", 1)):
        done = command_here(verb, *words, "--format", "json")
        assert done.returncode == code, done.stderr
        (comparison,) = json.loads(done.stdout)["comparisons"]
        assert comparison["verdict"] == "slower"
        assert comparison["ratio"] > 2
        assert [comparison[side]["environment"] for side in ("base", "new")] == [
            "python=before/bin/python",
            "python=after/bin/python",
        ]


def test_two_functions_of_mine_are_compared_however_i_name_them(here: Path) -> None:
    (here / "mine.py").write_text(f"{MINE}\ndef again(rows):\n    return fast(fast(rows))\n")
    for words in (
        ["mine.py:fast", "--new", "mine.py:again"],
        ["--base", "mine.py:fast", "--new", "mine.py:again"],
        ["--base", "numpy:code:mine.py:fast", "--new", "numpy:code:mine.py:again"],
        ["softmax", "--base", "mine.py:fast", "--new", "mine.py:again;framework=numpy"],
    ):
        few = ["--input", "x=64x64", "--pairs", "3", "--tolerance", "1000%"]
        done = command_here("compare", *words, *few, "--format", "json", "--no-check")
        assert done.returncode == 0, done.stderr
        (comparison,) = json.loads(done.stdout)["comparisons"]
        assert [comparison[side]["implementation"] for side in ("base", "new")] == [
            "code:mine.py:fast",
            "code:mine.py:again",
        ]
        assert comparison["case"]["operator"] == "softmax"
        assert comparison["base_time"] is not None


def test_functions_of_mine_that_return_different_things_are_told_apart(here: Path) -> None:
    (here / "mine.py").write_text(
        "import numpy\ndef narrow(x): return (x * 9).astype('uint32')\ndef wide(x): return (x * 9).astype('uint64')\n"
    )
    words = ["mine.py:wide", "--new", "mine.py:narrow", "--input", "x=64x64", "--pairs", "3", "--tolerance", "1000%"]
    done = command_here("compare", *words, "--format", "json")
    assert done.returncode == 0, done.stderr
    (comparison,) = json.loads(done.stdout)["comparisons"]
    said = {warning["slug"]: warning["message"] for warning in comparison["warnings"]}
    assert "uint64 64x64 on the base and uint32 64x64 on the new side" in said["different_results"]


def test_a_gate_guards_functions_of_mine_that_its_file_has_the_names_of(here: Path) -> None:
    (here / "opperf.toml").write_text(
        'operators = "twice"\nbase = "numpy"\nnew = "numpy;threads=1"\npairs = 3\ninputs = {x = [32, 32]}\n'
        'inconclusive = "pass"\ntolerance = "80%"\n'
    )
    refused = command_here("gate")
    assert refused.returncode == 2
    assert "opperf.toml: `operators`: no operator `twice`" in refused.stderr
    done = command_here("gate", "--plugin", "mine.py", "--format", "json")
    assert done.returncode == 0, done.stderr
    (comparison,) = json.loads(done.stdout)["comparisons"]
    assert comparison["base"]["implementation"] == comparison["new"]["implementation"] == "code:mine.py:twice"
    assert comparison["case"]["inputs"]["x"]["shape"] == [32, 32]
