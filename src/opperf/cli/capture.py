"""`opperf capture`: which operators a program runs, as a suite."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

if TYPE_CHECKING:
    from opperf.trace import LeftOut

Option = typer.Option


def capture(
    code: Annotated[
        str, typer.Argument(metavar="MODULE:FUNCTION", help="A function of yours that takes no arguments; it is run.")
    ],
    *,
    framework: Annotated[str, Option(metavar="F", help="Whose operators: torch, mxnet or jax.")] = "torch",
    environment: Annotated[
        str, Option(metavar="E", help="`torch`, `torch==2.6.0` or `python=PATH`: where your code runs.")
    ] = "current",
    timeout: Annotated[str, Option(metavar="SECONDS", help="Time for both calls of the function.")] = "300",
    output: Annotated[Optional[Path], Option(metavar="FILE", help="Write the suite there, not to stdout.")] = None,
) -> None:
    """Write the operators of one call of your function as a suite, with real shapes, strides, arguments and counts.

    The function is called twice, and what the second call runs is captured.
    """
    from opperf.capturing import capture
    from opperf.cli.output import check_place
    from opperf.cli.progress import Bar
    from opperf.errors import InputError
    from opperf.plan import Side
    from opperf.registry import framework as known
    from opperf.registry import is_code
    from opperf.store.run_file import write_text
    from opperf.units import parse_duration

    check_place(output)
    if not is_code(code):
        raise InputError(f"`{code}` is no function", hint="write `module:function` or `file.py:function`")
    side = Side(known(framework).name, environment=environment)
    found = capture(code, side, parse_duration(timeout, name="`--timeout`"), Bar().note)
    text = json.dumps(found.suite.to_json(), indent=1) + "\n"
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_text(output, text)
        calls = sum(entry.count for entry in found.suite.cases)
        typer.echo(f"wrote {output}: {len(found.suite.cases)} cases of {calls} calls", err=True)
    for one in found.left_out:
        typer.echo(_told(one), err=True)


def _told(one: LeftOut) -> str:
    return f"left out: {one.name}, {one.count} calls: {one.reason}"
