"""`opperf config`: look at PARAM's benchmark configs without running them."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from opperf.workers.pool import Pool

app = typer.Typer(help="Check PARAM's benchmark configs, or print their schema.", no_args_is_help=True)


@app.command("check")
def check(files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Configs.")]) -> None:
    """Check configs whole: every mistake with its place, what was found and what was expected.

    A framework is asked for its own names, where there are others than PARAM's.
    """
    from opperf.errors import InputError
    from opperf.plan import Settings
    from opperf.workers.pool import Pool

    wrong = 0
    with Pool(Settings(), lambda text: typer.echo(text, err=True)) as pool:
        for file in files:
            try:
                typer.echo(_checked(file, pool))
            except InputError as error:
                wrong += 1
                typer.echo(f"error: {error}", err=True)
    if wrong:
        raise typer.Exit(2)


def _checked(file: Path, pool: Pool) -> str:
    """Return what to say of a sound config; raises `InputError` for another."""
    from opperf.plan import Side
    from opperf.planning.configured import unknown_operators
    from opperf.session import settled_side
    from opperf.sources.param.cases import cases
    from opperf.sources.param.config import notes
    from opperf.sources.param.document import examined
    from opperf.sources.param.problems import refuse

    config, problems = examined(file)
    for note in notes([config]):
        typer.echo(f"note: {note}", err=True)
    asked = (known.meaning.framework for known in config.operators if not known.meaning.certain)
    for framework in dict.fromkeys(name for name in asked if name is not None):
        side = settled_side(Side(framework))
        problems.found += unknown_operators(config, framework, partial(pool.describe, side)).found
    refuse(str(file), problems.found)
    return f"{file}: {len(config.operators)} operators, {sum(1 for _ in cases(config, 0))} cases"


@app.command("schema")
def schema() -> None:
    """Print the JSON schema of configs."""
    from opperf.sources.param.schema import schema as made

    typer.echo(json.dumps(made(), indent=2))
