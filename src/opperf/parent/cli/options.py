"""The options of commands that only a command line has: where a report goes, and what a run keeps.

What is measured, where and how the library and files say too: those options are declared in `sources/options`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional, TypeAlias

import typer

from opperf.domain.dataclass import dataclass
from opperf.parent.cli import completion
from opperf.parent.reports.formats import join_words, names
from opperf.parent.sources.option import Option, one_of, option
from opperf.parent.sources.options import Labels, What
from opperf.parent.workers.passwords import own_command

if TYPE_CHECKING:
    from opperf.parent.measuring.session import Options


def _operators(text: str) -> Any:
    return typer.Argument(metavar="OPERATOR...", help=text, autocompletion=completion.operators)


Words: TypeAlias = Optional[list[str]]
Operators = Annotated[Words, _operators("Operators to use, such as `add` or `mxnet:nd.broadcast_add`.")]
#: Operators, or what stands in other tools' files.
Subjects = Annotated[
    Words,
    _operators("Operators to use (`add`, `mxnet:nd.topk`), functions (`mine.py:f`) or benchmarks (`asv:FOLDER`)."),
]
Format = Annotated[Optional[str], Option("F", f"Output format: {join_words(names())}.", one_of("format", names()))]
#: Of a report that says what passed.
CheckFormat = Annotated[
    Optional[str],
    Option("F", f"Output format: {join_words(names(checks=True))}.", one_of("format", names(checks=True))),
]
Output = Annotated[
    Optional[Path], Option("FILE", "Write the results to this file. A run also keeps a journal next to it.")
]
Html = Annotated[Optional[Path], Option("FILE", "Write a page with charts and tables to this file.")]
Plot = Annotated[Optional[Path], Option("FILE", "Write the charts to this file, as SVG.")]
Force = Annotated[bool, Option("", "Overwrite existing files.")]
Top = Annotated[Optional[int], typer.Option(metavar="N", min=1, help="Maximum number of rows to print.")]
By = Annotated[
    str,
    Option(
        "operator|group",
        "Print a row for each case, or for each group of operators.",
        one_of("grouping", ("operator", "group")),
    ),
]
SaveSuite = Annotated[
    Optional[Path], Option("FILE", "Write the cases to a suite file, for `run`, `compare` and `gate`.")
]
ResumeSearch = Annotated[Optional[Path], Option("FILE", "Continue an interrupted search from its journal.")]
#: The commands whose `--database` may be given without a value, for the default database.
STORING = ("run", "compare", "contrast", "gate", "noise", "replay", "nightly", "judge")


@dataclass(frozen=True)
class Keeping:
    """Where a run writes, and what it resumes."""

    no_samples: bool = option(False, "", "Keep only summaries, not samples.")
    strict: bool = option(False, "", "Exit with code 3 if any trial failed.")
    dry_run: bool = option(False, "", "Print the plan without measuring.")
    resume: Optional[Path] = option(None, "FILE", "Continue an interrupted run from its file or journal.")


@dataclass(frozen=True)
class Report:
    """What comes out."""

    labels: Labels = field(default_factory=dict)
    format: CheckFormat = None
    output: Output = None
    html: Html = None
    plot: Plot = None
    database: Optional[str] = option(
        None,
        "[FILE|URL]",
        "Add the results to a database. Default: $OPPERF_DATABASE, opperf.toml, then your user database.",
    )
    asv_results: Optional[Path] = option(
        None, "DIR", "Write results of `asv:FOLDER` to asv's folder of results too, which `asv publish` reads."
    )
    force: Force = False


@dataclass(frozen=True)
class Reviewing:
    """Where else a verdict on a change goes. `github` is None where the environment decides."""

    markdown: Optional[Path] = option(None, "FILE", "Write a Markdown report.")
    junit: Optional[Path] = option(None, "FILE", "Write a JUnit XML report.")
    github: Optional[bool] = option(None, "", "Write annotations and a step summary. Default: in GitHub Actions.")


def verb_application(**attributes: Any) -> typer.Typer:
    """Return an application for one verb of `opperf`, with the attributes that all have."""
    return typer.Typer(add_completion=False, rich_markup_mode=None, **attributes)


def inputs(operators: Sequence[str] | None, what: What, config: Sequence[Path] = ()) -> list[Path | None]:
    """Return the files that a command reads, which it must not write: the user's own code among them."""
    code = [Path(match[1]) for name in operators or () if (match := re.match(r"(?:.*?code:)?(.+\.py)(?::|$)", name))]
    suite = what.suite if isinstance(what.suite, Path) else None
    return [suite, what.shapes, *config, *what.plugin, *code]


def run_options(keeping: Keeping, report: Report) -> Options:
    """Return the options of a run; a resumed run continues in its own file unless another one is named."""
    from opperf.parent.measuring.session import Options

    return Options(
        output=report.output or keeping.resume,
        resume=keeping.resume,
        labels=report.labels,
        keep_samples=not keeping.no_samples,
        command=command(),
    )


def command() -> tuple[str, ...]:
    """Return the command line, as reports have it: without passwords."""
    return ("opperf", *own_command()[1:])


def with_values(words: Sequence[str]) -> list[str]:
    """Return a command line whose `--database` has a value, which is empty where the user gave none.

    >>> with_values(["run", "add", "--database", "--format", "csv"])
    ['run', 'add', '--database=', '--format', 'csv']
    """
    if not words or words[0] not in STORING:
        return [*words]
    return [
        "--database=" if word == "--database" and (not after or after.startswith("-")) else word
        for word, after in zip(words, [*words[1:], ""])
    ]
