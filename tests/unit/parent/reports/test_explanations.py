"""Blocks below the table: what ran on each side of what was explained."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from opperf.domain.case import Case
from opperf.domain.plan import Side
from opperf.parent.documents.comparison import Comparison, Verdict
from opperf.parent.reports import render
from opperf.parent.reports.comparison import MOST_DIFFERENCES, explanations
from opperf.parent.reports.comparison_rows import reasons
from opperf.parent.reports.document import Document


def comparison(**told: Any) -> Comparison:
    """Return a comparison with an explanation."""
    whole: Any = {"difference": [], "alike": 0, "failures": {}, **told} if told else {}
    verdict = Verdict("slower", 2.0, (1.9, 2.1), "", 5)
    return Comparison(Case("conv2d"), "forward", Side("torch"), Side("torch"), verdict, explanation=whole)


def console(comparisons: list[Comparison]) -> list[str]:
    """Return the lines that a console shows."""
    return render(Document("", explanations(comparisons)), "console").strip("\n").splitlines()


def markdown(comparisons: list[Comparison]) -> list[str]:
    """Return the lines of Markdown."""
    return render(Document("", explanations(comparisons)), "md").strip("\n").splitlines()


@pytest.mark.parametrize("form", [console, markdown])
def test_without_an_explanation_there_is_no_block(form: Any) -> None:
    assert form([comparison()]) == []


def test_the_console_indents_differences_under_their_comparison() -> None:
    result = console([comparison(), comparison(difference=["a: base ran b, new ran c"], alike=3)])
    assert result[:3] == [
        "what ran: conv2d forward, slower",
        "  a: base ran b, new ran c",
        "  3 more ran the same on both sides",
    ]


def test_markdown_escapes_what_it_would_read_as_its_own() -> None:
    assert "- only new ran dot by \\_\\_ynn_fusion \\<x>" in markdown(
        [comparison(difference=["only new ran dot by __ynn_fusion <x>"])]
    )


def test_a_side_that_could_not_be_explained_is_named() -> None:
    assert "  new could not be explained: no profiler" in console([comparison(failures={"new": "no profiler"})])


def test_a_search_without_a_find_says_so() -> None:
    assert "  no differences found" in console([comparison(alike=2)])


def test_many_differences_are_cut_and_counted() -> None:
    result = console([comparison(difference=[f"line {i}" for i in range(MOST_DIFFERENCES + 3)])])
    assert f"  line {MOST_DIFFERENCES - 1}" in result
    assert f"  line {MOST_DIFFERENCES}" not in result
    assert "  3 more differences are in the JSON document" in result


def test_names_from_frameworks_reach_no_terminal_unescaped() -> None:
    assert "\x1b" not in "".join(console([comparison(difference=["a\x1b[31m"])]))


def test_sides_that_differ_in_page_faults_are_told_so_once() -> None:
    plain = replace(comparison(), base_faults=(710.0, 700.0, 720.0), new_faults=(130.0, 131.0, 129.0))
    assert "page faults of a call: 710 before, 130 now" in reasons(plain)
    said = replace(plain, verdict=replace(plain.verdict, reason="the page faults of a call differ"))
    assert not any(text.startswith("page faults of a call") for text in reasons(said))
    assert reasons(replace(plain, new_faults=(705.0,))) == reasons(comparison())
