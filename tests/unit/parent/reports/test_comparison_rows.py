"""What the rows of a comparison say: of memory, of how large a change may still be."""

from __future__ import annotations

from typing import Any

import pytest

from opperf.domain.case import Case
from opperf.domain.comparison import LATER, Comparison, Verdict
from opperf.domain.plan import INSTRUCTIONS, Side
from opperf.parent.reports.comparison import bound_text, memory_text, reasons


def compared(verdict: Verdict, **parts: Any) -> Comparison:
    """Return a live comparison with this verdict."""
    parts = {"log_ratios": ((0.0, 0.0, 0.0), ()), **parts}
    return Comparison(Case("add"), "forward", Side("null"), Side("null"), verdict, **parts)


SAME = Verdict("same", 1.0, (0.99, 1.01), "the interval lies within ±2%", 5)


def peaks(base: int, new: int) -> dict[str, Any]:
    """Return the memory of a comparison."""
    return {"peak": [base, new], "allocated": [base, new], "same": base == new, "source": "scripted"}


@pytest.mark.parametrize(("base", "new"), [(4_194_304, 4_202_496), (5404, 5436), (5404, 9000), (4096, 4096)])
def test_a_peak_that_moved_by_less_than_a_hundredth_or_a_page_is_no_news(base: int, new: int) -> None:
    comparison = compared(SAME, memory=peaks(base, new))
    assert reasons(comparison) == [SAME.reason]
    assert "now" not in memory_text(comparison)


def test_a_peak_that_moved_is_told_in_its_column_and_among_the_reasons() -> None:
    comparison = compared(SAME, memory=peaks(4_194_304, 8_388_608))
    assert memory_text(comparison) == "4.19 MB, now 8.39 MB"
    assert reasons(comparison)[1:] == ["peak memory 4.19 MB before, 8.39 MB now"]
    assert memory_text(compared(SAME)) == ""


@pytest.mark.parametrize(
    ("interval", "text"), [((0.9, 1.2), "±20.0%"), ((0.9, 4.224), "not enough pairs"), ((0.4, 1.1), "not enough pairs")]
)
def test_an_interval_that_excludes_no_change_asks_for_pairs(interval: tuple[float, float], text: str) -> None:
    assert bound_text(compared(Verdict("inconclusive", 1.1, interval, "", 4, "about 9 pairs"))) == text


def test_what_more_pairs_would_not_settle_does_not_ask_for_them() -> None:
    wide = Verdict("inconclusive", 1.1, (0.4, 3.0), "new has two modes", 12, LATER)
    assert bound_text(compared(wide)) == ""
    recorded = Verdict("inconclusive", 1.1, (0.4, 3.0), "the interval holds +10%", 5)
    assert bound_text(compared(recorded, log_ratios=())) == ""
    assert bound_text(compared(recorded, clock=INSTRUCTIONS)) == ""
    assert bound_text(compared(Verdict("slower", 4.0, (3.0, 5.0), "", 3))) == ""
