"""`opperf judge`: whether a kernel is right, and really faster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from opperf.parent.cli import options
from opperf.parent.cli.options import grouped

if TYPE_CHECKING:
    from opperf.domain.judging import Judged

Option = typer.Option


@grouped
def judge(
    candidates: Annotated[
        Optional[list[str]],
        typer.Argument(metavar="CANDIDATE...", help="Functions to judge: `my_kernel.py:f`, or a file that has one."),
    ] = None,
    *,
    against: Annotated[
        str, Option(metavar="REFERENCE", help="What they should compute: an operator, or a function of your own.")
    ],
    inputs: options.Input = None,
    attribute: Annotated[
        options.Words, Option(metavar="NAME=VALUE", help="Value of an attribute, such as `axis=1`.")
    ] = None,
    dtype: Annotated[options.Words, Option(metavar="D", help="Element type to use instead of float32.")] = None,
    sizes: Annotated[
        Optional[str], Option(metavar="S,...", help="Default inputs to use: small, common, large. Default: common.")
    ] = None,
    framework: options.Framework = None,
    environment: options.Environment = None,
    threads: options.Threads = 1,
    plugin: options.Plugin = None,
    judging: options.Judging,
    how: options.How,
    output: options.Output = None,
    force: options.Force = False,
) -> None:
    """Judge functions that nobody vouches for: whether each is right, and really faster than the reference.

    Exit codes: 0 faster or the same, 1 slower, 2 bad input or a problem that judges nothing, 3 wrong, cheating or
    impossible, 4 inconclusive.
    """
    import json

    from opperf.parent import request as requests
    from opperf.parent.cli.output import tell
    from opperf.parent.cli.progress import Bar
    from opperf.parent.judge.candidates import read_candidate, reference_trials
    from opperf.parent.judge.judge import Terms
    from opperf.parent.judge.judge import judge as verdicts
    from opperf.parent.sources.user_inputs import input_cases, pairs

    request = {
        **vars(how),
        "framework": framework,
        "environment": environment,
        "threads": threads,
        "dtype": dtype,
        "plugin": plugin,
        "inputs": input_cases(inputs or ()),
        "attributes": pairs(attribute or (), "--attribute"),
        "size": None if sizes is None else sizes.split(","),
    }
    settings = requests.settings(request)
    terms = Terms(settings, requests.rule(judging.tolerance, judging.pairs), plugins=tuple(map(Path, plugin or ())))
    codes = [read_candidate(text, against) for text in candidates or ()]
    bar = Bar()
    results = []
    for trial in reference_trials(against, request, settings, bar):
        for judged in verdicts(against, trial, codes, terms, bar.note):
            results.append(judged)
            tell(f"{judged.candidate}: {judged.verdict}: {judged.reason}")
    if output is not None:
        output.write_text("".join(f"{json.dumps(one.to_json())}\n" for one in results))
    raise typer.Exit(exit_code(results))


def exit_code(results: Sequence[Judged]) -> int:
    """Return the exit code for verdicts: that of the worst."""
    verdicts = {one.verdict for one in results}
    for words, code in ((("void",), 2), (("wrong", "cheats", "impossible"), 3), (("inconclusive",), 4)):
        if verdicts & {*words}:
            return code
    return 1 if "slower" in verdicts else 0
