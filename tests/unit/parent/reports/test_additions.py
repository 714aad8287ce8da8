"""A new format is one file, and so is a new report: this file is both, and each goes with all that opperf has."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from tests.each import each
from tests.unit.parent.reports import test_injection as made

from opperf.catalog import operator
from opperf.domain.plan import Plan, Settings, Side, Trial
from opperf.domain.reason import Warning
from opperf.domain.suite import Suite, SuiteCase
from opperf.parent import reports
from opperf.parent.reports import environments, machine, operators, profile_change, run
from opperf.parent.reports.document import Check, Column, Document, Legend, Note, Screen, Section, flatten, table
from opperf.parent.reports.formats import FORMATS, Format, check_format


def render(document: Document, _: Screen) -> str:
    """Return every text of a document in capitals: a format."""
    texts = [cell.text for table in document.tables() for row in table.rows for cell in row.cells]
    texts += [block.text for block in flatten(document.blocks) if isinstance(block, Note)]
    return " ".join(texts).upper() + "\n"


TRIAL = Trial(operator("add").case("small"), Side("numpy"), "forward")
DOCUMENTS: dict[str, Callable[[], Any]] = {
    "run": lambda: made.run_of("word"),
    "plan": lambda: run.plan_document(Plan((TRIAL,), Settings())),
    "comparison": lambda: made.compared("word"),
    "gate": lambda: made.gated("word"),
    "noise": lambda: made.floors("word"),
    "replay": lambda: made.replayed("word"),
    "profile": lambda: made.profiled("word"),
    "suite": lambda: Suite("s", "made", (SuiteCase(TRIAL.case, 3, "made", ("forward",)),)),
    "profile change": lambda: profile_change.document(made.profiled("word"), made.profiled("other")),
    "operators": lambda: operators.document([operators.line(operator("add"))]),
    "support": lambda: operators.support([operator("add")], ["torch"], {("add", "torch"): "forward"}),
    "environments": lambda: environments.document(["numpy"], [], {"mxnet": "mxnet"}),
    "machine": lambda: machine.document({"cpu": "A"}, [Warning("load", "busy", "wait")], ("cpu", 1), [], []),
}


@pytest.mark.parametrize("report", DOCUMENTS)
def test_a_format_of_one_file_renders_every_report(report: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS, "shout", Format(__name__))
    check_format("shout")
    text = reports.render(DOCUMENTS[report](), "shout")
    assert text == text.upper()
    assert len(text.split()) > 2


@each("report", DOCUMENTS)
def test_every_report_has_every_format(report: str) -> None:
    for name in FORMATS:
        text = reports.render(DOCUMENTS[report](), name, width=80)
        assert text.endswith("\n"), name
        assert text.strip(), name


RAINFALL = (("Bergen", 2250.0), ("Cairo", None), ("=Oslo", 763.0))
COLUMNS: tuple[Column[tuple[str, Any]], ...] = (
    Column("city", "city", lambda row: row[0], least=10),
    Column("rain_mm", "rain", lambda row: row[1], lambda rain: "" if rain is None else f"{rain:,.0f} mm", "right"),
    Column("unit", "unit", lambda _: "year", presence="varied"),
)


def document(rows: tuple[tuple[str, float | None], ...]) -> Document:
    """Return a report on something else than opperf measures."""
    dry = [Check(city, "gauge", city, "dry", "no rain fell", "failure", "error") for city, rain in rows if rain is None]
    wet = [Check(city, "gauge", city, "wet", "rain fell") for city, rain in rows if rain is not None]
    blocks = (
        table(COLUMNS, rows, lambda row: "failed" if row[1] is None else ""),
        Note("3 cities", about="rain"),
        Legend({"rain": "rain: of a year", "snow": "snow: none"}),
        Section(
            "warnings", [Note("one gauge is dry", [Note("Cairo", kind="item"), Note("wait", kind="hint")])], "warning"
        ),
    )
    return Document("rainfall", blocks, checks=[*wet, *dry], summary="1 of 3 gauges is dry", failed=True)


CONSOLE = """\
unit year

city        rain
----------------
Bergen  2,250 mm
Cairo
=Oslo     763 mm

3 cities
rain: of a year

warnings
  one gauge is dry
    - Cairo
    hint: wait
"""


def test_a_report_of_one_file_is_shown_in_a_terminal_with_its_legend_and_what_rows_share() -> None:
    assert reports.render(document(RAINFALL), "console") == CONSOLE


def test_a_report_of_one_file_is_data_for_programs() -> None:
    rows = list(csv.DictReader(io.StringIO(reports.render(document(RAINFALL), "csv"))))
    assert rows[0] == {"city": "Bergen", "rain_mm": "2250.0", "unit": "year"}
    assert [(row["city"], row["rain_mm"]) for row in rows[1:]] == [("Cairo", ""), ("'=Oslo", "763.0")]
    data = json.loads(reports.render(document(RAINFALL), "json"))
    assert data["rows"][2] == {"city": "=Oslo", "rain_mm": 763.0, "unit": "year"}
    assert data["summary"] == "1 of 3 gauges is dry"


def test_a_report_of_one_file_is_a_page() -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(reports.render(document(RAINFALL), "md"))
    assert sum(token.type == "tr_open" for token in tokens) == 4
    assert sum(token.type == "bullet_list_open" for token in tokens) == 3
    seen: list[str] = []

    class Reader(HTMLParser):
        def handle_data(self, data: str) -> None:
            seen.append(data.strip())

    Reader().feed(reports.render(document(RAINFALL), "html"))
    assert {"unit year", "2,250 mm", "=Oslo", "one gauge is dry", "hint: wait"} <= set(seen)


def test_a_report_of_one_file_has_its_checks_in_ci_systems() -> None:
    suite = ElementTree.fromstring(reports.render(document(RAINFALL), "junit"))[0]
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("rainfall", "3", "1")
    assert reports.render(document(RAINFALL), "github").splitlines() == [
        "::error title=opperf%3A Cairo::Cairo (gauge): no rain fell",
        "::error title=rainfall::1 of 3 gauges is dry",
    ]
