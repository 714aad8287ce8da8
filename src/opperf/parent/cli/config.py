"""`opperf config`: look at PARAM's benchmark configs without running them."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from opperf.domain.units import plural
from opperf.parent.cli import options
from opperf.parent.cli.output import show, tell
from opperf.parent.sources.options import Plugin

if TYPE_CHECKING:
    from opperf.param.config import ConfiguredOperator, Workloads
    from opperf.param.problems import Problems
    from opperf.parent.workers.pool import Pool

app = options.verb_application(help="Check PARAM's benchmark configs, or print their schema.", no_args_is_help=True)


@app.command("check")
def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Config files.")], plugin: Plugin = ()
) -> None:
    """Check configs, and report every mistake with its location.

    Each report says what was found and what was expected. opperf starts a framework only if a config names operators
    that are not PARAM's, or if a plugin's iterators or data generators have to run.

    Exit codes: 0 every config is right, 2 one is not.
    """
    from opperf.domain.errors import InputError
    from opperf.domain.plan import Settings
    from opperf.parent.sources.plugin_file import plugin_file, workloads
    from opperf.parent.workers.pool import Pool

    wrong = 0
    plugin_workloads = workloads([plugin_file(path) for path in plugin], installed=True, note=tell)
    with Pool(Settings(), tell, plugin_workloads.plugins) as pool:
        for file in files:
            try:
                show(_check(file, pool, plugin_workloads))
            except InputError as error:
                wrong += 1
                tell(f"error: {error}")
    if wrong:
        raise typer.Exit(2)


def _check(file: Path, pool: Pool, plugin_workloads: Workloads) -> str:
    """Return the sentence on a sound config; raises `InputError` for another."""
    from opperf.domain.plan import Side
    from opperf.param.config import notes
    from opperf.param.document import examine
    from opperf.param.problems import refuse
    from opperf.parent.planning.configs import unknown_operators
    from opperf.parent.workers.interpreters import settled_side

    config, problems = examine(file, plugin_workloads)
    for note in notes([config]):
        tell(f"note: {note}")
    frameworks = (operator.meaning.framework for operator in config.operators if not operator.meaning.certain)
    for framework in dict.fromkeys(name for name in frameworks if name is not None):
        side = settled_side(Side(framework))
        problems.mistakes += unknown_operators(config, framework, partial(pool.describe, side)).mistakes
    refuse(str(file), problems.mistakes)
    count = sum(_count(operator, pool, problems) for operator in config.operators)
    refuse(str(file), problems.mistakes)
    return f"{file}: {plural(len(config.operators), 'operator')}, {plural(count, 'case')}"


def _count(operator: ConfiguredOperator, pool: Pool, problems: Problems) -> int:
    """Return how many cases an operator has; what the user's own code makes of it may be wrong."""
    from opperf.domain.message.replies import Meaning
    from opperf.domain.plan import Side
    from opperf.param.cases import operator_cases
    from opperf.parent.planning.configs import USUAL, settle
    from opperf.parent.planning.implementations import as_implemented, own_meaning
    from opperf.parent.workers.interpreters import settled_side

    side = Side(operator.meaning.framework or USUAL)
    if operator.meaning.is_own or not operator.is_complete:
        side = settled_side(side)  # a framework that is not asked need not be installed
    code = operator.meaning.code
    sense = Meaning() if code is None else own_meaning(code, side, pool.describe)
    complete = settle(operator, partial(pool.workload, side), problems)
    if problems.mistakes:
        return 0
    return len([as_implemented(row.case, sense) for row in operator_cases(complete, 0)])


@app.command("schema")
def schema() -> None:
    """Print the JSON schema of configs."""
    from opperf.param.schema import schema as json_schema

    typer.echo(json.dumps(json_schema(), indent=2))
