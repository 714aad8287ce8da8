"""The pages of changes: between which builds operators became slower or faster, and what was decided of each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from opperf.domain.errors import InputError
from opperf.domain.units import format_percent, format_ratios, format_seconds
from opperf.parent.analysis.triage import Standing
from opperf.parent.commands.history import imported_changes, named_changes
from opperf.parent.commands.triage import decide, find
from opperf.parent.documents.comparison import Comparison, ComparisonRun
from opperf.parent.documents.tolerances import TOLERANCE
from opperf.parent.documents.triage import MOST_TEXT, STATES, Decision
from opperf.parent.pages.charts.intervals import Intervals, Row
from opperf.parent.pages.figures import charts
from opperf.parent.pages.server.filters import categories, filters_of
from opperf.parent.pages.server.movers import MOST, ratio_text
from opperf.parent.pages.server.operator_charts import MARKS, step_text
from opperf.parent.pages.server.view import Choice, Form, Link, Query, View, change_place, leading, path
from opperf.parent.reports import history as report
from opperf.parent.reports import report_of
from opperf.parent.reports.document import Block, Column, Document, Note, Section, Table, table
from opperf.parent.reports.rerun import compare_command
from opperf.parent.reports.text import case_text
from opperf.parent.store.database import listing
from opperf.parent.store.database.evidence import evidence
from opperf.parent.store.database.series import Filters

if TYPE_CHECKING:
    from opperf.parent.reports.history import NamedChange
    from opperf.parent.store.database.archive import Archive

ABOUT = (
    "As expected, or not a change, it fails no night or gate again. Nothing is overwritten: the latest decision holds."
)
#: Comparisons that a page reads, at most: a second's worth.
MOST_COMPARISONS = 30_000


def changes(archive: Archive, query: Query) -> View:
    """Return the changes of all series, the largest first; of a large database only of those that are chosen."""
    filters, machines, since = filters_of(archive, query)
    begin, filters = filters.since, replace(filters, since=None)
    ratios = named_changes(archive, filters, since=begin, most=MOST_COMPARISONS)
    times = imported_changes(archive, filters, since=begin)
    every = [*ratios.changes, *times.changes]
    choices = (
        Choice.of("framework", (one.series.framework for one in every), query),
        Choice.of("build", (one.change.after for one in every), query),
        categories(listing.operators(archive), query),
        Choice.of("direction", (one.series.direction for one in every), query),
        machines,
        Choice.of("verdict", map(_verdict, every), query),
        since,
    )
    build, verdict = query.get("build"), query.get("verdict")
    rows = [one for one in every if build in (None, "", one.change.after) and verdict in (None, "", _verdict(one))]
    document = report.changes(rows, ratios.series, times.series, link=change_place)
    part = Note(f"Only the first {ratios.series} series were searched: choose a framework, a category or a machine.")
    several = [leading(block) if isinstance(block, Table) else block for block in document.blocks]
    blocks = [*([] if ratios.whole else [part]), *several]
    return View(replace(document, title="Changes between builds", blocks=blocks), _largest(rows), choices)


def _verdict(one: NamedChange) -> str:
    return "slower" if one.change.size.log_ratio > 0 else "faster"


def change(archive: Archive, name: str, query: Query) -> View:
    """Return a change with its evidence, what was decided of it, and where to say more.

    `operator` in the query finds it quicker.
    """
    step, rows, history = find(archive, name, Filters(operator=query.get("operator")))
    standing = (
        rows[0].standing if rows else Standing(name, history[-1].state, history[-1]) if history else Standing(name)
    )
    runs = evidence(archive, step)
    unconfirmed = Note("No change is found there: one comparison shows the step, or it was found before.")
    place = path("operators", step.operator, framework=step.framework)
    blocks: list[Block] = [leading(table(report.CHANGES, rows, link=lambda _: place)) if rows else unconfirmed]
    blocks += _next_steps(rows, runs)
    if history:
        blocks.append(Section("Decisions", [leading(table(DECISIONS, history[::-1]), ("state", "note"))]))
    blocks += _evidence(runs)
    texts = {"note": "", "owner": "", "link": ""}
    if standing.decision is not None:
        texts |= {"owner": standing.decision.owner, "link": standing.decision.link}
    share = format_percent(math.expm1(step.size.log_ratio))
    facts: dict[str, str | Link] = {
        "state": standing.state,
        "size": f"{'+' if step.is_slower else ''}{share}",
        "name": name,
        "operator": Link(step.operator, place),
    }
    title = f"{step.operator}: {step.framework} {step.before} to {step.after}"
    form = Form(STATES, standing.state, {**texts, "author": ""}, ABOUT, MOST_TEXT)
    pictures = [chart for run in runs[:1] for chart in charts(run)]
    return View(Document(title, blocks, summary=standing.remark), pictures, facts=facts, form=form)


def _next_steps(rows: Sequence[NamedChange], runs: Sequence[ComparisonRun]) -> list[Block]:
    """Return the commands that follow a change up, and the one that measures it again."""
    commands = report.next_commands(rows)
    again = compare_command(runs[0].comparisons[0], TOLERANCE) if runs else None
    if again is not None:
        commands.append(f"measure it again: `{again}`")
    return [Section("Next steps", [Note(command, kind="item") for command in commands])] if commands else []


def _evidence(runs: Sequence[ComparisonRun]) -> list[Block]:
    """Return the comparisons of the build after a change, and their reports with pairs and reasons."""
    rows = [(run, comparison) for run in runs for comparison in run.comparisons]
    if not rows:
        return []
    reports = [Section(f"Report of run {run.run.id}", report_of(run).blocks, folded=True) for run in runs]
    comparisons = table(EVIDENCE, rows, link=lambda row: path("runs", row[0].run.id))
    return [Section("Evidence", [comparisons, *reports])]


def decide_change(archive: Archive, name: str, query: Query, form: Mapping[str, str]) -> None:
    """Add what a visitor says of a change; raises `InputError` for what is no decision, or nobody's."""
    author = form.get("author", "").strip()
    if not author:
        raise InputError("the decision has no author", hint="say who you are", slug="input")
    texts = {text: form.get(text, "").strip() for text in ("note", "owner", "link")}
    state = form.get("state", "")
    decide(archive, [name], state, **texts, author=author, filters=Filters(operator=query.get("operator")))


EVIDENCE: tuple[Column[tuple[ComparisonRun, Comparison]], ...] = (
    Column("run", "run", lambda row: row[0].run.id),
    Column("ratio", "ratio", lambda row: row[1].ratio, ratio_text, "right"),
    Column("verdict", "verdict", lambda row: row[1].verdict.verdict),
    Column("low", None, lambda row: (row[1].interval or (None, None))[0]),
    Column("high", None, lambda row: (row[1].interval or (None, None))[1]),
    Column(None, "interval", lambda row: row[1].interval, format_ratios, "right"),
    Column("pairs", "pairs", lambda row: row[1].verdict.pairs, align="right"),
    Column("base", "base", lambda row: row[1].base_version),
    Column("new", "new", lambda row: row[1].new_version),
    Column("base_time_s", "base time", lambda row: row[1].base_time, format_seconds, "right"),
    Column("new_time_s", "time", lambda row: row[1].new_time, format_seconds, "right"),
    Column("started", "measured", lambda row: row[0].run.started, lambda text: text[:16].replace("T", " ")),
)

DECISIONS: tuple[Column[Decision], ...] = (
    Column("moment", "when", lambda one: one.moment.isoformat(), lambda text: text[:16].replace("T", " ")),
    Column("state", "state", lambda one: one.state),
    Column("note", "note", lambda one: one.note),
    Column("owner", "owner", lambda one: one.owner),
    Column("link", "link", lambda one: one.link),
    Column("author", "who", lambda one: one.author),
)


def _largest(changes: Sequence[NamedChange]) -> list[Intervals]:
    rows = []
    for entry in [one for one in changes if one.anchor is not None][:MOST]:
        ratio, interval = math.exp(entry.change.size.log_ratio), entry.change.size.interval()
        direction = [entry.series.direction] if entry.series.direction != "forward" else []
        rows.append(
            Row(
                entry.series.case.operator,
                f"{entry.series.framework} {entry.change.before} to {entry.change.after}",
                ratio,
                interval,
                step_text(entry.change),
                "inconclusive" if entry.change.usual else _verdict(entry),
                tip=f"{ratio:.3f} {format_ratios(interval)}\n{' '.join([*direction, case_text(entry.series.case)])}",
            )
        )
    caption = f"Time after the change over time before it; right of 1 is slower; {MARKS}"
    return [Intervals("Largest changes", caption, rows, lambda ratio: f"{ratio:g}", mark=1.0)] if rows else []
