"""`opperf gate` on the null framework: each exit code, what it reads, and that it stops in order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.functional.gate.conftest import SAME, SLOWER, Opperf, interrupted_at, kinds
from typer.main import get_command

from opperf.parent.cli.main import app
from opperf.parent.workers.duel import Duel
from opperf.parent.workers.process import Worker

CONFIG = 'operators = ["null:steady"]\nbase = "null"\nnew = "null;slowdown=1.1"\npairs = 3\n'


@pytest.fixture
def no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make starting a child an error."""

    def refuse(*given: object, **options: object) -> None:
        raise AssertionError("a child was started")

    monkeypatch.setattr(Worker, "__init__", refuse)


# Exit codes ----------------------------------------------------------------------------------------------------------


def test_identical_sides_pass(opperf: Opperf) -> None:
    done = opperf(*SAME)
    assert done.code == 0
    assert done.out.splitlines()[-1] == "gate: no regression in 1 comparison: 1 same"


def test_a_slower_side_is_a_regression(opperf: Opperf) -> None:
    done = opperf(*SLOWER, "--format", "json")
    assert done.code == 1
    document = json.loads(done.out)
    assert set(document) == {"schema_version", "run", "comparisons", "gate"}
    assert document["gate"]["exit_code"] == 1
    assert document["gate"]["counts"]["slower"] == 1
    assert done.err.splitlines()[-1] == "gate: 1 regression in 1 comparison: 1 slower"


def test_a_slower_side_within_the_tolerance_passes(opperf: Opperf) -> None:
    assert opperf(*SLOWER[:-2], "--tolerance", "12%").code == 0


def test_operators_are_held_against_tolerances_of_their_own(opperf: Opperf, here: Path) -> None:
    text = CONFIG.replace('["null:steady"]', '["null:steady", "add"]').replace("pairs = 3", "pairs = 5")
    (here / "opperf.toml").write_text(text + '[tolerance]\n"null:st*" = "15%"\n"nul:l*" = "15%"\n')
    done = opperf("gate", "--direction", "forward", "--input", "lhs=4x4", "--input", "rhs=4x4", "--format", "json")
    assert (done.code, kinds(done)) == (1, ["same", "slower"])
    document = json.loads(done.out)
    assert (document["gate"]["tolerance"], document["gate"]["tolerances"]["null:st*"]) == (0.02, 0.15)
    assert "the tolerance of `nul:l*` applies to none of the operators that are compared" in done.err
    assert "`null:st*`" not in done.err


def test_a_faster_side_passes(opperf: Opperf) -> None:
    done = opperf("gate", "null:steady", "--base", "null", "--new", "null;slowdown=0.9", "--format", "json")
    assert (done.code, kinds(done)) == (0, ["faster"])


def test_more_memory_is_a_regression_although_nothing_is_slower(opperf: Opperf, here: Path) -> None:
    (here / "opperf.toml").write_text('operators = ["add"]\ndirections = ["forward"]\n')
    done = opperf("gate", "--base", "null", "--new", "null;dtype=float64;slowdown=0.4", "--format", "json")
    assert (done.code, kinds(done)) == (1, ["memory"])
    assert "peak memory grew from 4.19 MB to 8.39 MB (+100.0%)" in done.out


def test_a_side_that_cannot_be_measured_is_a_failure(opperf: Opperf) -> None:
    done = opperf("gate", "null:steady", "--base", "null:steady", "--new", "null:raise", "--format", "json")
    assert (done.code, kinds(done)) == (3, ["failed"])
    assert json.loads(done.out)["comparisons"][0]["status"] == "failed"
    assert "this operator always raises" in done.out


def test_a_regression_counts_more_than_a_failure(opperf: Opperf) -> None:
    done = opperf(*SLOWER[:2], "null:raise", *SLOWER[2:], "--format", "json")
    assert (done.code, kinds(done)) == (1, ["slower", "failed"])


def test_what_no_side_can_do_is_listed_and_a_gate_of_nothing_else_does_not_pass(opperf: Opperf, here: Path) -> None:
    (here / "opperf.toml").write_text('operators = ["add"]\nsizes = "small"\ndirections = ["backward"]\n')
    done = opperf("gate", "--base", "numpy", "--new", "numpy", "--format", "json")
    assert (done.code, kinds(done)) == (3, ["skipped"])


def test_what_only_the_new_side_cannot_do_has_failed(opperf: Opperf, here: Path) -> None:
    (here / "opperf.toml").write_text('operators = ["add"]\nsizes = "small"\ndirections = ["backward"]\n')
    done = opperf("gate", "--base", "null", "--new", "numpy", "--format", "json")
    assert (done.code, kinds(done)) == (3, ["failed"])


def test_an_inconclusive_comparison_has_a_code_of_its_own(opperf: Opperf) -> None:
    done = opperf(*SAME, "--budget", "0.001", "--format", "json")
    assert (done.code, kinds(done)) == (4, ["inconclusive"])


def test_inconclusive_comparisons_can_pass_and_are_counted(opperf: Opperf) -> None:
    done = opperf(*SAME, "--budget", "0.001", "--inconclusive", "pass")
    assert done.code == 0
    assert done.err.splitlines()[-1] == "1 inconclusive, which `inconclusive = pass` allows"


@pytest.mark.usefixtures("no_child")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*SAME, "--max-pairs", "20"), "`--max-pairs` needs `--settle`"),
        ((*SAME, "--settle", "--max-pairs", "4"), "fewer than the 5 pairs of the first look"),
        ((*SAME, "--settle", "--max-pairs", "2"), "`--max-pairs`: found 2, expected a whole number >= 3"),
        (("gate", "--expected", "e.json", "--max-pairs", "9"), "`--max-pairs` does not apply to expectations"),
        (("gate",), "a gate needs a base and a new side, or expectations"),
        (("gate", "add", "--base", "null"), "a gate needs a base and a new side"),
        (("gate", "--base", "null", "--new", "null"), "nothing to compare"),
        (("gate", "ad", "--base", "null", "--new", "null"), "no operator `ad`"),
        ((*SAME, "--tolerance", "2"), "`--tolerance` is `2`, expected a percentage"),
        ((*SAME, "--pairs", "2"), "`--pairs`: found 2, expected a whole number >= 3"),
        ((*SAME, "--inconclusive", "maybe"), "`--inconclusive`: found 'maybe', expected `pass` or `fail`"),
        ((*SAME, "--new", "nul"), "no environment `nul`"),
        ((*SAME, "--config", "none.toml"), "cannot read `none.toml`"),
        ((*SAME, "--markdown", "nowhere/a.md"), "cannot write `nowhere/a.md`"),
        ((*SAME, "--junit", "."), "cannot write `.`"),
        ((*SAME, "--format", "xml"), "no format `xml`"),
        ((*SAME, "--expected", "e.json"), "`--base` and `--new` compare live"),
        ((*SAME, "--threshold", "5%"), "`--threshold` does not apply to a live comparison"),
        (("gate", "--expected", "e.json", "--tolerance", "5%"), "`--tolerance` does not apply to expectations"),
        (("gate", "--expected", "none.json"), "cannot read `none.json`"),
        (("gate", "--update-expected"), "no file of expectations given"),
        (("gate", "--update-expected", "--expected", "e.json"), "nothing to measure"),
        (("gate", "--update-expected", "--expected", "e.json", "--junit", "a.xml"), "compares nothing"),
        (("gate", "add", "--expected", "e.json", "--update-expected", "--processes", "2"), "`--processes`: found 2"),
    ],
)
def test_bad_usage_ends_with_two_before_anything_runs(words: tuple[str, ...], message: str, opperf: Opperf) -> None:
    done = opperf(*words)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert "Traceback" not in done.err


@pytest.mark.usefixtures("no_child")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tolerence = 1", "error: opperf.toml: no key `tolerence`\n\nhint: did you mean `tolerance`?"),
        ('base = "nul"\nnew = "null"', "error: opperf.toml: `base`: no environment `nul`"),
        ('base = "null"\nnew = ["null;threads=0"]', "error: opperf.toml: `new`: `threads=0`"),
        ('suite = "none.json"\nbase = "null"\nnew = "null"', "error: cannot read `none.json`"),
        ("base =", "error: opperf.toml: not TOML"),
        ('cpus = "all"', "error: opperf.toml: `cpus`: "),
    ],
)
def test_a_bad_file_ends_with_two_before_anything_runs(text: str, message: str, opperf: Opperf, here: Path) -> None:
    (here / "opperf.toml").write_text(text)
    done = opperf("gate")
    assert (done.code, done.out) == (2, "")
    assert message in done.err


# Gate files ----------------------------------------------------------------------------------------------------------


def test_the_file_of_the_folder_is_found_and_its_own_name_comes_first(opperf: Opperf, here: Path) -> None:
    (here / "pyproject.toml").write_text(f"[tool.opperf]\n{CONFIG}".replace("steady", "raise"))
    assert opperf("gate").code == 3
    (here / "opperf.toml").write_text(CONFIG.replace("1.1", "1.0"))
    assert opperf("gate").code == 0
    assert opperf("gate", "--config", "pyproject.toml").code == 3


def test_paths_in_a_file_are_relative_to_it(opperf: Opperf, here: Path) -> None:
    (here / "ci").mkdir()
    suite = {"schema_version": 1, "cases": [{"case": {"operator": "null:steady"}}]}
    (here / "ci" / "cases.json").write_text(json.dumps(suite))
    (here / "ci" / "mine.toml").write_text('suite = "cases.json"\nbase = "null"\nnew = "null"\n')
    done = opperf("gate", "--config", "ci/mine.toml", "--format", "json")
    assert (done.code, kinds(done)) == (0, ["same"])


def test_a_gate_goes_on_where_its_file_says_so(opperf: Opperf, here: Path) -> None:
    (here / "opperf.toml").write_text('operators = "null:steady"\nsettle = true\nmax_pairs = 20\n')
    assert opperf("gate", *SAME[2:]).code == 0
    done = opperf("gate", *SAME[2:], "--no-settle")
    assert (done.code, "add `--settle`" in done.err) == (2, True)


def test_options_override_the_file(opperf: Opperf, here: Path) -> None:
    (here / "opperf.toml").write_text(CONFIG)
    done = opperf("gate", "add", "--new", "null", "--format", "json")
    assert (done.code, kinds(done)) == (0, ["same"])


def test_the_example_holds_between_identical_sides(opperf: Opperf) -> None:
    example = Path(__file__).resolve().parents[3] / "examples" / "ci" / "opperf.toml"
    done = opperf("gate", "--config", example, "--base", "null", "--new", "null", "--format", "json")
    assert (done.code, kinds(done)) == (0, ["same"] * 4)


def test_a_gate_takes_every_option_of_a_comparison() -> None:
    verbs: Any = get_command(app)
    taken = {
        name: {word for option in verbs.commands[name].params for word in (*option.opts, *option.secondary_opts)}
        for name in ("compare", "gate")
    }
    # A gate keeps what each pair said: a finding rests on it. Two suites, and groups, are for looking at.
    assert taken["compare"] - {"--no-samples", "--with", "--by"} <= taken["gate"]


@pytest.mark.slow
def test_a_gate_measures_shapes_of_a_file_in_place_of_the_inputs_of_its_own(opperf: Opperf, here: Path) -> None:
    (here / "opperf.toml").write_text('operators = ["add"]\ninputs = [{ lhs = "2x2", rhs = "2x2" }]\n')
    (here / "shapes.csv").write_text("lhs,rhs\n4x4,4x4\n8x8,8x8\n")
    words = ("--base", "null", "--new", "null", "--direction", "forward", "--format", "json")
    comparisons = json.loads(opperf("gate", *words, "--shapes", "shapes.csv").out)["comparisons"]
    assert [one["case"]["inputs"]["lhs"]["shape"] for one in comparisons] == [[4, 4], [8, 8]]


@pytest.mark.slow
def test_a_gate_times_a_wrong_operator_of_mine_only_with_no_check(opperf: Opperf, here: Path) -> None:
    (here / "mine.py").write_text(
        "import opperf\n@opperf.operator(implements='softmax', framework='numpy')\ndef wrong(x): return x\n"
    )
    words = [*("gate", "softmax", "--base", "mine.py:wrong", "--new", "mine.py:wrong", "--input", "data=8x8")]
    words += ["--pairs", "3", "--direction", "forward", "--format", "json"]
    assert kinds(opperf(*words)) != ["same"]
    done = opperf(*words, "--no-check", "--inconclusive", "pass", "--tolerance", "90%")
    assert json.loads(done.out)["comparisons"][0]["base_time"] is not None


@pytest.mark.slow
@pytest.mark.parametrize("place", ["command", "file"])
def test_what_a_plugin_of_the_command_declares_is_a_side_by_its_name(place: str, opperf: Opperf, here: Path) -> None:
    (here / "mine.py").write_text(
        "import opperf\n@opperf.operator(implements='exp', framework='numpy')\ndef mine(x):\n    return x\n"
    )
    (here / "opperf.toml").write_text('operators = ["exp"]\nbase = "numpy"\nnew = "mine"\ndirections = ["forward"]\n')
    words = ("--new", "mine") if place == "command" else ()
    done = opperf("gate", "--plugin", "mine.py", *words, "--format", "json")
    (comparison,) = json.loads(done.out)["comparisons"]
    assert comparison["new"]["implementation"] == "code:mine.py:mine"
    assert "by numpy:numpy.exp (within" in done.out  # it was run, and computes something else
    without = opperf("gate", *words)
    assert (without.code, without.out) == (2, "")
    assert "no environment `mine`" in without.err


def test_ctrl_c_keeps_what_is_decided(opperf: Opperf, monkeypatch: pytest.MonkeyPatch) -> None:
    # Four pairs of each new side, too few for one stage to decide alone, then a second stage of the slower one.
    monkeypatch.setattr(Duel, "compare", interrupted_at(10, Duel.compare))
    done = opperf(*SAME, "--new", "null;slowdown=1.1", "--pairs", "4", "--format", "json")
    assert (done.code, kinds(done)) == (130, ["same", "inconclusive"])
    assert "Ctrl-C ended the comparison" in done.out


def test_a_gate_on_counts_fails_for_more_work_and_not_for_more_time(opperf: Opperf, tmp_path: Path) -> None:
    file = tmp_path / "opperf.toml"
    file.write_text('base = "null"\nclock = "instructions"\npairs = 3\n')
    more_work = opperf("gate", "null:steady", "--config", str(file), "--new", "null;work=1.01")
    assert more_work.code == 1
    assert "more work, same time: 1.010 times the base's instructions" in more_work.out
    assert opperf("gate", "null:steady", "--config", str(file), "--new", "null;slowdown=1.1").code == 0
    wall = ("--clock", "wall", "--pairs", "5", "--new", "null;slowdown=1.1")
    assert opperf("gate", "null:steady", "--config", str(file), *wall).code == 1
