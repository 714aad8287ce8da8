"""What a command prints for people: how wide it may be, in which colours, and talk to stderr that fits as well."""

from __future__ import annotations

import os
import sys
from typing import TextIO

import typer

from opperf.parent.cli.places import emit
from opperf.parent.reports.document import Screen

FILE = Screen()


def screen(stream: TextIO | None = None) -> Screen:
    """Return what is known of the place that a stream goes to, stdout by itself.

    The variable `COLUMNS` says how wide it is, of a pipe too; else the terminal does.
    """
    stream = sys.stdout if stream is None else stream
    terminal = stream is not None and not stream.closed and stream.isatty()
    return Screen(_columns() or (_terminal_columns(stream) if terminal else None), terminal and not _colorless())


def _columns() -> int | None:
    named = os.environ.get("COLUMNS", "")
    return int(named) if named.isascii() and named.isdigit() and len(named) < 6 and int(named) else None


def _colorless() -> bool:
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"


def _terminal_columns(stream: TextIO) -> int | None:
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        return None


def tell(text: str, *, indent: int = 0) -> None:
    """Say something on stderr: every line of it is fit for a terminal, and as wide as it."""
    typer.echo("\n".join(_fold(text, screen(sys.stderr).width, indent)), err=True)


def show(text: str) -> None:
    """Print a line of data on stdout."""
    emit("\n".join(_fold(text, screen().width)) + "\n")


def _fold(text: str, width: int | None, indent: int = 0) -> list[str]:
    from opperf.parent.reports.layout import paragraph

    return [part for line in text.split("\n") for part in paragraph(line, width, indent)]
