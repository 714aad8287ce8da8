"""A gate's report in each form, read back by a reader of that form."""

from __future__ import annotations

import json
import shlex
from dataclasses import fields, replace
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from tests.each import each

from opperf.catalog import operator
from opperf.domain.case import Case, ListOf
from opperf.domain.code import SuiteCode
from opperf.domain.plan import ReadSide, Settings, Side
from opperf.domain.record import Run
from opperf.domain.tensor import TensorSpec
from opperf.parent.documents.comparison import Comparison, ComparisonRun, Verdict
from opperf.parent.documents.judgement import Finding, Judgement
from opperf.parent.reports import gate, render, rerun
from opperf.parent.reports.gate import headline

EVIL = "add|\n<img src=x> @you *b* `c` \x1b[31m ]]> \x00"


#: How long it took to measure.
TOOK = {"seconds": 2.5}


def finding(kind: str, case: Case | None = None, message: str = "because", ratio: float | None = 1.1) -> Finding:
    """Return a finding of a kind."""
    interval = None if ratio is None else (ratio - 0.01, ratio + 0.01)
    verdict = Verdict("slower", ratio, interval, message, 5)
    sides = Side("null"), Side("null", settings={"slowdown": "1.1"})
    comparison = Comparison(case or operator("add").case("small"), "forward", *sides, verdict, 1e-6, 1.1e-6, facts=TOOK)
    return Finding(kind, comparison, message)


def judgement(*findings: Finding, against: str = "base", inconclusive: str = "fail") -> Judgement:
    """Return a judgement of these findings."""
    return Judgement(findings, 0.02, against, inconclusive)


def run(result: Judgement) -> ComparisonRun:
    """Return the run that was judged."""
    facts = {
        "machine": {"cpu": "A", "cores_usable": 2},
        "sides": {"base": {"version": "1"}, "new": {"version": "2", "commit": "abc"}},
    }
    header = Run("r1", "2026-11-21T00:00:00+00:00", ("opperf", "gate", "--new", "a b"), Settings(), environment=facts)
    return ComparisonRun(header, tuple(one.comparison for one in result.findings))


def shown(result: Judgement, format: str = "console") -> str:
    """Return the report of a judgement in a format."""
    return render(gate.document(run(result), result), format)


@each(
    ("kinds", "line"),
    [
        (("same",), "no regression in 1 comparison: 1 same"),
        (("slower", "memory", "same"), "2 regressions in 3 comparisons: 1 slower, 1 more memory, 1 same"),
        (("failed", "same"), "1 of 2 comparisons could not be measured: 1 not measured, 1 same"),
        (
            ("inconclusive", "same"),
            "no certain regression in 2 comparisons, but some are inconclusive: 1 inconclusive, 1 same",
        ),
        (("skipped",), "nothing was compared: 1 not compared"),
        ((), "nothing was compared"),
    ],
)
def test_the_first_line_says_what_the_exit_code_means(kinds: tuple[str, ...], line: str) -> None:
    assert headline(judgement(*map(finding, kinds))) == line


def test_markdown_says_the_verdict_first_and_folds_what_is_not_wrong() -> None:
    result = judgement(finding("same"), finding("inconclusive"), finding("slower"))
    text = shown(result, "md")
    assert text.startswith("### opperf gate: 1 regression in 3 comparisons")
    before, _, folded = text.partition("<details>")
    assert before.count("| slower |") == 1
    assert "| same |" not in before
    assert folded.count("| same |") == folded.count("| inconclusive |") == 1
    assert text.count("<details>") == text.count("</details>") == 4
    assert "- 2 cores of A" in folded
    assert "- base: version 1\n- new: version 2, commit abc\n" in folded


def test_markdown_has_the_commands_that_repeat_the_gate_and_each_regression() -> None:
    result = judgement(finding("slower"), finding("same", operator("exp").case("common")))
    (block,) = [token for token in MarkdownIt().parse(shown(result, "md")) if token.type == "fence"]
    again = "opperf compare add --size small --base null --new 'null;slowdown=1.1' --direction forward --tolerance 0.02"
    assert block.content.splitlines() == ["opperf gate --new 'a b'", again]


def test_markdown_fits_into_a_comment_however_much_there_is() -> None:
    rows = [finding(kind) for kind in ("slower", "inconclusive", "same") for _ in range(1000)]
    result = judgement(*rows)
    text = shown(result, "md")
    assert len(text) < 65536
    assert text.count("more rows: the report of `--output` has them") == 3
    rows_shown = text.count("| slower |")
    assert f"\n{1000 - rows_shown} more rows" in text


def test_markdown_shows_names_from_files_as_they_are() -> None:
    result = judgement(finding("slower", Case(EVIL, {"data": TensorSpec((2,))}), EVIL))
    tokens = MarkdownIt().enable("table").parse(shown(result, "md"))
    cells = [inner for token in tokens if token.type == "inline" for inner in token.children or ()]
    told = [cell.content.replace("\u200b", "") for cell in cells if cell.type in ("text", "code_inline")]
    assert not [cell for cell in cells if cell.type in ("html_inline", "em_open", "link_open", "image")]
    assert "<img src=x> @you *b* c" in "".join(told)
    assert sum(token.type == "tr_open" for token in tokens) == 2
    assert "@you" not in shown(result, "md")


def test_junit_has_one_test_for_each_comparison() -> None:
    kinds = ("slower", "memory", "failed", "inconclusive", "skipped", "faster", "same")
    result = judgement(*map(finding, kinds))
    suite = ElementTree.fromstring(shown(result, "junit")).find("testsuite")
    assert suite is not None
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "7",
        "failures": "2",
        "errors": "1",
        "skipped": "2",
    }
    cases = suite.findall("testcase")
    assert [[part.tag for part in case if part.tag != "properties"] for case in cases] == [
        ["failure"],
        ["failure"],
        ["error"],
        ["skipped"],
        ["skipped"],
        [],
        [],
    ]
    assert cases[0].get("classname") == "null -> null;slowdown=1.1"
    assert cases[0].get("name") == "add forward lhs=32x32 rhs=32x32"
    assert cases[0].get("time") == "2.500"
    assert suite.get("time") == "17.500"
    failure = cases[0].find("failure")
    assert failure is not None
    assert failure.attrib == {"message": "slower: because", "type": "slower"}
    known = {part.get("name"): float(part.get("value") or 0) for part in cases[0].iter("property")}
    assert known == pytest.approx({"ratio": 1.1, "low": 1.09, "high": 1.11, "base_time": 1e-6, "new_time": 1.1e-6})


def test_junit_survives_names_from_files() -> None:
    result = judgement(finding("slower", Case(EVIL), EVIL))
    case = ElementTree.fromstring(shown(result, "junit")).find("testsuite/testcase")
    assert case is not None
    assert (case.get("name") or "").startswith("add|\\n<img src=x> @you *b* `c` \\x1b[31m ]]> \\x00 forward")


def test_annotations_are_one_line_each_and_escaped() -> None:
    result = judgement(finding("same"), finding("slower", Case("torch:aten::add", {}), "50%,\n: worse"))
    place = "title=opperf%3A torch%3Aaten%3A%3Aadd forward::torch:aten::add forward (null -> null;slowdown=1.1)"
    assert shown(result, "github").splitlines() == [
        f"::error {place}: slower: 50%25,\\n: worse",
        "::error title=opperf gate::1 regression in 2 comparisons: 1 slower, 1 same",
    ]


@pytest.mark.parametrize(
    ("kind", "word"),
    [("memory", "error"), ("failed", "warning"), ("inconclusive", "warning"), ("faster", "notice")],
)
def test_each_kind_that_is_news_has_its_annotation(kind: str, word: str) -> None:
    first, _ = shown(judgement(finding(kind), finding("same")), "github").splitlines()
    assert first.startswith(f"::{word} title=")


def test_json_is_the_document_of_a_comparison_with_the_gate_in_it() -> None:
    result = judgement(finding("slower"))
    document = json.loads(shown(result, "json"))
    assert set(document) == {"schema_version", "run", "comparisons", "gate"}
    assert document["gate"]["exit_code"] == 1


def test_the_console_lists_what_is_not_fine_below_the_table() -> None:
    result = judgement(finding("same"), finding("failed", message="not measured: it crashed"), against="expected")
    lines = shown(result).splitlines()
    assert lines[-3] == "- add forward lhs=32x32 rhs=32x32 (expected -> null;slowdown=1.1): not measured: it crashed"
    assert lines[-1] == "gate: 1 of 2 comparisons could not be measured: 1 not measured, 1 same"


@each(
    ("case", "words"),
    [
        (operator("add").case("common"), ["add"]),
        (operator("softmax").case("large"), ["softmax", "--size", "large"]),
        (operator("exp").case("common").with_dtype("float16"), ["exp", "--dtype", "float16"]),
        (
            Case("exp", {"data": TensorSpec((3, 4))}),
            ["exp", "--input", "data=3x4"],
        ),
        (
            Case("exp", {"data": TensorSpec((), "float64")}),
            ["exp", "--input", "data=scalar:float64"],
        ),
        (Case("exp", {"data": TensorSpec((3,), values="zeros")}), ["exp", "--input", "data=3:zeros"]),
        (Case("exp", {"data": TensorSpec((90,), literal=(0.5,) * 90)}), None),
        (Case("exp", {"other": TensorSpec((3,))}), None),
        (Case("null:steady"), ["null:steady"]),
        (
            Case("torch:relu", {"input": TensorSpec((3,), "int64", range=(0, 8))}, {"inplace": False}),
            ["torch:relu", "--input", "input=3:int64:range=0..8", "--attribute", "inplace=False"],
        ),
        (Case("mine.py:f", {"input": TensorSpec((3,))}), None),
    ],
)
def test_a_case_is_written_where_a_command_line_makes_exactly_it(case: Case, words: list[str] | None) -> None:
    assert rerun.case_words(case) == words


def test_lists_and_attributes_are_written_too() -> None:
    common = operator("concatenate").case("common")
    items = ListOf((TensorSpec((2, 3)), TensorSpec((2, 5))))
    words = rerun.case_words(Case("concatenate", {"data": items}, {**common.attributes, "axis": 1}))
    assert words is not None
    assert words[:3] == ["concatenate", "--input", "data=[2x3;2x5]"]
    assert "axis=1" in words


@each(
    ("side", "word"),
    [
        (Side("torch", "torch", threads=2), "torch;threads=2"),
        (Side("jax", mode="eager"), "jax;mode=eager"),
        (Side("jax", mode="compiled"), "jax"),
        (Side("torch", "python=/a b/python"), "python=/a b/python;framework=torch"),
        (Side("torch", implementation="aten::mm"), "torch:aten::mm"),
        (Side("torch", "torch==2.12.0", implementation="aten::mm"), None),
        (Side("torch", settings={"env.A": "1;2"}), None),
        (Side("of_a_plugin"), None),
        (Side("torch", settings={"env.A": "1"}, device="cuda:0"), "torch;device=cuda:0;env.A=1"),
    ],
)
def test_a_side_is_written_as_it_is_read(side: Side, word: str | None) -> None:
    assert rerun.side_word(side) == word


def test_what_was_judged_by_expectations_is_repeated_by_a_run() -> None:
    comparison = finding("slower").comparison
    base = Side("torch", "torch==2.12.0", threads=2, implementation="torch.add")
    result = Comparison(comparison.case, "forward", base, base, comparison.verdict)
    assert shlex.split(rerun.run_command(result, 5) or "") == [
        *("opperf", "run", "torch:torch.add", "--size", "small", "--framework", "torch"),
        *("--environment", "torch==2.12.0", "--threads", "2", "--direction", "forward", "--processes", "5"),
    ]


def test_a_benchmark_is_repeated_by_its_files_and_no_other_of_them() -> None:
    case, verdict = Case("bench.time_sort", attributes={"n": 10}), finding("slower").comparison.verdict
    environments = ("numpy==2.0.0", "python=/p", "git:main (0123456789)")
    old, new, commit = (Side("numpy", text, implementation=SuiteCode("asv", "b")) for text in environments)
    selected = ["asv:b", "--select", r"^bench\.time_sort\(10\)$"]
    again = rerun.compare_command(Comparison(case, "forward", old, new, verdict), 0.02)
    assert shlex.split(again or "")[2:8] == [*selected, "--base", "numpy==2.0.0", "--new"]
    assert shlex.split(rerun.run_command(Comparison(case, "forward", old, old, verdict), 3) or "")[2:5] == selected
    assert rerun.compare_command(Comparison(case, "forward", old, commit, verdict), 0.02) is None
    told = replace(old, implementation="asv:b")  # a file's, which does not say which code is run
    read = ReadSide(**{field.name: getattr(told, field.name) for field in fields(told)})
    assert rerun.compare_command(Comparison(case, "forward", read, read, verdict), 0.02) is None


def test_a_framework_that_a_plugin_brought_is_repeated_by_no_command() -> None:
    told, side = finding("slower").comparison, Side("of_a_plugin")
    assert rerun.run_command(Comparison(told.case, "forward", side, side, told.verdict), 5) is None
