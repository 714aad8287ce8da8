"""Reports: each is one file that makes a document, and each format is one file that renders any document.

A report and a format are imported when they are first asked for, so that a command that prints none stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from opperf.parent.reports.document import Document, Screen
from opperf.parent.reports.formats import renderer

if TYPE_CHECKING:
    from opperf.domain.profile.event import Profile
    from opperf.domain.record import Run
    from opperf.domain.suite import Suite
    from opperf.parent.documents.bisection import Bisection
    from opperf.parent.documents.candidates import JudgedRun
    from opperf.parent.documents.comparison import ComparisonRun
    from opperf.parent.documents.exploration import Exploration
    from opperf.parent.documents.floor import NoiseRun
    from opperf.parent.documents.suite_change import SuiteChange
    from opperf.parent.documents.trace import Replay
    from opperf.parent.documents.what_if import WhatIfRun

    Reported = (
        Document
        | Run
        | ComparisonRun
        | SuiteChange
        | WhatIfRun
        | NoiseRun
        | JudgedRun
        | Replay
        | Profile
        | Suite
        | Exploration
        | Bisection
    )

#: The report of each kind of result.
REPORTS = {
    "Run": "run",
    "ComparisonRun": "comparison",
    "SuiteChange": "suite_change",
    "WhatIfRun": "what_if",
    "NoiseRun": "noise",
    "Replay": "replay",
    "Profile": "profile",
    "Suite": "suite",
    "Exploration": "explore",
    "Bisection": "bisect",
    "JudgedRun": "judge",
}


#: The report of a kind of result with a row for each group of operators; others group their rows themselves, or not.
GROUPED = {"Run": "run_groups", "ComparisonRun": "comparison_groups"}


def render(
    value: Reported, format: str = "console", *, width: int | None = None, color: bool = False, **options: object
) -> str:
    """Return a document, or the report of a result, in one of the formats, with a line break at the end.

    `width` and `color` are the console's: None is as wide as tables need, which is right for a pipe or a file.
    `options` are those of the report (`top` bounds the rows that people are shown). Raises `InputError` for a format
    that is not known.
    """
    text = renderer(format)
    return text(report_of(value, **options), Screen(width, color))


def report_of(value: Reported, **options: object) -> Document:
    """Return the report of a result; a document is its own. With `by` "group" a row has the operators of a group."""
    if isinstance(value, Document):
        return value
    kind = type(value).__name__
    report = REPORTS[kind]
    if kind in GROUPED and options.pop("by", None) == "group":
        report = GROUPED[kind]
    document: Document = import_module(f"{__name__}.{report}").document(value, **options)
    return document
