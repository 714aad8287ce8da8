"""`opperf capture`: write the operators of a program or model as a suite."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from opperf.parent.cli import options
from opperf.parent.sources.option import Option
from opperf.parent.sources.program_options import Capturing


def capture(
    code: Annotated[
        list[str],
        typer.Argument(
            metavar="MODULE:FUNCTION...|FILE.onnx|config:FILE.json",
            help="Functions without arguments, or a model file. opperf runs them. Or a model's configuration.",
        ),
    ],
    *,
    capturing: Capturing,
    output: Annotated[Optional[Path], Option("FILE", "Write the suite to this file instead of stdout.")] = None,
    force: options.Force = False,
) -> None:
    """Write the operators that your functions call as a suite.

    The suite has their real shapes, strides, arguments and counts. opperf calls a function several times to time it,
    and captures the last call. Several functions, such as prefill and decode, are parts of one suite. For a model file,
    it writes the nodes; use `--input` for inputs whose shapes are open. A model's configuration, in the format of the
    Hugging Face hub, is built and called by shapes alone.
    """
    from opperf.parent.cli.output import suite_text, tell_left_out, write_suite
    from opperf.parent.cli.places import emit, take_output
    from opperf.parent.cli.progress import Bar
    from opperf.parent.commands.capture import capture as captured

    files = [Path(place) for one in code for place in (one, one.rpartition(":")[0])]
    take_output(output, force=force, inputs=[*files, *capturing.plugin])
    result = captured(code, capturing, Bar().note)
    if output is None:
        emit(suite_text(result.suite))
    else:
        write_suite(result.suite, output)
    for note in result.notes:
        typer.echo(note, err=True)
    tell_left_out(result.left_out)
