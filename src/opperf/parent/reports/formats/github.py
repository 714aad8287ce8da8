"""The checks of a document as GitHub Actions reads them: one workflow command a line, which becomes an annotation.

A step shows only the first few annotations of each kind, so the worst come first.

https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from opperf.parent.reports.document import Check, Document, Screen
from opperf.parent.reports.text import for_annotation, for_annotation_property


def render(document: Document, _: Screen) -> str:
    """Return an annotation for each check that is news, and one that sums up."""
    news = sorted((check for check in document.checks if check.annotation), key=lambda check: check.rank)
    whole = "error" if document.failed else "notice"
    title = for_annotation_property(document.title)
    lines = [*map(_annotation, news), f"::{whole} title={title}::{for_annotation(document.summary)}"]
    return "\n".join(lines) + "\n"


def _annotation(check: Check) -> str:
    title = for_annotation_property(f"opperf: {check.subject}")
    return f"::{check.annotation} title={title}::{for_annotation(f'{check.name} ({check.sides}): {check.message}')}"
