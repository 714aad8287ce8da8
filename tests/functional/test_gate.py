"""`opperf gate` on the null framework: each exit code, what it reads, and what it writes."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree import ElementTree

import pytest
from tests.functional.conftest import FEW
from typer.main import get_command

from opperf.parent.cli.main import app
from opperf.parent.workers.duel import Duel
from opperf.parent.workers.pool import Pool
from opperf.parent.workers.process import Worker

Opperf: TypeAlias = Callable[..., Any]

SAME = ("gate", "null:steady", "--base", "null", "--new", "null")
SLOWER = ("gate", "null:steady", "--base", "null", "--new", "null;slowdown=1.10")
CONFIG = 'operators = ["null:steady"]\nbase = "null"\nnew = "null;slowdown=1.1"\npairs = 3\n'


@pytest.fixture
def opperf(opperf: Opperf) -> Opperf:
    """Run a command; where it compares sides that it names, with the fewest pairs unless told."""

    def run(*words: Any) -> Any:
        few = FEW if words[0] == "gate" and "--base" in words and not {"--pairs", "--settle"} & {*words} else ()
        return opperf(*words, *few)

    return run


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests may run in GitHub Actions themselves."""
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make starting a child an error."""

    def refuse(*given: object, **options: object) -> None:
        raise AssertionError("a child was started")

    monkeypatch.setattr(Worker, "__init__", refuse)


def kinds(done: Any) -> list[str]:
    """Return the kinds of the findings of a JSON document."""
    return [finding["kind"] for finding in json.loads(done.out)["gate"]["findings"]]


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
    assert opperf(*SLOWER, "--tolerance", "12%").code == 0


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
        ((*SAME, "--tolerance", "2"), "`--tolerance`: the value is `2`"),
        ((*SAME, "--pairs", "2"), "`--pairs`: found 2, expected a whole number >= 3"),
        ((*SAME, "--inconclusive", "maybe"), "`--inconclusive`: found 'maybe', expected `fail` or `pass`"),
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
    (here / "pyproject.toml").write_text(f"[tool.opperf]\n{CONFIG}")
    assert opperf("gate").code == 1
    (here / "opperf.toml").write_text(CONFIG.replace("1.1", "1.0"))
    assert opperf("gate").code == 0
    assert opperf("gate", "--config", "pyproject.toml").code == 1


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
    example = Path(__file__).resolve().parents[2] / "examples" / "ci" / "opperf.toml"
    done = opperf("gate", "--config", example, "--base", "null", "--new", "null", "--format", "json")
    assert (done.code, kinds(done)) == (0, ["same"] * 4)


# What is written -----------------------------------------------------------------------------------------------------


def test_markdown_and_junit_are_written_beside_the_report(opperf: Opperf, here: Path) -> None:
    done = opperf(*SLOWER, "--output", "gate.json", "--markdown", "pr.md", "--junit", "junit.xml")
    assert done.code == 1
    assert json.loads((here / "gate.json").read_text())["gate"]["exit_code"] == 1
    markdown = (here / "pr.md").read_text()
    assert markdown.startswith("### opperf gate: 1 regression in 1 comparison: 1 slower\n")
    assert "opperf compare null:steady --base null:steady --new 'null:steady;slowdown=1.10'" in markdown
    suite = ElementTree.parse(here / "junit.xml").getroot().find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--markdown", "--junit"])
def test_a_gate_that_runs_again_writes_over_its_own_reports_and_nothing_else(
    opperf: Opperf, here: Path, option: str
) -> None:
    report = here / "report"
    report.touch()
    assert opperf(*SAME, option, "report").code == 0
    first = report.read_text()
    assert opperf(*SLOWER, option, "report").code == 1
    assert report.read_text() not in ("", first)
    report.write_text("notes of mine\n")
    refused = opperf(*SAME, option, "report")
    assert refused.code == 2
    assert "`report` exists, and is not a report of opperf" in refused.err
    assert "`--force`" in refused.err
    assert report.read_text() == "notes of mine\n"
    assert opperf(*SAME, option, "report", "--force").code == 0


def test_a_gate_takes_every_option_of_a_comparison() -> None:
    verbs: Any = get_command(app)
    taken = {
        name: {word for option in verbs.commands[name].params for word in (*option.opts, *option.secondary_opts)}
        for name in ("compare", "gate")
    }
    assert taken["compare"] <= taken["gate"]


@pytest.mark.slow
def test_a_gate_measures_shapes_of_a_file_in_place_of_the_inputs_of_its_own(opperf: Opperf, here: Path) -> None:
    (here / "opperf.toml").write_text('operators = ["add"]\ninputs = [{ lhs = "2x2", rhs = "2x2" }]\n')
    (here / "shapes.csv").write_text("lhs,rhs\n4x4,4x4\n8x8,8x8\n")
    words = ("--base", "null", "--new", "null", "--direction", "forward", "--format", "json")
    comparisons = json.loads(opperf("gate", *words, "--shapes", "shapes.csv").out)["comparisons"]
    assert [one["case"]["inputs"]["lhs"]["shape"] for one in comparisons] == [[4, 4], [8, 8]]


@pytest.mark.slow
def test_a_gate_shows_what_ran_where_it_is_asked(opperf: Opperf, here: Path) -> None:
    done = opperf(*SLOWER, "--explain", "--markdown", "pr.md", "--format", "json")
    assert json.loads(done.out)["comparisons"][0]["explanation"]
    assert "<summary>What ran</summary>" in (here / "pr.md").read_text()
    assert "What ran" not in pull_request_without_explanation(opperf, here)


def pull_request_without_explanation(opperf: Opperf, here: Path) -> str:
    """Return the Markdown of the same gate where nobody asks what ran."""
    opperf(*SLOWER, "--markdown", "plain.md")
    return (here / "plain.md").read_text()


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
def test_the_command_that_markdown_gives_finds_the_regression_again(opperf: Opperf, here: Path) -> None:
    opperf(*SLOWER, "--markdown", "pr.md")
    (line,) = [line for line in (here / "pr.md").read_text().splitlines() if line.startswith("opperf compare ")]
    words = line.replace("'", "").split()
    assert "slower" in opperf(*words[1:]).out


def test_in_github_actions_there_are_annotations_and_a_step_summary(
    opperf: Opperf, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here / "summary.md"))
    (here / "summary.md").write_text("before\n")
    done = opperf(*SLOWER, "--format", "csv")
    assert done.code == 1
    assert done.out.startswith("case_id,")
    assert "::" not in done.out.partition("\n")[0]
    assert "\n::error title=opperf%3A null%3Asteady forward::null:steady forward (" in done.err
    assert (here / "summary.md").read_text().startswith("before\n### opperf gate: 1 regression")


def test_annotations_can_be_asked_for_and_declined(opperf: Opperf, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "::notice title=opperf gate::no regression" in opperf(*SAME, "--github").err
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert "::notice" not in opperf(*SAME, "--no-github").err


def test_a_summary_that_cannot_be_written_changes_no_verdict(
    opperf: Opperf, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here))
    done = opperf(*SLOWER, "--github")
    assert done.code == 1
    assert "cannot write the step summary" in done.err


def interrupted_at(call: int, verb: Callable[..., Any]) -> Callable[..., Any]:
    """Return the verb with Ctrl-C pressed at one of its calls."""
    calls = itertools.count(1)

    def run(*given: Any, **options: Any) -> Any:
        if next(calls) == call:
            raise KeyboardInterrupt
        return verb(*given, **options)

    return run


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_decided(opperf: Opperf, monkeypatch: pytest.MonkeyPatch) -> None:
    # Four pairs of each new side, too few for one stage to decide alone, then a second stage of the slower one.
    monkeypatch.setattr(Duel, "compare", interrupted_at(10, Duel.compare))
    done = opperf(*SAME, "--new", "null;slowdown=1.1", "--pairs", "4", "--format", "json")
    assert (done.code, kinds(done)) == (130, ["same", "inconclusive"])
    assert "the comparison was stopped" in done.out


# Expectations --------------------------------------------------------------------------------------------------------

RECORD = ("gate", "null:steady", "--framework", "null", "--processes", "3", "--expected", "e.json", "--update-expected")
JUDGE = ("gate", "--expected", "e.json", "--processes", "3", "--threshold", "10%", "--format", "json")


def scaled(path: Path, factor: float) -> None:
    """Let every time that is expected be another."""
    document = json.loads(path.read_text())
    for entry in document["expectations"]:
        entry["times"] = [value * factor for value in entry["times"]]
    path.write_text(json.dumps(document))


def test_expectations_are_recorded_and_met(opperf: Opperf, here: Path) -> None:
    done = opperf(*RECORD)
    assert done.code == 0
    assert "wrote e.json: 1 expectations measured now, 0 kept" in done.err
    (entry,) = json.loads((here / "e.json").read_text())["expectations"]
    assert entry["times"] == pytest.approx([1e-4] * 3)
    done = opperf(*JUDGE)
    assert (done.code, kinds(done)) == (0, ["same"])
    assert json.loads(done.out)["gate"]["against"] == "expected"


@pytest.mark.parametrize(("factor", "code", "kind"), [(0.8, 1, "slower"), (1.25, 0, "faster"), (0.95, 0, "same")])
def test_what_is_expected_is_missed_beyond_the_threshold(
    factor: float, code: int, kind: str, opperf: Opperf, here: Path
) -> None:
    opperf(*RECORD)
    scaled(here / "e.json", factor)
    done = opperf(*JUDGE)
    assert (done.code, kinds(done)) == (code, [kind])


def test_a_threshold_below_what_identical_code_moves_by_is_told(
    opperf: Opperf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPPERF_CACHE_DIR", str(tmp_path / "cache"))  # without the floors of other tests
    opperf(*RECORD)
    told = "the threshold of 10% is below the 15% by which identical code may vary between runs on a shared machine"
    assert told in opperf(*JUDGE).err
    assert "identical code" not in opperf(*JUDGE, "--threshold", "20%").err


def test_an_update_keeps_what_was_not_measured(opperf: Opperf, here: Path) -> None:
    opperf(*RECORD)
    first = (here / "e.json").read_text()
    done = opperf(*("null:warming" if word == "null:steady" else word for word in RECORD))
    assert "1 expectations measured now, 1 kept" in done.err
    entries = json.loads((here / "e.json").read_text())["expectations"]
    assert [entry["case"]["operator"] for entry in entries] == ["null:steady", "null:warming"]
    assert entries[0] == json.loads(first)["expectations"][0]


def test_an_update_without_operators_measures_what_is_expected_anew(opperf: Opperf, here: Path) -> None:
    opperf(*RECORD)
    scaled(here / "e.json", 2)
    words = [word for word in RECORD if word != "null:steady"]
    assert opperf(*words).code == 0
    assert opperf(*JUDGE).code == 0


def test_what_fails_keeps_its_expectation_and_is_told(opperf: Opperf, here: Path) -> None:
    opperf(*RECORD)
    done = opperf(*RECORD, "null:raise")
    assert done.code == 3
    assert "1 of 2 trials failed" in done.err
    assert len(json.loads((here / "e.json").read_text())["expectations"]) == 1


def test_nothing_measured_writes_nothing(opperf: Opperf, here: Path) -> None:
    assert opperf(*("null:raise" if word == "null:steady" else word for word in RECORD)).code == 3
    assert not (here / "e.json").exists()


def test_a_new_trial_and_a_lost_expectation_are_listed(opperf: Opperf) -> None:
    opperf(*RECORD)
    done = opperf(*JUDGE[:1], "null:warming", *JUDGE[1:], "--framework", "null")
    assert (done.code, kinds(done)) == (3, ["skipped", "skipped"])
    assert [one["reason"] for one in json.loads(done.out)["comparisons"]] == [
        "new: no expectation is recorded",
        "expected, but not measured this time",
    ]


def test_a_file_with_expectations_alone_judges_by_them(opperf: Opperf, here: Path) -> None:
    opperf(*RECORD)
    (here / "opperf.toml").write_text('[expected]\nfile = "e.json"\nprocesses = 3\n')
    assert opperf("gate", "--no-github").code == 0
    scaled(here / "e.json", 0.5)
    assert opperf("gate", "--markdown", "pr.md").code == 1
    assert "opperf run null:steady --framework null --direction forward" in (here / "pr.md").read_text()


def test_ctrl_c_keeps_what_was_judged_and_leaves_expectations_as_they_were(
    opperf: Opperf, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opperf(*RECORD)
    before = (here / "e.json").read_text()
    measure = Pool.measure
    monkeypatch.setattr(Pool, "measure", interrupted_at(4, measure))
    done = opperf(*JUDGE[:1], "null:steady", "null:warming", *JUDGE[1:], "--framework", "null")
    # The second process of each trial is never reached: neither has the three that a verdict needs.
    assert (done.code, kinds(done)) == (130, ["inconclusive", "skipped"])
    monkeypatch.setattr(Pool, "measure", interrupted_at(1, measure))
    done = opperf(*RECORD)
    assert done.code == 130
    assert "stopped: e.json is unchanged" in done.err
    assert (here / "e.json").read_text() == before


def test_expectations_can_be_narrowed_to_a_framework(opperf: Opperf) -> None:
    opperf(*RECORD)
    done = opperf(*JUDGE, "--framework", "numpy")
    assert done.code == 2
    assert "the file has no expectations" in done.err


def test_a_gate_on_counts_fails_for_more_work_and_not_for_more_time(opperf: Opperf, tmp_path: Path) -> None:
    file = tmp_path / "opperf.toml"
    file.write_text('base = "null"\nclock = "instructions"\npairs = 3\n')
    more_work = opperf("gate", "null:steady", "--config", str(file), "--new", "null;work=1.01")
    assert more_work.code == 1
    assert "more work, same time: 1.010 times the base's instructions" in more_work.out
    assert opperf("gate", "null:steady", "--config", str(file), "--new", "null;slowdown=1.1").code == 0
    wall = ("--clock", "wall", "--new", "null;slowdown=1.1")
    assert opperf("gate", "null:steady", "--config", str(file), *wall).code == 1
