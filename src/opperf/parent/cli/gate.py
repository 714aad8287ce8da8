"""`opperf gate`: the comparison for CI, whose exit code says whether a change passes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, OpperfError
from opperf.domain.files.destination import write_text
from opperf.domain.units import plural
from opperf.parent.cli import options, output
from opperf.parent.cli.compare import PairBudget, PairPrecision
from opperf.parent.cli.option_groups import grouped
from opperf.parent.cli.options import command, inputs, labels, request, wishes
from opperf.parent.cli.output import check_pages, write_pages
from opperf.parent.cli.places import check_report, take_output

if TYPE_CHECKING:
    from opperf.parent.commands.gate import ExpectationUpdate
    from opperf.parent.documents.comparison import ComparisonRun
    from opperf.parent.documents.judgement import Judgement
    from opperf.parent.reports.document import Document


Option = typer.Option


@grouped
def gate(
    operators: options.Operators = None,
    *,
    what: options.What,
    config: Annotated[
        Optional[Path],
        Option(metavar="FILE", help="Gate file. Default: opperf.toml, or [tool.opperf] in pyproject.toml."),
    ] = None,
    base: Annotated[Optional[str], Option(metavar="SIDE", help="Known good side to compare with.")] = None,
    new: Annotated[
        Optional[list[str]], Option(metavar="SIDE", help="Side to check for regressions. Repeatable.")
    ] = None,
    tolerance: Annotated[Optional[str], Option(metavar="PERCENT", help="Smallest change worth reporting.")] = None,
    pairs: Annotated[
        Optional[int], Option(metavar="K", help="Number of pairs of processes to measure at first.")
    ] = None,
    settle: Annotated[
        Optional[bool], Option("--settle/--no-settle", help="Add pairs until there is a verdict.", show_default=False)
    ] = None,
    max_pairs: Annotated[
        Optional[int], Option(metavar="N", help="Maximum number of pairs with --settle. Default: 64.")
    ] = None,
    trial_budget: PairBudget = None,
    precision: PairPrecision = None,
    expected: Annotated[
        Optional[Path], Option(metavar="FILE", help="Compare with the expectations in this file instead.")
    ] = None,
    threshold: Annotated[
        Optional[str], Option(metavar="PERCENT", help="Allowed deviation from an expectation.")
    ] = None,
    update_expected: Annotated[
        bool, Option("--update-expected", help="Measure again and update the expectations.")
    ] = False,
    processes: Annotated[Optional[int], Option(metavar="K", help="Processes per expectation.")] = None,
    framework: options.Framework = None,
    environment: options.Environment = None,
    device: options.Device = None,
    inconclusive: Annotated[
        Optional[str], Option(metavar="pass|fail", help="What to do when there is no verdict.")
    ] = None,
    budget: options.Budget = None,
    timeout: Annotated[Optional[str], Option(metavar="SECONDS", help="Time limit for one trial.")] = None,
    cpus: options.Cpus = None,
    jobs: Annotated[Optional[str], Option(metavar="N|auto", help=options.JOBS)] = None,
    clock: Annotated[Optional[str], Option(metavar="wall|instructions", help=options.COMPARING_CLOCK)] = None,
    compile_cache: Annotated[Optional[str], Option(metavar="shared|none", help=options.COMPILE)] = None,
    seed: Annotated[Optional[int], Option(metavar="S", help="Seed for the values of the inputs.")] = None,
    check: options.Check = None,
    no_check: options.NoCheck = False,
    explain: options.Explain = False,
    fleet: options.OnFleet,
    report: options.Report,
    markdown: Annotated[
        Optional[Path], Option(metavar="FILE", help="Write a Markdown report for a pull request.")
    ] = None,
    junit: Annotated[Optional[Path], Option(metavar="FILE", help="Write a JUnit XML report.")] = None,
    github: Annotated[
        Optional[bool],
        Option("--github/--no-github", help="Write annotations and a step summary. Default: in GitHub Actions."),
    ] = None,
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

    overrides = {
        "tolerance": tolerance,
        "pairs": pairs,
        "settle": settle,
        "max_pairs": max_pairs,
        "trial_budget": trial_budget,
        "precision": precision,
        "expected": None if expected is None else str(expected),
        "threshold": threshold,
        "processes": processes,
        "framework": framework,
        "environment": environment,
        "device": device,
        "inconclusive": inconclusive,
        "budget": budget,
        "timeout": timeout,
        "cpus": cpus,
        "jobs": jobs,
        "clock": clock,
        "compile_cache": compile_cache,
        "seed": seed,
    }
    file = gate_file(config, overrides, what.plugin or ())
    places = Places(report.format, report.output, markdown, junit, github, report.html, report.plot, report.force)
    places.check([*inputs(operators, what), file.path, file.suite, file.expected])
    check_database(report.database)
    if update_expected and (markdown or junit or report.html or report.plot):
        raise InputError(
            "`--update-expected` compares nothing, so it cannot write a report",
            hint="leave out the report options, or run a second command that compares",
        )
    words = (
        file,
        overrides,
        base,
        new or (),
        update_expected,
        explain,
        checking(check, no_check=no_check),
        labels(report),
        command(),
    )
    order = Gate(*words, fleet=wishes(fleet))
    result = judge(operators or (), request(what), order, Bar())
    if isinstance(result, ExpectationUpdate):
        _tell_updated(result, places)
        code = result.exit_code
    else:
        deliver(result.run, document(result.run, result.judgement), result.judgement, places)
        code = result.judgement.exit_code
    try:
        keep(result.run, report)
    except HarnessError as error:
        if not code and result.cause is None:
            raise
        tell(f"error: {error}")  # the verdict says more
    raise SystemExit(code) if result.cause is None else way_out(result.cause)


def _tell_updated(update: ExpectationUpdate, places: Places) -> None:
    """Print what was measured, and say what is expected now."""
    from opperf.parent.reports.run import document

    output.deliver(document(update.run), places.format, places.output, plural(len(update.run.records), "record"))
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
    """The requested outputs. `github` is None where the environment decides."""

    format: str | None = None
    output: Path | None = None
    markdown: Path | None = None
    junit: Path | None = None
    github: bool | None = None
    html: Path | None = None
    plot: Path | None = None
    force: bool = False

    def check(self, inputs: Sequence[Path | None]) -> None:
        """Raise `InputError` for outputs that cannot be written, before a run; `inputs` are the files to read."""
        from opperf.parent.reports.formats import check_format
        from opperf.parent.reports.gate import MARK, TITLE

        check_format(self.format, checks=True)
        take_output(self.output, force=self.force, inputs=inputs)
        check_report(self.markdown, MARK, force=self.force, inputs=inputs)
        check_report(self.junit, TITLE, force=self.force, inputs=inputs)
        check_pages(self.html, self.plot, force=self.force, inputs=inputs)
        places = (self.output, self.markdown, self.junit, self.html, self.plot)
        texts = [str(place) for place in places if place is not None]
        twice = next((place for place in texts if texts.count(place) > 1), None)
        if twice is not None:
            raise InputError(f"two reports go to `{twice}`", hint="give each a different file", slug="output")


def deliver(run: ComparisonRun, document: Document, judgement: Judgement, places: Places) -> None:
    """Write a report everywhere; data to stdout, annotations and talk to stderr, where GitHub reads them too.

    A file that cannot be written does not stop the others; the first error is raised at the end.
    """
    from opperf.parent.reports import render

    def write(place: Path | None, format: str) -> None:
        if place is not None:
            write_text(place, render(document, format))

    def report() -> None:
        output.deliver(document, places.format, places.output, plural(len(run.comparisons), "comparison"))

    pages = partial(write_pages, run, document, places.html, places.plot)
    writings = (partial(write, places.markdown, "md"), partial(write, places.junit, "junit"), pages, report)
    troubles = [trouble for writing in writings if (trouble := _trouble(writing)) is not None]
    if os.environ.get("GITHUB_ACTIONS") == "true" if places.github is None else places.github:
        sys.stderr.write(render(document, "github"))
        _summarise(render(document, "md"))
    if places.format not in (None, "console"):
        typer.echo(f"gate: {document.summary}", err=True)
    inconclusive = len(judgement.of_kind("inconclusive"))
    if inconclusive and judgement.exit_code == 0:
        typer.echo(f"{inconclusive} inconclusive, which `inconclusive = pass` allows", err=True)
    if troubles:
        raise troubles[0]


def _trouble(write: Callable[[], None]) -> OpperfError | None:
    """Return what keeps something from being written."""
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
