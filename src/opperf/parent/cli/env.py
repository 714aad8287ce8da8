"""`opperf env`: list, build and remove the environments that frameworks are measured in."""

from __future__ import annotations

from typing import Annotated

import typer

from opperf.parent.cli import options
from opperf.parent.workers.passwords import environment_of

app = options.verb_application(help="Manage the environments that frameworks are measured in.", no_args_is_help=True)

_NAME = typer.Argument(metavar="NAME", help="A framework (`mxnet`) or a requirement (`numpy==1.26.4`).")


@app.command("list")
def list_environments(*, format: options.Format = None) -> None:
    """Show the environments: current, built, and not built yet."""
    from opperf.domain.registry import PRESETS
    from opperf.parent.cli.output import deliver
    from opperf.parent.documents.environment import preset
    from opperf.parent.reports.environments import document
    from opperf.parent.workers import environments, interpreters

    built = environments.environments()
    there = {environment.requirements for environment in built}
    with_requirements = {name: owner for name, (owner, requirements) in PRESETS.items() if requirements}
    presets = {name: owner for name, owner in with_requirements.items() if preset(name).requirements not in there}
    deliver(document(interpreters.importable(), built, presets), format)


@app.command()
def create(name: Annotated[str, _NAME]) -> None:
    """Build an environment, unless it exists already."""
    from opperf.parent.workers import environments

    environment = environments.create(environment_of(name), progress=_say)
    _say(f"{environment.name}: Python {environment.python}, {', '.join(environment.frameworks) or 'no framework'}")


@app.command()
def remove(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="Requirements, or a name from `opperf env list`.")] = "",
    *,
    every: Annotated[bool, typer.Option("--all", help="Remove every environment.")] = False,
) -> None:
    """Remove an environment that opperf built."""
    from opperf.domain.errors import InputError
    from opperf.parent.workers import environments

    if every == bool(name):
        raise InputError("name an environment to remove, or give `--all`", hint="`opperf env list` shows them")
    names = environments.remove_all(progress=_say) if every else environments.remove(name, progress=_say)
    for folder in names:
        _say(f"removed {folder}")
    if not names:
        _say("nothing to remove")


@app.command()
def python(name: Annotated[str, _NAME]) -> None:
    """Print the path of an environment's Python.

    Build the environment if it is missing.

    To run a script in it: `$(opperf env python mxnet) script.py`.
    """
    from opperf.parent.workers import interpreters

    spec = environment_of(name)
    # Where the text names no framework, null will do: it asks for nothing but Python.
    typer.echo(interpreters.interpreter(spec, framework=spec.framework or "null", progress=_say))


def _say(text: str) -> None:
    from opperf.parent.cli.output import tell

    tell(text)
