"""What ran on each side, as blocks below the table of comparisons."""

from __future__ import annotations

from collections.abc import Sequence

from opperf.domain.comparison import Comparison
from opperf.parent.reports.escaping import for_markdown, for_markdown_line, one_line
from opperf.parent.reports.layout import Note
from opperf.parent.reports.text import case_text, common_subject

#: No more differences of a comparison are shown; the JSON document has all.
SHOWN = 12
LEGEND = "what ran: per call, own times under a profiler in a process of its own; they say where, not how much"


def blocks(comparisons: Sequence[Comparison]) -> list[Note]:
    """Return the blocks as indented lines; none where nothing was explained."""
    notes = []
    for one in comparisons:
        if one.explanation:
            notes += [Note(), Note(_title(one)), *(Note(line, 2) for line in block(one))]
    return [*notes, Note(), Note(LEGEND)] if notes else []


def markdown(comparisons: Sequence[Comparison]) -> list[str]:
    """Return the blocks as lists; none where nothing was explained."""
    lines = []
    for one in comparisons:
        if one.explanation:
            lines += [
                "",
                f"**{for_markdown(_title(one))}**",
                "",
                *(f"- {for_markdown_line(line)}" for line in block(one)),
            ]
    return [*lines, "", f"{LEGEND[0].upper()}{LEGEND[1:]}."] if lines else []


def block(comparison: Comparison) -> list[str]:
    """Return what is said of one comparison, a sentence a line."""
    told = comparison.explanation
    failures = [f"{side} could not be explained: {why}" for side, why in told["failures"].items()]
    if failures:
        return [one_line(line) for line in failures]
    lines = [one_line(line) for line in told["difference"][:SHOWN]]
    more = len(told["difference"]) - SHOWN
    if more > 0:
        lines.append(f"{more} more differences are in the JSON document")
    if not lines:
        lines.append("nothing that differs was found")
    if told["alike"]:
        lines.append(f"{told['alike']} more ran alike on both sides")
    return lines


def _title(comparison: Comparison) -> str:
    words = ("what ran:", common_subject(comparison), comparison.direction, case_text(comparison.case))
    return one_line(f"{' '.join(word for word in words if word)}, {comparison.verdict.verdict}")
