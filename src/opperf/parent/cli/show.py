"""`opperf show`: print documents that opperf wrote again, in any format or as a page; results of several merged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from opperf.domain.errors import InputError
from opperf.domain.units import plural
from opperf.parent.cli import options

if TYPE_CHECKING:
    from opperf.parent.pages.figures import Result
    from opperf.parent.reports.document import Document


def show(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Result files or journals to print.")],
    *,
    by: options.By = "operator",
    top: options.Top = None,
    format: options.CheckFormat = None,
    output: options.Output = None,
    html: options.Html = None,
    plot: options.Plot = None,
    force: options.Force = False,
) -> None:
    """Print stored results in any format, or write them as a page.

    Several result files are shown together, with columns for run, date, machine and label. Show comparisons, gates,
    judgements, noise floors and replays one file at a time.
    """
    from opperf.domain.record import Run
    from opperf.parent.cli.output import check_pages, deliver, write_pages
    from opperf.parent.store.output_lock import check_place

    check_place(output, inputs=files)
    check_pages(html, plot, force=force, inputs=files)
    result, document = _read(files, by, top)
    run = result if isinstance(result, Run) else result.run
    count = plural(len(run.records), "record") if run.records else document.summary
    deliver(document, format, output, count)
    write_pages(result, document, html, plot)


def _read(files: Sequence[Path], by: str, top: int | None) -> tuple[Result, Document]:
    """Return the content of files and its report; raises `InputError` for files that cannot be shown together."""
    from opperf.parent.commands.load import read_document, read_results
    from opperf.parent.documents.bisection import Bisection
    from opperf.parent.documents.candidates import JudgedRun
    from opperf.parent.documents.comparison import ComparisonRun
    from opperf.parent.documents.exploration import Exploration
    from opperf.parent.documents.floor import NoiseRun
    from opperf.parent.documents.judgement import GateDocument
    from opperf.parent.documents.suite_change import SuiteChange
    from opperf.parent.documents.trace import Replay
    from opperf.parent.documents.what_if import WhatIfRun
    from opperf.parent.reports import gate, report_of
    from opperf.parent.reports.run import merge

    if len(files) == 1 and files[0].suffix != ".journal":
        loaded, single = read_document(files[0]), (WhatIfRun, NoiseRun, JudgedRun, Exploration, Bisection)
        if isinstance(loaded, (ComparisonRun, SuiteChange)):
            return loaded, report_of(loaded, by=by)
        if by == "group" and isinstance(loaded, (GateDocument, Replay, *single)):
            raise InputError(f"`{files[0]}` has no rows to group", hint="`--by` is for results of `run` and `compare`")
        if isinstance(loaded, GateDocument):
            return loaded.run, gate.document(loaded.run, loaded.judgement)
        if isinstance(loaded, single):
            return loaded, report_of(loaded)
        if isinstance(loaded, Replay):
            return loaded, report_of(loaded, top=top)
    run = merge([read_results(file) for file in files])
    return run, report_of(run, by=by, top=top)
