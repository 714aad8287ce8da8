"""A gate's findings as GitHub Actions reads them: one workflow command a line, which becomes an annotation.

A step shows only the first few annotations of each kind, so the largest regressions come first.

https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from opperf.judgement import Finding, Judgement
from opperf.reports.findings import headline, sentence, sides, subject

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
    lines.append(f"::{whole} title=opperf gate::{data(headline(judgement))}")
    return "\n".join(lines) + "\n"


def _annotation(finding: Finding, judgement: Judgement) -> str:
    title = value(f"opperf: {finding.comparison.case.operator} {finding.comparison.direction}")
    message = data(f"{subject(finding)} ({sides(finding, judgement)}): {sentence(finding)}")
    return f"::{COMMANDS[finding.kind]} title={title}::{message}"


def data(text: str) -> str:
    r"""Escape the message of a workflow command.

    >>> data("50%\n")
    '50%25%0A'
    """
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def value(text: str) -> str:
    """Escape a property of a workflow command.

    >>> value("opperf: a, b")
    'opperf%3A a%2C b'
    """
    return data(text).replace(":", "%3A").replace(",", "%2C")
