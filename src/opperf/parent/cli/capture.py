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
            metavar="MODULE:FUNCTION...|FILE.onnx|config:FILE.json",
            help="Functions without arguments, or a model file. opperf runs them. Or a model's configuration.",
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
    abstract: Annotated[
        bool,
        Option("", "Follow shapes alone: nothing is allocated, computed or timed, so that any model fits."),
    ] = False,
    phase: Annotated[
        str, Option("PHASE", "What a model by its configuration does: prefill, decode or train.")
    ] = "prefill",
    batch: Annotated[int, Option("N", "Sequences or images of a call of such a model.")] = 1,
    context: Annotated[int, Option("N", "Words of each sequence; for decode, those before the next word.")] = 2048,
    dtype: Annotated[
        Optional[str], Option("DTYPE", "Element type of such a model. Default: the configuration's, or float32.")
    ] = None,
    split: Annotated[int, Option("N", "Devices among which such a model is divided; the suite is of one.")] = 1,
    layers: Annotated[str, Option("all|one", "All layers of such a model, or the first of each stack.")] = "all",
    timeout: Annotated[float, Option("SECONDS", "Time limit for all calls of a function together.", SECONDS)] = 300.0,
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
    from opperf.parent.sources.model_configuration import usage_of
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
        abstract=abstract,
        usage=usage_of(phase, batch, context, dtype, split, layers),
    )
    if output is None:
        emit(suite_text(result.suite))
    else:
        write_suite(result.suite, output)
    for note in result.notes:
        typer.echo(note, err=True)
    tell_left_out(result.left_out)
