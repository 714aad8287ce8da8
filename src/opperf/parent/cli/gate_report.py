"""Where a gate's report goes: the report itself, and what a CI system shows of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from opperf.domain.errors import InputError, OpperfError
from opperf.domain.files.destination import write_text
from opperf.parent.cli import output
from opperf.parent.cli.pages import check_pages, write_pages
from opperf.parent.cli.places import check_report, take_output

if TYPE_CHECKING:
    from opperf.domain.comparison import ComparisonRun
    from opperf.domain.judgement import Judgement


@dataclass(frozen=True)
class Places:
    """Where the user wants what. `github` is None where the surroundings decide."""

    format: str | None = None
    output: Path | None = None
    markdown: Path | None = None
    junit: Path | None = None
    github: bool | None = None
    html: Path | None = None
    plot: Path | None = None
    force: bool = False

    def check(self, inputs: Sequence[Path | None]) -> None:
        """Raise `InputError` for what cannot be written, before anything runs; `inputs` are what the gate reads."""
        from opperf.parent.reports.formats import check_format
        from opperf.parent.reports.gate import MARK, TITLE

        check_format(self.format, checks=True)
        take_output(self.output, force=self.force, inputs=inputs)
        check_report(self.markdown, MARK, force=self.force, inputs=inputs)
        check_report(self.junit, TITLE, force=self.force, inputs=inputs)
        check_pages(self.html, self.plot, force=self.force, inputs=inputs)
        places = (self.output, self.markdown, self.junit, self.html, self.plot)
        named = [str(place) for place in places if place is not None]
        twice = next((place for place in named if named.count(place) > 1), None)
        if twice is not None:
            raise InputError(f"two reports go to `{twice}`", hint="give each a file of its own", slug="output")


def deliver(run: ComparisonRun, judgement: Judgement, places: Places) -> None:
    """Write the report everywhere; data to stdout, annotations and talk to stderr, where GitHub reads them too.

    What cannot be written keeps none of the others back; the first such trouble is raised at the end.
    """
    from opperf.parent.reports import render
    from opperf.parent.reports.gate import document

    made = document(run, judgement)

    def write(place: Path | None, format: str) -> None:
        if place is not None:
            write_text(place, render(made, format))

    def report() -> None:
        output.deliver(made, places.format, places.output, f"{len(run.comparisons)} comparisons")

    pages = partial(write_pages, run, made, places.html, places.plot)
    writings = (partial(write, places.markdown, "md"), partial(write, places.junit, "junit"), pages, report)
    troubles = [trouble for writing in writings if (trouble := _trouble(writing)) is not None]
    if os.environ.get("GITHUB_ACTIONS") == "true" if places.github is None else places.github:
        sys.stderr.write(render(made, "github"))
        _summarise(render(made, "md"))
    if places.format not in (None, "console"):
        typer.echo(f"gate: {made.summary}", err=True)
    passed = len(judgement.of_kind("inconclusive"))
    if passed and judgement.exit_code == 0:
        typer.echo(f"{passed} inconclusive, let through by `inconclusive = pass`", err=True)
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
