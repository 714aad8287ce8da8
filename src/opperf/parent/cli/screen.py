"""What a command prints for people: how wide it may be, in which colours, and talk to stderr that fits as well."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

import typer

from opperf.parent.cli.places import emit

if TYPE_CHECKING:
    from opperf.parent.reports.layout import Block


@dataclass(frozen=True)
class Screen:
    """Where a report is read: `width` is None where lines may be as long as they need, as in a file or a pipe."""

    width: int | None = None
    color: bool = False


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
    from opperf.parent.reports.layout import paragraph

    width = screen(sys.stderr).width
    lines = (part for line in text.split("\n") for part in paragraph(line, width, indent))
    typer.echo("\n".join(lines), err=True)


def show(blocks: Iterable[Block]) -> None:
    """Print tables and notes on stdout."""
    from opperf.parent.reports import layout

    place = screen()
    emit(layout.text(blocks, width=place.width, color=place.color))
