"""The command `opperf`: its verbs put together.

0 every trial has a record; 2 bad usage or input; 3 the harness failed, or nothing was measured and something failed;
130 on Ctrl-C. `opperf gate` alone adds 1, a regression, and 4, inconclusive; it leaves with 3 when a side could not be
measured. `opperf profile` leaves with the exit code of the script.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from opperf.parent.cli.exit import Debug, debuggable, obey, show_tracebacks
from opperf.parent.cli.help import GroupedCommand
from opperf.parent.cli.options import verb_application, with_values

if TYPE_CHECKING:
    from typer._click.core import Command, Context
    from typer._click.formatting import HelpFormatter

#: The verbs in the order of the help. The module of that name has a function of that name, or an application.
VERBS = (
    "run",
    "compare",
    "contrast",
    "replay",
    "profile",
    "capture",
    "gate",
    "nightly",
    "noise",
    "bisect",
    "explore",
    "judge",
    "show",
    "operators",
    "doctor",
    "history",
    "serve",
    "config",
    "env",
)

#: What asks for help.
HELP = {"help_option_names": ["-h", "--help"]}


@cache
def _application(verb: str) -> typer.Typer:
    """Return the application of a verb: its module's own, or one of the module's function."""
    module = import_module(f"opperf.parent.cli.{verb}")
    app: typer.Typer | None = getattr(module, "app", None)
    if app is None:
        app = verb_application()
        app.command(verb, cls=GroupedCommand)(getattr(module, verb))
    return app if verb == "profile" else debuggable(app)  # what stands behind a script is the script's


@cache
def _command(verb: str) -> Command:
    command = get_command(_application(verb))
    _offer_help(command)
    return command


def _offer_help(command: Command) -> None:
    """Give a command both options of help, also where it is asked apart from the group that would hand them on."""
    command.context_settings.update(HELP)
    for part in getattr(command, "commands", {}).values():
        _offer_help(part)


class Commands(Mapping[str, "Command"]):
    """The command of each verb, made when it is used: to make those of all takes as long as Python's start."""

    def __getitem__(self, verb: str) -> Command:
        if verb not in VERBS:
            raise KeyError(verb)
        return _command(verb)

    def __iter__(self) -> Iterator[str]:
        return iter(VERBS)

    def __len__(self) -> int:
        return len(VERBS)


class Verbs(TyperGroup):
    """The group of all verbs, which makes no command to list them."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = Commands()  # type: ignore[assignment]  # nothing is added to them

    def list_commands(self, ctx: Context) -> list[str]:
        """Return the verbs."""
        return [*VERBS]

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write each verb with its summary."""
        width = formatter.width - 6 - max(map(len, VERBS))
        with formatter.section("Commands"):
            formatter.write_dl([(verb, _summary(verb, width)) for verb in VERBS])


def _summary(verb: str, width: int) -> str:
    module = import_module(f"opperf.parent.cli.{verb}")
    text = inspect.getdoc(getattr(module, verb)) if hasattr(module, verb) else module.app.info.help
    return TyperCommand(verb, help=text).get_short_help_str(width)


app = typer.Typer(
    name="opperf",
    cls=Verbs,
    help="Measure deep-learning operators on any framework, with numbers you can trust.",
    no_args_is_help=True,
    context_settings=HELP,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def version(
    *, version: bool = typer.Option(False, "--version", help="Print the version and exit."), debug: Debug = False
) -> None:
    """Measure deep-learning operators on any framework, with numbers you can trust."""
    if debug:
        show_tracebacks()
    if version:
        from opperf import __version__

        typer.echo(f"opperf {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line and exit with its code."""
    sys.argv[1:] = with_values(sys.argv[1:])
    obey(partial(app, standalone_mode=False))  # wrong words are told as every other error
