"""The formats of reports: each is one file, whose `render` makes text of any document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TypeAlias

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import check_known
from opperf.parent.reports.document import Document, Screen

Renderer: TypeAlias = Callable[[Document, Screen], str]


@dataclass(frozen=True)
class Format:
    """A format: the module that renders it, imported on first use, and the suffix of its files.

    One `of_checks` says nothing of a document that checks nothing.
    """

    module: str
    suffix: str | None = None
    of_checks: bool = False


FORMATS = {
    "console": Format(f"{__name__}.console"),
    "json": Format(f"{__name__}.json", ".json"),
    "csv": Format(f"{__name__}.csv", ".csv"),
    "md": Format(f"{__name__}.markdown", ".md"),
    "html": Format(f"{__name__}.html", ".html"),
    "junit": Format(f"{__name__}.junit", of_checks=True),
    "github": Format(f"{__name__}.github", of_checks=True),
}


def names(*, checks: bool = False) -> list[str]:
    """Return the formats of a report, with those of checks where it has some."""
    return [name for name, one in FORMATS.items() if checks or not one.of_checks]


def join_words(words: Sequence[str]) -> str:
    """Write words as a choice.

    >>> join_words(["json", "csv", "md"])
    'json, csv or md'
    """
    return " or ".join([", ".join(words[:-1]), words[-1]])


def check_format(name: str | None, *, checks: bool = False) -> None:
    """Raise `InputError` for an unknown format, or for a format of checks where a report has none."""
    if name is not None:
        check_known("format", name, names(checks=checks))


def renderer(name: str) -> Renderer:
    """Return the renderer of a format; raises `InputError` for one that is not known."""
    check_format(name, checks=True)
    render: Renderer = import_module(FORMATS[name].module).render
    return render
