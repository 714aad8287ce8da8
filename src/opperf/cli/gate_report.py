"""Where a gate's report goes: the report itself, and what a CI system shows of it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from opperf.cli.output import check_format, check_place, write_report
from opperf.destination import write_text

if TYPE_CHECKING:
    from opperf.comparison import ComparisonRun
    from opperf.judgement import Judgement


@dataclass(frozen=True)
class Places:
    """Where the user wants what. `github` is None where the surroundings decide."""

    format: str | None = None
    output: Path | None = None
    markdown: Path | None = None
    junit: Path | None = None
    github: bool | None = None

    def check(self) -> None:
        """Raise `InputError` for what cannot be written, before anything runs."""
        check_format(self.format, self.output)
        check_place(self.markdown)
        check_place(self.junit)


def deliver(run: ComparisonRun, judgement: Judgement, places: Places) -> None:
    """Write the report everywhere; data to stdout, annotations and talk to stderr, where GitHub reads them too."""
    from opperf.reports import findings, gate, github, junit, pull_request

    what = f"{len(run.comparisons)} comparisons"
    write_report(lambda chosen: gate.render(run, judgement, chosen), places.format, places.output, what)
    if places.markdown is not None:
        write_text(places.markdown, pull_request.render(run, judgement))
    if places.junit is not None:
        write_text(places.junit, junit.render(run, judgement))
    if os.environ.get("GITHUB_ACTIONS") == "true" if places.github is None else places.github:
        sys.stderr.write(github.workflow_commands(judgement))
        _summarise(pull_request.render(run, judgement))
    if places.format not in (None, "console"):
        typer.echo(f"gate: {findings.headline(judgement)}", err=True)
    passed = len(judgement.of_kind("inconclusive"))
    if passed and judgement.exit_code == 0:
        typer.echo(f"{passed} inconclusive, let through by `inconclusive = pass`", err=True)


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
