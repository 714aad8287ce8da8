"""The checks of a document as JUnit XML, which CI systems show as tests.

The time of a test is how long it took to measure, as CI systems expect; what a call took is among its properties.
"""

from __future__ import annotations

from xml.etree import ElementTree

from opperf.parent.reports.document import Check, Document, Screen
from opperf.parent.reports.text import one_line

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'


def render(document: Document, _: Screen) -> str:
    """Return the XML document: one suite, by whose name a former report is known."""
    outcomes = [check.outcome for check in document.checks]
    suite = ElementTree.Element(
        "testsuite",
        {
            "name": document.title,
            "tests": str(len(outcomes)),
            "failures": str(outcomes.count("failure")),
            "errors": str(outcomes.count("error")),
            "skipped": str(outcomes.count("skipped")),
            "time": _seconds(sum(check.seconds or 0.0 for check in document.checks)),
            "timestamp": one_line(document.started),
        },
    )
    for check in document.checks:
        _case(suite, check)
    ElementTree.SubElement(suite, "system-out").text = one_line(document.summary)
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return DECLARATION + ElementTree.tostring(suites, encoding="unicode") + "\n"


def _case(suite: ElementTree.Element, check: Check) -> None:
    facts = {"classname": one_line(check.sides), "name": one_line(check.name), "time": _seconds(check.seconds or 0.0)}
    case = ElementTree.SubElement(suite, "testcase", facts)
    properties = ElementTree.SubElement(case, "properties")
    for name, number in check.numbers.items():
        if number is not None:
            ElementTree.SubElement(properties, "property", {"name": name, "value": repr(number)})
    if check.outcome != "passed":
        attributes = {"message": one_line(check.message), "type": one_line(check.kind)}
        if check.outcome == "skipped":
            del attributes["type"]  # the schema gives it a message alone
        ElementTree.SubElement(case, check.outcome, attributes)


def _seconds(value: float) -> str:
    return f"{value:.3f}"
