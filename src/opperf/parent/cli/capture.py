"""`opperf capture`: write the operators of a program or model as a suite."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from opperf.parent.cli import options
from opperf.parent.sources.option import SECONDS, Option
from opperf.parent.sources.options import INPUT, Names, Plugin


def capture(
    code: Annotated[
        list[str],
        typer.Argument(
            metavar="MODULE:FUNCTION...|FILE.onnx",
            help="Functions without arguments, or a model file. opperf runs them.",
        ),
    ],
    *,
    framework: Annotated[
        Optional[str],
        Option(
            "F",
            "Framework to capture: torch, mxnet, jax, tensorflow. Default: what the code imports. "
            "Models use ONNX Runtime.",
        ),
    ] = None,
    inputs: Annotated[Names, INPUT] = (),
    environment: Annotated[
        Optional[str],
        Option(
            "E",
            "Environment to run your code in: `current`, `torch==2.6.0` or `python=PATH`. Default: as for `run`.",
        ),
    ] = None,
    plugin: Plugin = (),
    timeout: Annotated[float, Option("SECONDS", "Time limit for all calls of a function together.", SECONDS)] = 300.0,
    output: Annotated[Optional[Path], Option("FILE", "Write the suite to this file instead of stdout.")] = None,
    force: options.Force = False,
) -> None:
    """Write the operators that your functions call as a suite.

    The suite has their real shapes, strides, arguments and counts. opperf calls a function several times to time it,
    and captures the last call. Several functions, such as prefill and decode, are parts of one suite. For a model file,
    it writes the nodes; use `--input` for inputs whose shapes are open.
    """
    from opperf.parent.cli.output import suite_text, tell_left_out, write_suite
    from opperf.parent.cli.places import emit, take_output
    from opperf.parent.cli.progress import Bar
    from opperf.parent.commands.capture import capture as captured
    from opperf.parent.sources.user_inputs import pairs

    files = [Path(place) for one in code for place in (one, one.rpartition(":")[0])]
    take_output(output, force=force, inputs=[*files, *plugin])
    result = captured(
        code,
        Bar().note,
        framework=framework,
        inputs=pairs(inputs, "--input"),
        environment=environment,
        timeout=timeout,
        plugin=plugin,
    )
    if output is None:
        emit(suite_text(result.suite))
    else:
        write_suite(result.suite, output)
    for note in result.notes:
        typer.echo(note, err=True)
    tell_left_out(result.left_out)
