"""Nights: the report of a gate, with how well all ratios that were measured agree; a page has operators, not nights."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from opperf.domain.units import format_percent
from opperf.parent.documents.comparison import ComparisonRun
from opperf.parent.reports import gate
from opperf.parent.reports.comparison import by_operator, table_of
from opperf.parent.reports.document import Document, Note, Section

if TYPE_CHECKING:
    from opperf.parent.commands.nightly.nightly import Nights
    from opperf.parent.documents.judgement import Finding

TITLE = "opperf nightly"


def document(nights: Nights) -> Document:
    """Return the report of nights, of one at least."""
    report = gate.document(nights.run, nights.judgement)
    lines = [Note(f"{night.build} is judged by {night.judge}") for night in nights.nights]
    last = Section("", [*lines, *_closure(nights)])
    return replace(report, title=TITLE, blocks=[*report.blocks, last], page=lambda: _page(nights, last))


def _page(nights: Nights, last: Section) -> Document:
    """Return the page: findings by operator, each night of it below the one before; ratios to the anchor apart."""
    places = {id(one): place for place, one in enumerate(by_operator(nights.steps))}

    def order(findings: Sequence[Finding]) -> list[Finding]:
        return sorted(findings, key=lambda finding: places.get(id(finding.comparison), len(places)))

    page = gate.page(nights.run, nights.judgement, TITLE, order)
    others = by_operator(nights.others)
    title = f"{len(others)} against the anchor"
    anchor = [Section(title, [table_of(ComparisonRun(nights.run.run, tuple(others)))], folded=True)] if others else []
    return replace(page, blocks=[*page.blocks, *anchor, last])


def _closure(nights: Nights) -> list[Note]:
    """Say how far ratios that were measured differ from what the others make of them."""
    if not nights.closures:
        return [Note("closure: no builds were compared in more than one way yet")]
    series, worst = max(nights.closures, key=lambda both: both[1].sigmas)
    near = Counter(closure.sigmas <= 2 for _, closure in nights.closures)[True]
    gap = format_percent(abs(math.expm1(worst.gap.log_ratio)))
    return [
        Note(
            f"closure: {near} of {len(nights.closures)} ratios agree with the others within 2 standard errors; the "
            f"farthest is off by {gap} ({worst.sigmas:.1f} standard errors): {series.case.operator}, {worst.edge.base} "
            f"to {worst.edge.new}"
        )
    ]
