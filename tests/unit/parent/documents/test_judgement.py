"""What findings amount to: the exit code, and which of them come first."""

from __future__ import annotations

from typing import Any

import pytest
from tests.each import each

from opperf.domain.case import Case
from opperf.domain.plan import Side
from opperf.parent.documents.comparison import Comparison, Verdict
from opperf.parent.documents.judgement import KINDS, Finding, Judgement


def finding(kind: str, ratio: float = 1.0) -> Finding:
    """Return a finding of a kind."""
    verdict = Verdict("inconclusive", ratio, None, "because", 5)
    return Finding(kind, Comparison(Case("add"), "forward", Side("null"), Side("null"), verdict), "because")


def judgement(*kinds: str, inconclusive: str = "fail") -> Judgement:
    """Return a judgement with a finding of each kind."""
    return Judgement(tuple(finding(kind) for kind in kinds), 0.02, inconclusive=inconclusive)


@each(
    ("kinds", "code"),
    [
        (("same", "faster"), 0),
        (("same", "slower"), 1),
        (("same", "memory"), 1),
        (("slower", "failed", "inconclusive"), 1),
        (("failed", "inconclusive", "same"), 3),
        (("inconclusive", "same"), 4),
        (("skipped", "same"), 0),
        (("skipped", "inconclusive"), 4),
    ],
)
def test_a_regression_comes_before_a_failure_and_that_before_an_inconclusive_comparison(
    kinds: tuple[str, ...], code: int
) -> None:
    assert judgement(*kinds).exit_code == code


@pytest.mark.parametrize("kinds", [(), ("skipped",), ("skipped", "skipped")])
def test_a_gate_that_compared_nothing_does_not_pass(kinds: tuple[str, ...]) -> None:
    assert judgement(*kinds, inconclusive="pass").exit_code == 3


def test_inconclusive_comparisons_pass_where_the_rule_says_so() -> None:
    assert judgement("inconclusive", "same", inconclusive="pass").exit_code == 0
    assert judgement("inconclusive", "failed", inconclusive="pass").exit_code == 3
    assert judgement("inconclusive", "slower", inconclusive="pass").exit_code == 1


def test_regressions_come_largest_first_and_time_before_memory() -> None:
    result = Judgement((finding("memory"), finding("slower", 1.1), finding("same"), finding("slower", 1.5)), 0.02)
    assert [(one.kind, one.comparison.verdict.ratio) for one in result.regressions] == [
        ("slower", 1.5),
        ("slower", 1.1),
        ("memory", 1.0),
    ]


def test_the_document_counts_every_kind_and_names_comparisons_by_place() -> None:
    result: Any = judgement("same", "slower").to_json()
    assert result["exit_code"] == 1
    assert set(result["counts"]) == set(KINDS)
    assert (result["counts"]["slower"], result["counts"]["failed"]) == (1, 0)
    assert [(one["comparison"], one["kind"]) for one in result["findings"]] == [(0, "same"), (1, "slower")]
