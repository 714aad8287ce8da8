"""`opperf capture`: which operators a program or a model runs, as a suite."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from opperf.parent.cli import options

Option = typer.Option
#: How the name of a model's file ends.
MODEL = ".onnx"


def capture(
    code: Annotated[
        str,
        typer.Argument(
            metavar="MODULE:FUNCTION|FILE.onnx",
            help="A function without arguments, or a model file. opperf runs it.",
        ),
    ],
    *,
    framework: Annotated[
        Optional[str],
        Option(
            metavar="F",
            help="Framework to capture: torch, mxnet, jax. Default: what the code imports. Models use ONNX Runtime.",
        ),
    ] = None,
    inputs: options.Input = None,
    environment: Annotated[
        Optional[str],
        Option(
            metavar="E",
            help="Environment to run your code in: `current`, `torch==2.6.0` or `python=PATH`. Default: as for `run`.",
        ),
    ] = None,
    timeout: Annotated[str, Option(metavar="SECONDS", help="Time limit for all calls of the function.")] = "300",
    output: Annotated[
        Optional[Path], Option(metavar="FILE", help="Write the suite to this file instead of stdout.")
    ] = None,
    force: options.Force = False,
) -> None:
    """Write the operators of one call of your function as a suite.

    It has their real shapes, strides, arguments and counts. The function is called several times: to be timed, and what
    the last call runs is captured. Of a model in a file, the nodes are written; `--input` is for those of its inputs
    whose shapes are open.
    """
    from opperf.domain.code import Code, named
    from opperf.domain.errors import InputError
    from opperf.domain.plan import Side
    from opperf.domain.registry import framework as known
    from opperf.domain.units import parse_duration
    from opperf.parent.capture import capture, capture_model
    from opperf.parent.cli.output import suite_text, tell_left_out, write_suite
    from opperf.parent.cli.places import emit, take_output
    from opperf.parent.cli.progress import Bar
    from opperf.parent.sources.user_inputs import foreign_case, pairs

    take_output(output, force=force, inputs=[Path(code), Path(code.rpartition(":")[0])])
    is_model = code.endswith(MODEL)
    owner = framework or ("onnxruntime" if is_model else _imported_by(code)) or "torch"
    side = Side(known(owner).name, environment=environment or "current")
    seconds = parse_duration(timeout, name="`--timeout`")
    if is_model:
        given = foreign_case(code, pairs(inputs or (), "--input"), {}).inputs
        found = capture_model(Path(code), side, given, seconds, Bar().note, named=environment is not None)
    elif inputs:
        raise InputError("`--input` is for a model in a file", hint="a function takes no arguments")
    elif not isinstance(function := named(code), Code):
        raise InputError(f"`{code}` is no function", hint="write `module:function`, `file.py:function` or `model.onnx`")
    else:
        found = capture(function, side, seconds, Bar().note, named=environment is not None)
    if output is None:
        emit(suite_text(found.suite))
    else:
        write_suite(found.suite, output)
    for note in found.notes:
        typer.echo(note, err=True)
    tell_left_out(found.left_out)


def _imported_by(code: str) -> str | None:
    """Return the first framework that the file or module of a function imports by itself; None without one."""
    from opperf.parent.sources.script_text import frameworks_of

    place = code.rpartition(":")[0]
    return next(iter(frameworks_of([place] if place.endswith(".py") else ["-m", place])), None)
