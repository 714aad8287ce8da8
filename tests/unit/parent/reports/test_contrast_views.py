"""A contrast leaves out gaps that are none: a view on the base beside a result that the new side writes."""

from __future__ import annotations

import math

from tests.unit.parent.reports.conftest import run_of

from opperf.catalog import operator
from opperf.domain.plan import Side
from opperf.parent.documents.comparison import Comparison, ComparisonRun, Verdict
from opperf.parent.reports import render
from opperf.parent.reports.contrast import categories, document, gaps, is_view


def slower(name: str, base: float, new: float, threads: int = 1) -> Comparison:
    """Return a confirmed gap of an operator with its common inputs."""
    ratio = new / base
    verdict = Verdict("slower", ratio, (0.9 * ratio, 1.1 * ratio), "", 3)
    sides = Side("numpy", threads=threads), Side("torch", threads=threads)
    case = operator(name).case("common")
    return Comparison(case, "forward", *sides, verdict, base, new, log_ratios=((math.log(ratio),), ()))


#: The result of `flip` has 4 MB: no core writes it within 2 us.
VIEW = slower("flip", 1.5e-6, 110e-6)
BOTH_VIEWS = slower("flip", 0.3e-6, 3e-6)
BOTH_COPIES = slower("flip", 100e-6, 900e-6)
MANY_CORES = slower("flip", 1.5e-6, 110e-6, threads=64)


def test_a_result_that_is_there_before_a_core_could_have_written_it_is_a_view() -> None:
    assert [is_view(one) for one in (VIEW, BOTH_VIEWS, BOTH_COPIES, MANY_CORES)] == [True, False, False, False]


def test_a_view_beside_a_copy_is_no_gap_and_is_named() -> None:
    run = ComparisonRun(run_of(), (VIEW, slower("exp", 1e-3, 3e-3)))
    assert [gap.operator for gap in gaps(run)] == ["exp"]
    assert [share.category for share in categories(run, 1.5)] == ["elementwise_unary"]
    text = render(document(run, 1.5), "console")
    assert "numpy returns a view, which torch may not: flip" in text
    assert "1 beyond a factor of 1.5, 1 confirmed as slower, 1 left out where only numpy returns a view" in text
