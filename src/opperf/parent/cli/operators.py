"""`opperf operators`: what can be measured."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from opperf.parent.cli import completion, options
from opperf.parent.sources.options import Plugin


def operators(
    patterns: Annotated[
        Optional[list[str]],
        typer.Argument(
            metavar="[PATTERN]...",
            help="List only names that match a pattern, such as `conv*`.",
            autocompletion=completion.operators,
        ),
    ] = None,
    *,
    category: Annotated[
        options.Words,
        typer.Option(
            metavar="C",
            help="List only operators of this category or group. Repeatable.",
            autocompletion=completion.categories,
        ),
    ] = None,
    framework: Annotated[
        Optional[list[str]],
        typer.Option(
            metavar="F",
            help="Show how this framework implements each operator. Repeatable.",
            autocompletion=completion.frameworks,
        ),
    ] = None,
    plugin: Plugin = (),
    format: options.Format = None,
) -> None:
    """List the operators with their directions and arguments.

    With `--framework`, show how it supports each; without it, no framework is imported. Operators of plugins come last.
    """
    from opperf.parent.cli.output import deliver, tell
    from opperf.parent.commands.listing import listing

    _, report = listing(patterns or (), category or (), framework or (), tell, plugin)
    deliver(report, format)
