"""`opperf compare` on the null framework: exact sides, exact verdicts."""

from __future__ import annotations

import csv
import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.functional.conftest import FEW, Done, invoke

SAME = ("--base", "null", "--new", "null")
#: Sides of which one is slower. Five pairs decide that alone; fewer are measured again.
SLOWER = ("null:steady", "--base", "null", "--new", "null;slowdown=1.05", "--pairs", "5")


def compare(*arguments: str) -> Done:
    """Run the command, of two sides with the fewest pairs unless told, and return what it said."""
    few = () if "--pairs" in arguments or "--base" not in arguments else FEW
    return invoke("compare", *arguments, *few)


@cache
def written(suffix: str, *arguments: str) -> tuple[str, str]:
    """Return the file that a comparison writes, and the table that it prints; each is measured once for all tests."""
    file = Path(f"compared{suffix}")
    done = compare(*arguments, "--output", str(file))
    assert done.code == 0, done.err
    assert "Traceback" not in done.err
    text = file.read_text(encoding="utf-8")
    file.unlink()  # a test may compare more than once
    return text, done.out


def document(*arguments: str) -> list[dict[str, Any]]:
    """Return the comparisons of the JSON document."""
    result = json.loads(written(".json", *arguments)[0])
    assert set(result) == {"schema_version", "run", "comparisons"}
    comparisons: list[dict[str, Any]] = result["comparisons"]
    return comparisons


def table(*arguments: str) -> str:
    """Return the table of the same comparison."""
    return written(".json", *arguments)[1]


def test_a_slowdown_of_five_percent_is_called_slower_and_exits_with_zero() -> None:
    (result,) = document(*SLOWER, "--explain")
    assert result["verdict"] == "slower"
    assert result["ratio"] == pytest.approx(1.05)
    assert result["interval"] == [pytest.approx(1.05), pytest.approx(1.05)]
    assert result["pairs"] == 5
    assert {"case", "direction", "base", "new", "reason"} <= set(result)


@pytest.mark.parametrize(("base", "new", "word"), [("1000", "1950", "slower"), ("1950", "1000", "faster")])
def test_three_pairs_decide_a_call_of_two_tenths_of_a_second_against_one(base: str, new: str, word: str) -> None:
    sides = ("--base", f"null;slowdown={base}", "--new", f"null;slowdown={new}", "--pairs", "5")
    (result,) = document("null:steady", *sides)
    assert (result["verdict"], result["pairs"], result["confidence"]) == (word, 3, 0.99)
    assert result["ratio"] == pytest.approx(float(new) / float(base))


def test_identical_sides_are_called_the_same() -> None:
    assert [one["verdict"] for one in document("add", "exp", *SAME)] == ["same", "same"]


def test_forward_is_compared_unless_another_direction_is_named() -> None:
    assert [one["direction"] for one in document("add", "exp", *SAME)] == ["forward", "forward"]
    assert [one["direction"] for one in document("add", *SAME, "--direction", "backward")] == ["backward"]


@pytest.mark.slow
def test_one_base_is_compared_with_several_new_sides() -> None:
    result = document("null:steady", "--base", "null", "--new", "null;slowdown=1.1", "--new", "null;slowdown=0.9")
    assert [one["verdict"] for one in result] == ["slower", "faster"]


def test_a_change_within_the_tolerance_is_the_same() -> None:
    (result,) = document("null:steady", "--base", "null", "--new", "null;slowdown=1.05", "--tolerance", "10%")
    assert result["verdict"] == "same"


def test_memory_is_compared_exactly_within_one_framework() -> None:
    forward = document("add", "exp", *SAME)[0]
    assert forward["memory"]["same"] is True
    assert forward["memory"]["peak"][0] == 1024 * 1024 * 4


def test_a_side_that_crashes_has_failed_and_the_others_are_decided() -> None:
    result = document("null:crash", "null:steady", "--base", "null", "--new", "null")
    assert [(one["case"]["operator"], one["verdict"]) for one in result] == [
        ("null:crash", "failed"),
        ("null:steady", "same"),
    ]
    assert "not measured" in result[0]["reason"]


@pytest.mark.parametrize(("operators", "code"), [(["null:crash"], 3), (["null:crash", "null:steady"], 0)])
def test_only_a_comparison_of_which_nothing_is_left_fails(operators: list[str], code: int, opperf: Any) -> None:
    assert opperf("compare", *operators, "--base", "null", "--new", "null", *FEW).code == code


def test_the_words_of_run_say_how_many_pairs_there_are_how_long_they_sample_and_what_is_left_of_them(
    opperf: Any,
) -> None:
    words = ("--processes", 4, "--trial-budget", "50ms", "--precision", "1%", "--no-samples", "--format", "json")
    done = opperf("compare", "null:steady", "--base", "null", "--new", "null", *words)
    (result,) = json.loads(done.out)["comparisons"]
    assert (result["verdict"], result["pairs"], result["log_ratios"]) == ("same", 4, [])
    assert result["ratio"] == pytest.approx(1.0)


def test_csv_has_one_row_for_each_comparison() -> None:
    rows = list(csv.DictReader(io.StringIO(written(".csv", *SLOWER)[0])))
    assert [row["verdict"] for row in rows] == ["slower"]
    assert float(rows[0]["ratio"]) == pytest.approx(1.05)
    assert rows[0]["bound"] == ""


@pytest.mark.slow
def test_every_form_says_how_large_a_change_may_still_be() -> None:
    (result,) = document(
        "null:steady", "--base", "null", "--new", "null;slowdown=1.05", "--tolerance", "10%", "--settle"
    )
    assert (result["verdict"], result["confidence"]) == ("same", 0.95)
    assert result["bound"] == pytest.approx(0.05)
    for form in ("md", "console"):
        done = compare("null:steady", "--base", "null", "--new", "null", "--format", form)
        assert "±0.0%" in done.out.replace("\n", "")


def test_markdown_and_console_show_the_verdict() -> None:
    for text in written(".md", *SLOWER, "--explain"):
        assert "slower" in text


@pytest.mark.parametrize(
    "arguments",
    [
        ("add", "--base", "null", "--new", "nul"),
        ("add", "--base", "null", "--new", "null;threads=0"),
        ("add", "--base", "null", "--new", "null", "--pairs", "2"),
        ("add", "--base", "null", "--new", "null", "--processes", "2"),
        ("add", "--base", "null", "--new", "null", "--pairs", "6", "--processes", "4"),
        ("add", "--base", "null", "--new", "null", "--trial-budget", "0"),
        ("add", "--base", "null", "--new", "null", "--precision", "5s"),
        ("old.json", "new.json", "--trial-budget", "1"),
        ("add", "--base", "null", "--new", "null", "--max-pairs", "20"),
        ("add", "--base", "null", "--new", "null", "--settle", "--max-pairs", "2"),
        ("old.json", "new.json", "--settle"),
        ("add", "--base", "null", "--new", "null", "--tolerance", "2"),
        ("--base", "null", "--new", "null"),
        ("ad", "--base", "null", "--new", "null"),
        ("add", "--new", "null"),
    ],
)
def test_bad_usage_exits_with_two_and_says_what_was_expected(arguments: tuple[str, ...]) -> None:
    done = compare(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert "Traceback" not in done.err


def test_two_result_files_are_compared(tmp_path: Path) -> None:
    files = [tmp_path / "old.json", tmp_path / "new.json"]
    for file in files:
        assert invoke("run", "null:steady", "--processes", 3, "--output", file).code == 0
    (result,) = document(*map(str, files))
    assert result["verdict"] == "same"


def test_one_result_file_is_nothing_to_compare(tmp_path: Path) -> None:
    done = compare(str(tmp_path / "only.json"))
    assert (done.code, done.out) == (2, "")
    assert "two result files" in done.err


def test_of_two_result_files_the_one_that_is_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text("{}", encoding="utf-8")
    done = compare(str(tmp_path / "new.json"), str(tmp_path / "old.json"))
    assert (done.code, done.out) == (2, "")
    assert f"cannot read `{tmp_path / 'new.json'}`: No such file" in done.err


def test_explain_shows_what_ran_on_each_side_of_what_is_slower() -> None:
    (result,) = document(*SLOWER, "--explain")
    told = result["explanation"]
    assert told["difference"] == ["script: base ran scripted (100 us), new ran scripted:1.05 (105 us)"]
    assert [(event["name"], event["by"]) for event in told["base"]] == [("steady", None), ("script", "scripted")]
    assert (told["alike"], told["failures"]) == (1, {})


@pytest.mark.slow
def test_what_is_the_same_is_not_explained_nor_anything_without_the_option() -> None:
    (same,) = document("null:steady", *SAME, "--explain")
    (slower,) = document(*SLOWER)
    assert same["explanation"] == slower["explanation"] == {}


def test_an_explanation_stands_below_the_table() -> None:
    for text in written(".md", *SLOWER, "--explain"):
        above, _, block = text.partition("what ran: null:steady forward, slower")
        assert "ratio" in above
        assert "script: base ran scripted (100 us), new ran scripted:1.05 (105 us)" in block


def test_recorded_runs_cannot_be_explained() -> None:
    done = compare("old.json", "new.json", "--explain")
    assert (done.code, done.out) == (2, "")
    assert "`--explain` has nothing to run" in done.err
    assert "hint: give `--base SIDE`" in done.err


def test_kernels_decide_where_both_sides_show_them_and_launches_do_not_count() -> None:
    sides = ("--base", "null;kernels=0.6", "--new", "null;kernels=0.3;slowdown=2", "--pairs", "5")
    (result,) = document("null:steady", *sides)
    assert (result["verdict"], result["clock"], result["base_time"]) == ("same", "kernels", pytest.approx(60e-6))
    assert "the device's busy time decides" in table("null:steady", *sides)


def test_kernels_decide_nothing_where_only_one_side_shows_them() -> None:
    (result,) = document("null:steady", "--base", "null;kernels=0.6", "--new", "null;slowdown=2", "--pairs", "5")
    assert (result["verdict"], result["clock"]) == ("slower", "wall")


@pytest.mark.parametrize(
    ("new", "verdict", "words"),
    [
        ("null", "same", "same work, same time"),
        ("null;work=1.01", "slower", "more work, same time"),
        ("null;work=0.99", "faster", "less work, same time"),
        ("null;slowdown=1.05", "same", "same work, other time"),
        ("null;work=1.05;slowdown=1.05", "slower", "more work, more time"),
    ],
)
def test_counts_decide_and_the_time_stands_beside_them(new: str, verdict: str, words: str) -> None:
    asked = ("null:steady", "--base", "null", "--new", new, "--clock", "instructions")
    (result,) = document(*asked)
    assert (result["verdict"], result["clock"]) == (verdict, "instructions")
    assert result["reason"].startswith(words)
    assert result["ratio"] == result["new_value"] / result["base_value"]
    assert result["time"]["ratio"] == pytest.approx(result["new_time"] / result["base_time"])
    assert words in table(*asked)


def test_a_count_of_vectorised_work_comes_with_a_warning() -> None:
    Path("two.csv").write_text("lhs,rhs\n1024x1024,1024x1024\n2x2,2x2\n")
    large, small = document("add", *SAME, "--clock", "instructions", "--shapes", "two.csv")
    assert [warning["slug"] for warning in large["warnings"]] == ["vectorised"]
    assert small["warnings"] == []


def test_only_a_clock_that_compares_is_taken() -> None:
    done = compare("add", "--base", "null", "--new", "null", "--clock", "profiler")
    assert done.code == 2
    assert "expected wall or instructions" in done.err
