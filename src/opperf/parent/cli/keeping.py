"""Where a command's results go when it ends: a report, pages, a database; each place is taken before it measures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from opperf.domain.errors import HarnessError, InputError, OpperfError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from opperf.parent.cli.options import Keeping, Report
    from opperf.parent.commands.history import Result
    from opperf.parent.pages import figures
    from opperf.parent.reports.document import Document


def check_asv_results(report: Report, operators: Iterable[str] | None) -> None:
    """Raise `InputError` where results for asv are to be written, and no suite of asv is named."""
    if report.asv_results is not None and not any(name.startswith("asv:") for name in operators or ()):
        hint = "name one: `opperf run asv:benchmarks/ --asv-results DIR`"
        raise InputError("`--asv-results` writes results of an asv suite, and none is named", hint=hint)


def lock_outputs(report: Report, inputs: Iterable[Path | None], keeping: Keeping | None = None) -> None:
    """Hold the places that a report goes to, none of which is among the `inputs`; raises `InputError`.

    A resumed run continues in its own file unless another one is named.
    """
    from opperf.parent.cli.output import check_pages
    from opperf.parent.cli.places import take_output

    resume, read = None if keeping is None else keeping.resume, [*inputs]
    take_output(report.output or resume, force=report.force, inputs=read, resume=resume, resumes=keeping is not None)
    check_pages(report.html, report.plot, force=report.force, inputs=read)
    check_database(report.database)


def publish(result: figures.Result, document: Document, report: Report, what: str, output: Path | None = None) -> None:
    """Print or write a report and the requested pages; `what` describes the content of a file."""
    from opperf.parent.cli.output import deliver, write_pages

    deliver(document, report.format, output or report.output, what)
    write_pages(result, document, report.html, report.plot)


def check_database(database: str | None) -> None:
    """Raise `InputError` for an address that cannot be read, before anything is measured."""
    if database is not None:
        from opperf.parent.commands.history import address

        address(database)


def keep(result: Result, report: Report) -> None:
    """Add a result to the database that the user named with `--database`; without it, do nothing.

    Raises `HarnessError` where that fails, and says which file has the result: that of `--output`, or a new one.
    """
    from opperf.parent.cli.output import tell

    if report.asv_results is not None:
        from opperf.domain.record import Run
        from opperf.parent.commands.asv_results import write_results
        from opperf.parent.documents.comparison import ComparisonRun

        if isinstance(result, (Run, ComparisonRun)):
            write_results(report.asv_results, result, tell)
    if report.database is None:
        return
    from opperf.parent.commands.history import archive, run_of

    try:
        with archive(report.database, create=True) as store:
            store.add(result)
            tell(f"added run {run_of(result).id} to {store.address}")
    except OpperfError as error:
        file = report.output or _write(result)
        raise HarnessError(
            f"{error.message}; the results are in {file}", hint=f"add them later: `opperf history add {file}`"
        ) from error


def _write(result: Result) -> Path:
    from opperf.domain.files.destination import write_text
    from opperf.parent.commands.history import run_of

    file = Path(f"opperf-{run_of(result).id}.json")
    write_text(file, json.dumps(result.to_json(), allow_nan=False) + "\n")
    return file
