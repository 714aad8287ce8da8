"""A gate's report in each format: the table of a comparison with the findings below it, or the document with both."""

from __future__ import annotations

import json

from opperf.comparison import ComparisonRun
from opperf.judgement import Judgement
from opperf.reports import comparisons, pull_request
from opperf.reports.findings import headline, sentence, sides, subject

#: The findings that the console lists below the table.
LISTED = ("slower", "memory", "failed", "inconclusive", "skipped")


def render(run: ComparisonRun, judgement: Judgement, format: str) -> str:
    """Return a gate's report in one of the formats, with a line break at the end."""
    if format == "json":
        return json.dumps({**run.to_json(), "gate": judgement.to_json()}, indent=1, allow_nan=False) + "\n"
    if format == "md":
        return pull_request.render(run, judgement)
    if format == "console":
        return comparisons.render(run, format) + "\n" + _console(judgement)
    return comparisons.render(run, format)


def _console(judgement: Judgement) -> str:
    listed = [
        f"- {subject(finding)} ({sides(finding, judgement)}): {sentence(finding)}"
        for finding in judgement.of_kind(*LISTED)
    ]
    return "\n".join([*listed, *([""] if listed else []), f"gate: {headline(judgement)}"]) + "\n"
