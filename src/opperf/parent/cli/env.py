"""`opperf env`: list, build and remove the environments that frameworks are measured in."""

from __future__ import annotations

from typing import Annotated

import typer

from opperf.domain.environment import EnvironmentSpec, preset
from opperf.domain.errors import InputError
from opperf.domain.registry import PRESETS
from opperf.parent.cli.screen import show, tell
from opperf.parent.reports.layout import Grid, Heading
from opperf.parent.workers import environments, interpreters
from opperf.parent.workers.environments import Built

app = typer.Typer(help="Manage the environments that frameworks are measured in.", no_args_is_help=True)

_NAME = typer.Argument(metavar="NAME", help="A framework (`mxnet`) or a requirement (`numpy==1.26.4`).")
_HEADINGS = (
    Heading("environment", least=16),
    Heading("frameworks", least=10),
    Heading("python", rank=1),
    Heading("size", rank=0),
    Heading("age", rank=2),
    Heading("name", least=12),
)


@app.command("list")
def list_environments() -> None:
    """Show the environments: the current one, those built and not yet."""
    built = environments.environments()
    here = ", ".join(interpreters.importable()) or "-"
    there = {environment.requirements for environment in built}
    known = {name: owner for name, (owner, requirements) in PRESETS.items() if requirements}
    presets = [(name, owner) for name, owner in known.items() if preset(name).requirements not in there]
    rows = [
        ("current", here, "-", "-", "-", "-"),
        *(_row(environment) for environment in built),
        *((name, owner, "-", "-", "not built", "-") for name, owner in presets),
    ]
    show([Grid(_HEADINGS, rows, whole="a wider terminal or a pipe has every column")])


@app.command()
def create(name: Annotated[str, _NAME]) -> None:
    """Build an environment, unless it is there already."""
    built = environments.create(EnvironmentSpec.parse(name), progress=_say)
    _say(f"{built.name}: Python {built.python}, {', '.join(built.frameworks) or 'no framework'}")


@app.command()
def remove(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="Requirements, or a name from `opperf env list`.")] = "",
    *,
    every: Annotated[bool, typer.Option("--all", help="Remove every environment.")] = False,
) -> None:
    """Remove an environment that opperf built."""
    if every == bool(name):
        raise InputError("name an environment to remove, or give `--all`", hint="`opperf env list` shows what there is")
    removed = environments.remove_all(progress=_say) if every else environments.remove(name, progress=_say)
    for folder in removed:
        _say(f"removed {folder}")
    if not removed:
        _say("nothing to remove")


@app.command()
def python(name: Annotated[str, _NAME]) -> None:
    """Print the path of an environment's Python.

    The environment is built where it is missing.

    `$(opperf env python mxnet) script.py` runs a script there.
    """
    spec = EnvironmentSpec.parse(name)
    # Where the text names no framework, null will do: it asks for nothing but Python.
    typer.echo(interpreters.interpreter(spec, framework=spec.framework or "null", progress=_say))


def _row(built: Built) -> tuple[str, ...]:
    return (
        built.text,
        ", ".join(built.frameworks) or "-",
        built.python,
        f"{built.size / 2**20:.0f} MiB",
        _ago(built.age),
        built.name,
    )


def _ago(seconds: float) -> str:
    """Return an age in its largest whole unit.

    >>> _ago(7300)
    '2 h'
    """
    for length, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def _say(text: str) -> None:
    tell(text)
