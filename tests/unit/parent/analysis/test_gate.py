"""What a gate makes of one comparison."""

from __future__ import annotations

from typing import Any

import pytest

from opperf.domain.case import Case
from opperf.domain.plan import Side
from opperf.parent.analysis.gate import judgement_of
from opperf.parent.documents.comparison import Comparison, PeakMemory, Verdict
from opperf.parent.documents.judgement import Finding
from opperf.parent.documents.tolerances import Tolerances


def result(word: str, *, tolerance: float = 0.02, against: str = "base", **parts: Any) -> Finding:
    """Return the finding on a comparison with this verdict."""
    settle = "more pairs" if word == "inconclusive" else None
    verdict = Verdict(word, 1.1, (1.09, 1.11), "both stages agree", 5, settle)
    comparison = Comparison(Case("add"), "forward", Side("null"), Side("null"), verdict, **parts)
    (finding,) = judgement_of([comparison], Tolerances(tolerance), against=against).findings
    return finding


def peaks(base: int, new: int) -> dict[str, Any]:
    """Return the memory of a comparison."""
    return {"peak": [base, new], "allocated": [base, new], "same": base == new, "source": "scripted"}


def test_a_slower_verdict_is_told_with_its_ratio_and_interval() -> None:
    finding = result("slower")
    assert finding.kind == "slower"
    assert finding.message == "1.100 times the base's time, 95 % interval [1.090, 1.110]"
    assert result("slower", against="expected").message.startswith("1.100 times the expected time")


@pytest.mark.parametrize("word", ["faster", "same"])
def test_what_is_not_slower_is_no_regression(word: str) -> None:
    assert result(word).kind == word


def test_an_inconclusive_verdict_says_what_would_settle_it() -> None:
    assert result("inconclusive").message == "no change beyond ±11.0%; both stages agree; to decide: more pairs"


def test_a_finding_of_no_change_says_how_large_a_change_may_still_be() -> None:
    assert result("same").message.endswith("interval [1.090, 1.110]; no change beyond ±11.0%")


@pytest.mark.parametrize("word", ["same", "faster", "inconclusive"])
def test_memory_that_grew_beyond_the_tolerance_is_a_regression_whatever_the_time_did(word: str) -> None:
    finding = result(word, memory=peaks(1_000_000, 1_021_000))
    assert finding.kind == "memory"
    assert finding.message == "peak memory grew from 1.00 MB to 1.02 MB (+2.1%)"


@pytest.mark.parametrize(
    "memory",
    [{}, peaks(1_000_000, 1_020_000), peaks(1_000_000, 900_000), peaks(0, 0), peaks(5000, 9000), peaks(0, 4095)],
)
def test_memory_within_the_tolerance_is_none(memory: dict[str, Any]) -> None:
    assert result("same", memory=memory).kind == "same"


def test_memory_where_there_was_none_is_a_regression() -> None:
    assert result("same", memory=peaks(0, 8192)).message == "peak memory grew from 0 B to 8.19 kB"


def test_slower_with_more_memory_is_one_finding_that_tells_both() -> None:
    finding = result("slower", memory=peaks(100_000, 200_000))
    assert finding.kind == "slower"
    assert finding.message.endswith("; peak memory grew from 100 kB to 200 kB (+100.0%)")


@pytest.mark.parametrize("status", ["failed", "skipped"])
def test_what_could_not_be_measured_is_told_as_such(status: str) -> None:
    assert (result("inconclusive", status=status).kind, result("inconclusive", status=status).message) == (
        status,
        "both stages agree",
    )


def test_memory_may_grow_by_the_tolerance_of_its_own_operator() -> None:
    verdict, memory = Verdict("same", 1.0, (0.99, 1.01), "", 5), PeakMemory(peak=(1e6, 1.05e6), same=False)
    one = Comparison(Case("add"), "forward", Side("null"), Side("null"), verdict, memory=memory)
    kinds = [judgement_of([one], Tolerances(0.02, own)).findings[0].kind for own in ({}, {"ad*": 0.1}, {"mul": 0.1})]
    assert kinds == ["memory", "same", "memory"]
