"""Nights: the report of a gate, with how well all ratios that were measured agree."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from opperf.domain.units import format_percent
from opperf.parent.reports import gate
from opperf.parent.reports.document import Note, Section

if TYPE_CHECKING:
    from opperf.parent.commands.nightly.nightly import Nights
    from opperf.parent.reports.document import Document


def document(nights: Nights) -> Document:
    """Return the report of nights, of one at least."""
    report = gate.document(nights.run, nights.judgement)
    lines = [Note(f"{night.build} is judged by {night.judge}") for night in nights.nights]
    return replace(report, blocks=[*report.blocks, Section("", [*lines, *_closure(nights)])])


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
