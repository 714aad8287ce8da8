"""A suite: its cases with how often each occurs, and what no case holds."""

from __future__ import annotations

from opperf.domain.suite import Suite, SuiteCase
from opperf.domain.units import plural
from opperf.parent.reports.document import Column, Document, Note, table
from opperf.parent.reports.text import case_text

COLUMNS: tuple[Column[SuiteCase], ...] = (
    Column("operator", "operator", lambda entry: entry.case.operator, least=14),
    Column("calls", "calls", lambda entry: entry.count, align="right"),
    Column("inputs", "inputs", lambda entry: case_text(entry.case), least=14),
    Column("origin", "origin", lambda entry: entry.origin, presence="varied"),
)


def document(suite: Suite) -> Document:
    """Return the report."""
    text = f"{plural(len(suite.cases), 'case')} of {plural(suite.calls, 'call')}"
    left_out = [Note(f"left out: {one.name}, {plural(one.count, 'call')}: {one.reason}") for one in suite.left_out]
    return Document("opperf suite", [table(COLUMNS, suite.cases), Note(text), *left_out], suite.to_json, summary=text)
