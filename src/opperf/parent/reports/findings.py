"""What every form of a gate's report says alike: its first line, and what a finding is of."""

from __future__ import annotations

from opperf.domain.judgement import FAILURE, INCONCLUSIVE, KINDS, REGRESSION, Finding, Judgement
from opperf.parent.reports.comparisons import side_text
from opperf.parent.reports.escaping import one_line
from opperf.parent.reports.text import case_text, common_subject

#: How each kind is told; the kinds themselves are words of documents.
TITLES = {
    "slower": "slower",
    "memory": "more memory",
    "failed": "not measured",
    "inconclusive": "inconclusive",
    "skipped": "not compared",
    "faster": "faster",
    "same": "same",
}


def headline(judgement: Judgement) -> str:
    """Return the line that a reader needs first, as `1 regression in 3 comparisons: 1 slower, 2 same`."""
    total = len(judgement.findings)
    of_all = f"{total} comparison{'s' if total != 1 else ''}"
    regressions, code = len(judgement.regressions), judgement.exit_code
    if code == REGRESSION:
        told = f"{regressions} regression{'s' if regressions != 1 else ''} in {of_all}"
    elif code == FAILURE:
        failed = len(judgement.of_kind("failed"))
        told = f"{failed} of {of_all} could not be measured" if failed else "nothing was compared"
    elif code == INCONCLUSIVE:
        told = f"no regression is certain in {of_all}, but not all are conclusive"
    else:
        told = f"no regression in {of_all}"
    counts = {kind: len(judgement.of_kind(kind)) for kind in KINDS}
    tally = ", ".join(f"{count} {TITLES[kind]}" for kind, count in counts.items() if count)
    return f"{told}: {tally}" if tally else told


def subject(finding: Finding) -> str:
    """Return what was compared: operator, direction and inputs."""
    comparison = finding.comparison
    words = (one_line(common_subject(comparison)), comparison.direction, case_text(comparison.case))
    return " ".join(word for word in words if word)


def sides(finding: Finding, judgement: Judgement) -> str:
    """Return the sides that were compared, as `torch==2.12.0 -> torch==2.13.0`."""
    base, new = finding.comparison.base, finding.comparison.new
    first = "expected" if judgement.against == "expected" else side_text(base, new)
    return one_line(f"{first} -> {side_text(new, base)}")


def sentence(finding: Finding) -> str:
    """Return what is found, on one line."""
    return one_line(f"{TITLES[finding.kind]}: {finding.message}")
