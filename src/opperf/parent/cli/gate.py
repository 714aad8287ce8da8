"""`opperf gate`: the comparison for CI, whose exit code says whether a change passes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, OpperfError
from opperf.domain.files.destination import write_text
from opperf.domain.units import plural
from opperf.parent.cli import options, output
from opperf.parent.cli.options import command, inputs
from opperf.parent.cli.output import check_pages, write_pages
from opperf.parent.cli.places import check_report, take_output
from opperf.parent.planning.wishes import wishes
from opperf.parent.sources.option import Option, Overrides
from opperf.parent.sources.options import Check, Explain, GateOptions, Names, NoCheck, OnFleet, What

if TYPE_CHECKING:
    from opperf.parent.commands.gate import ExpectationUpdate
    from opperf.parent.documents.comparison import ComparisonRun
    from opperf.parent.documents.judgement import Judgement
    from opperf.parent.pages.charts import Chart
    from opperf.parent.reports.document import Document
    from opperf.parent.sources.gate_file import GateFile


def gate(
    operators: options.Subjects = None,
    *,
    what: What,
    config: Annotated[
        Optional[Path], Option("FILE", "Gate file. Default: opperf.toml, or [tool.opperf] in pyproject.toml.")
    ] = None,
    base: Annotated[Optional[str], Option("SIDE", "Known good side to compare with.")] = None,
    new: Annotated[Names, Option("SIDE", "Side to check for regressions. Repeatable.")] = (),
    overrides: Overrides[GateOptions],
    update_expected: Annotated[bool, Option("", "Measure again and update the expectations.")] = False,
    check: Check = None,
    no_check: NoCheck = False,
    explain: Explain = False,
    fleet: OnFleet,
    report: options.Report,
    reviewing: options.Reviewing,
) -> None:
    """Compare in CI: the exit code says whether a change may pass.

    Exit codes: 0 no regression, 1 regression, 2 bad input, 3 a side could not be measured, 4 inconclusive.

    The gate file says what to compare; options override it.
    """
    from opperf.domain.errors import HarnessError, way_out
    from opperf.parent.cli.keeping import check_database, keep
    from opperf.parent.cli.output import tell
    from opperf.parent.cli.progress import Bar
    from opperf.parent.commands.gate import ExpectationUpdate, Gate, gate_file, judge
    from opperf.parent.planning.request import checking
    from opperf.parent.reports.gate import document

    file = gate_file(config, overrides, what.plugin)
    places = Places(report, reviewing)
    places.check([*inputs(operators, what), file.path, *inputs((), file), file.expected])
    check_database(report.database)
    if update_expected and (reviewing.markdown or reviewing.junit or report.html or report.plot):
        raise InputError(
            "`--update-expected` compares nothing, so it cannot write a report",
            hint="leave out the report options, or run a second command that compares",
        )
    which, nodes = checking(check, no_check=no_check), wishes(fleet)
    order = Gate(file, overrides, base, new, update_expected, explain, which, report.labels, command(), nodes)
    result = judge(operators or (), what, order, Bar())
    if isinstance(result, ExpectationUpdate):
        _tell_updated(result, places)
        code = result.exit_code
    else:
        judgement = _with_decisions(result.judgement, file, report.database)
        deliver(result.run, document(result.run, judgement), judgement, places)
        code = judgement.exit_code
    try:
        keep(result.run, report)
    except HarnessError as error:
        if not code and result.cause is None:
            raise
        tell(f"error: {error}")  # the verdict says more
    raise SystemExit(code) if result.cause is None else way_out(result.cause)


@contextmanager
def telling(what: str) -> Iterator[None]:
    """Say what a database that cannot be reached leaves undone, where the verdict does not depend on it."""
    from opperf.domain.errors import HarnessError
    from opperf.parent.cli.output import tell

    try:
        yield
    except HarnessError as error:
        tell(f"{what}: {error.message}")


def _with_decisions(judgement: Judgement, file: GateFile, database: str | None) -> Judgement:
    """Return the judgement as the decisions of a database have it, and tell people of what is new.

    Without a database that the user names it stays as it is, and nothing can be sent once only.
    """
    from opperf.parent.cli.output import tell
    from opperf.parent.commands.history import archive
    from opperf.parent.commands.notify import notify
    from opperf.parent.commands.triage import judge

    if database is None:
        if file.notify.by_name:
            tell("`[notify]` sends nothing without `--database`, which has what was sent before")
        return judgement
    with telling("decisions on changes are not known, and nothing is sent"), archive(database, create=True) as store:
        judgement = judge(store, judgement)
        notify(store, file.notify, judgement, tell)
    return judgement


def _tell_updated(update: ExpectationUpdate, places: Places) -> None:
    """Print what was measured, and say what is expected now."""
    from opperf.parent.reports.run import document

    output.deliver(
        document(update.run), places.report.format, places.report.output, plural(len(update.run.records), "record")
    )
    if update.cause is not None:
        typer.echo(f"stopped: {update.path} is unchanged", err=True)
        return
    if update.measured:
        text = f"{update.measured} expectations measured now, {update.others} kept"
        typer.echo(f"wrote {update.path}: {text}", err=True)
    if update.failed:
        text = f"{update.failed} of {len(update.run.records)} trials failed; their expectations are unchanged"
        typer.echo(text, err=True)


@dataclass(frozen=True)
class Places:
    """The requested outputs."""

    report: options.Report
    reviewing: options.Reviewing

    def check(self, inputs: Sequence[Path | None]) -> None:
        """Raise `InputError` for outputs that cannot be written, before a run; `inputs` are the files to read."""
        from opperf.parent.reports.gate import MARK

        report, reviewing, force = self.report, self.reviewing, self.report.force
        take_output(report.output, force=force, inputs=inputs)
        check_report(reviewing.markdown, MARK, force=force, inputs=inputs)
        check_report(reviewing.junit, output.MARK, force=force, inputs=inputs)
        check_pages(report.html, report.plot, force=force, inputs=inputs)
        places = (report.output, reviewing.markdown, reviewing.junit, report.html, report.plot)
        texts = [str(place) for place in places if place is not None]
        twice = next((place for place in texts if texts.count(place) > 1), None)
        if twice is not None:
            raise InputError(f"two reports go to `{twice}`", hint="give each a different file", slug="output")


def deliver(
    run: ComparisonRun,
    document: Document,
    judgement: Judgement,
    places: Places,
    drawings: Callable[[], Sequence[Chart]] | None = None,
) -> None:
    """Write a report everywhere; data to stdout, annotations and talk to stderr, where GitHub reads them too.

    `drawings` returns the charts of its page, if they are not those of the comparisons. A file that cannot be written
    does not stop the others; the first error is raised at the end.
    """
    from opperf.parent.reports import render

    def write(place: Path | None, format: str) -> None:
        if place is not None:
            write_text(place, render(document, format))

    def report() -> None:
        output.deliver(document, places.report.format, places.report.output, plural(len(run.comparisons), "comparison"))

    pages = partial(write_pages, run, document, places.report.html, places.report.plot, drawings)
    writings = (
        partial(write, places.reviewing.markdown, "md"),
        partial(write, places.reviewing.junit, "junit"),
        pages,
        report,
    )
    troubles = [trouble for writing in writings if (trouble := _trouble(writing)) is not None]
    if os.environ.get("GITHUB_ACTIONS") == "true" if places.reviewing.github is None else places.reviewing.github:
        sys.stderr.write(render(document, "github"))
        _summarise(render(document, "md"))
    if places.report.format not in (None, "console"):
        typer.echo(f"gate: {document.summary}", err=True)
    inconclusive = len(judgement.of_kind("inconclusive"))
    if inconclusive and judgement.exit_code == 0:
        typer.echo(f"{inconclusive} inconclusive, which `inconclusive = pass` allows", err=True)
    if troubles:
        raise troubles[0]


def _trouble(write: Callable[[], None]) -> OpperfError | None:
    """Return the reason why something cannot be written."""
    try:
        write()
    except OpperfError as error:
        return error
    return None


def _summarise(text: str) -> None:
    """Append to the summary of the step, where GitHub has one. The verdict does not depend on it."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        typer.echo(f"cannot write the step summary `{path}`: {error.strerror}", err=True)
