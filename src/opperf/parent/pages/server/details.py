"""The pages of one thing: an operator, a run, two runs or builds, a suite, a machine."""

from __future__ import annotations

import math
from dataclasses import replace

from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import JsonDict, JsonObject
from opperf.domain.record import Run
from opperf.domain.units import format_bytes, format_percent
from opperf.parent.commands.load import read_value
from opperf.parent.documents.candidates import JudgedRun
from opperf.parent.documents.comparison import ComparisonRun
from opperf.parent.documents.floor import NoiseRun
from opperf.parent.documents.machine_signs import Signs, judge
from opperf.parent.pages.figures import charts
from opperf.parent.pages.result_page import facts
from opperf.parent.pages.server.view import Query, View, path
from opperf.parent.reports import report_of
from opperf.parent.reports.document import Block, Column, Document, Note, Section, table
from opperf.parent.reports.history import RUNS
from opperf.parent.reports.text import case_text
from opperf.parent.store.database.archive import Archive, Stored
from opperf.parent.store.database.history import entries
from opperf.parent.store.database.listing import Floor, floors, machines

#: The most rows of a table.
MOST_ROWS = 500
#: What a stored document has its rows under.
ROWS = ("records", "comparisons", "floors", "judgements")


def run(archive: Archive, key: str, query: Query) -> View:
    """Return a run as it was reported, with its charts; of many rows the first are read."""
    data = _document(archive, key)
    part = _result({name: value[:MOST_ROWS] if name in ROWS else value for name, value in data.items()}, key)
    left = sum(len(data.get(name, ())) for name in ROWS) - MOST_ROWS
    more = [Note(f"{left} more are in the CSV and JSON of this page.")] if left > 0 else []
    report = report_of(part)
    document = replace(report, title=f"Run {key}", blocks=[*report.blocks, *more])
    run = part if isinstance(part, Run) else part.run
    return View(document, charts(part), facts=facts(run), whole=lambda: report_of(_result(data, key)))


def _document(archive: Archive, key: str) -> JsonDict:
    data = archive.document_json(key)
    if data is None:
        raise InputError(f"the database has no run `{key}`", slug="missing")
    return data


def read_result(archive: Archive, key: str) -> Stored:
    """Return a run as it was stored; raises `InputError` where there is none."""
    return _result(_document(archive, key), key)


def _result(data: JsonObject, key: str) -> Stored:
    result = read_value(data, f"run {key}")
    if not isinstance(result, (Run, ComparisonRun, NoiseRun, JudgedRun)):
        raise InputError(f"run {key}: neither results nor comparisons, noise floors or judgements", slug="database")
    return result


def machine(archive: Archive, key: str, query: Query) -> View:
    """Return the facts of a machine, its sources of noise, how far identical code moves on it, and its runs."""
    host = next((one for one in machines(archive) if str(one.id) == key), None)
    if host is None:
        raise InputError(f"the database has no machine `{key}`", slug="missing")
    doubts = judge(Signs.of(host.facts))
    runs = entries(archive, most=MOST_ROWS, machine=host.name)
    levels = floors(archive, host.id)
    none = Note("none was measured: `opperf noise ... --output FILE`, then `opperf history add FILE`")
    of_operators = table(FLOORS, levels, link=lambda one: path("operators", one.operator, framework=one.framework))
    blocks: list[Block] = [
        Section("What makes it noisy", [Note(f"{one.slug}: {one.message}") for one in doubts] or [Note("nothing")]),
        Section("Noise floors", [of_operators if levels else none]),
        Section("Runs", [table(RUNS, runs, link=lambda one: path("runs", one.key))]),
    ]
    plain = {
        name.replace("_", " "): format_bytes(value) if name.startswith("memory") and type(value) is int else str(value)
        for name, value in host.facts.items()
        if isinstance(value, (str, int, float))
    }
    return View(Document(host.name, blocks), facts=plain)


def _change(log_ratio: float) -> str:
    return format_percent(math.expm1(log_ratio))


FLOORS: tuple[Column[Floor], ...] = (
    Column("operator", "operator", lambda one: one.operator),
    Column("inputs", "inputs", lambda one: case_text(Case.from_json(one.case, "case"))),
    Column("direction", "direction", lambda one: one.direction),
    Column("framework", "framework", lambda one: one.framework),
    Column("moved", "live floor", lambda one: one.moved, _change, "right"),
    Column("between", "between processes", lambda one: one.between, _change, "right"),
    Column("measured", "measured", lambda one: one.measured.isoformat(), lambda text: text[:10]),
)
