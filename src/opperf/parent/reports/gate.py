"""A gate's report in each format: the table of a comparison with the findings below it, or the document with both."""

from __future__ import annotations

import json

from opperf.domain.comparison import ComparisonRun
from opperf.domain.judgement import Judgement
from opperf.parent.reports import comparisons, layout, pull_request
from opperf.parent.reports.findings import headline, sentence, sides, subject
from opperf.parent.reports.layout import Note

#: The findings that the console lists below the table.
LISTED = ("slower", "memory", "failed", "inconclusive", "skipped")


def render(run: ComparisonRun, judgement: Judgement, format: str, width: int | None = None) -> str:
    """Return a gate's report in one of the formats, with a line break at the end; `width` is the terminal's."""
    if format == "json":
        return json.dumps({**run.to_json(), "gate": judgement.to_json()}, indent=1, allow_nan=False) + "\n"
    if format == "md":
        return pull_request.render(run, judgement)
    if format == "console":
        return layout.text([*comparisons.blocks(run.comparisons), Note(), *_blocks(judgement)], width=width)
    return comparisons.render(run, format)


def _blocks(judgement: Judgement) -> list[Note]:
    listed = [
        Note(f"- {subject(finding)} ({sides(finding, judgement)}): {sentence(finding)}")
        for finding in judgement.of_kind(*LISTED)
    ]
    return [*listed, *([Note()] if listed else []), Note(f"gate: {headline(judgement)}")]
