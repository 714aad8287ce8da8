"""A gate's findings as JUnit XML, which CI systems show as tests: one case for each comparison.

A regression is a failure, what could not be measured an error, what has no verdict skipped. The time of a case is that
of one call on the new side, so that a system that plots times plots the operator's.
"""

from __future__ import annotations

from xml.etree import ElementTree

from opperf.domain.comparison import ComparisonRun
from opperf.domain.judgement import Finding, Judgement
from opperf.parent.reports.escaping import one_line
from opperf.parent.reports.findings import headline, sentence, sides, subject

#: The element that each kind puts into its case.
ELEMENTS = {
    "slower": "failure",
    "memory": "failure",
    "failed": "error",
    "inconclusive": "skipped",
    "skipped": "skipped",
}

#: What the suite is called, by which a former report is known.
MARK = "opperf gate"
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'


def render(run: ComparisonRun, judgement: Judgement) -> str:
    """Return the XML document."""
    kinds = [ELEMENTS.get(finding.kind) for finding in judgement.findings]
    suite = ElementTree.Element(
        "testsuite",
        {
            "name": MARK,
            "tests": str(len(kinds)),
            "failures": str(kinds.count("failure")),
            "errors": str(kinds.count("error")),
            "skipped": str(kinds.count("skipped")),
            "time": _seconds(sum(finding.comparison.new_time or 0.0 for finding in judgement.findings)),
            "timestamp": one_line(run.run.started),
        },
    )
    for finding in judgement.findings:
        _case(suite, finding, judgement)
    output = ElementTree.SubElement(suite, "system-out")
    output.text = headline(judgement)
    whole = ElementTree.Element("testsuites")
    whole.append(suite)
    ElementTree.indent(whole)
    return DECLARATION + ElementTree.tostring(whole, encoding="unicode") + "\n"


def _case(suite: ElementTree.Element, finding: Finding, judgement: Judgement) -> None:
    comparison, verdict = finding.comparison, finding.comparison.verdict
    case = ElementTree.SubElement(
        suite,
        "testcase",
        {
            "classname": sides(finding, judgement),
            "name": subject(finding),
            "time": _seconds(comparison.new_time or 0.0),
        },
    )
    known = {
        "ratio": verdict.ratio,
        "low": None if verdict.interval is None else verdict.interval[0],
        "high": None if verdict.interval is None else verdict.interval[1],
        "base_time": comparison.base_time,
        "new_time": comparison.new_time,
    }
    properties = ElementTree.SubElement(case, "properties")
    for name, number in known.items():
        if number is not None:
            ElementTree.SubElement(properties, "property", {"name": name, "value": repr(number)})
    if finding.kind in ELEMENTS:
        told = {"message": sentence(finding), "type": finding.kind}
        if ELEMENTS[finding.kind] == "skipped":
            del told["type"]  # the schema gives it a message alone
        ElementTree.SubElement(case, ELEMENTS[finding.kind], told)


def _seconds(value: float) -> str:
    return f"{value:.9f}"
