"""A gate's findings as GitHub Actions reads them: one workflow command a line, which becomes an annotation.

A step shows only the first few annotations of each kind, so the largest regressions come first.

https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from opperf.domain.judgement import Finding, Judgement
from opperf.parent.reports.escaping import for_annotation, for_annotation_property
from opperf.parent.reports.findings import headline, sentence, sides, subject
from opperf.parent.reports.text import common_subject

#: The annotation of each kind; what has none is no news.
COMMANDS = {
    "slower": "error",
    "memory": "error",
    "failed": "warning",
    "inconclusive": "warning",
    "faster": "notice",
}


def workflow_commands(judgement: Judgement) -> str:
    """Return an annotation for each finding that is news, regressions first, and one that sums up."""
    lines = [_annotation(finding, judgement) for finding in judgement.of_kind(*COMMANDS)]
    whole = "notice" if judgement.exit_code == 0 else "error"
    lines.append(f"::{whole} title=opperf gate::{for_annotation(headline(judgement))}")
    return "\n".join(lines) + "\n"


def _annotation(finding: Finding, judgement: Judgement) -> str:
    title = for_annotation_property(f"opperf: {common_subject(finding.comparison)} {finding.comparison.direction}")
    message = for_annotation(f"{subject(finding)} ({sides(finding, judgement)}): {sentence(finding)}")
    return f"::{COMMANDS[finding.kind]} title={title}::{message}"
