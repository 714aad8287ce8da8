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
    many: Annotated[
        Optional[Path],
        Option(
            "--candidates",
            metavar="PLACE",
            help="Also judge each Python file of this folder, or each line of this JSON Lines file.",
        ),
    ] = None,
    jobs: Annotated[int, Option(metavar="N", min=1, help="Number of candidates to check at a time; one is timed.")] = 1,
    resume: Annotated[bool, Option("--resume", help="Continue the file of --output.")] = False,
    judging: options.Judging,
    how: options.How,
    output: options.Output = None,
    force: options.Force = False,
) -> None:
    """Judge functions that nobody vouches for: whether each is right, and really faster than the reference.

    Exit codes: 0 faster or the same, 1 slower, 2 bad input or a problem that judges nothing, 3 wrong, cheating or
    impossible, 4 inconclusive.
    """
    from opperf.parent import request as requests
    from opperf.parent.cli.output import tell
    from opperf.parent.cli.progress import Bar
    from opperf.parent.judge.session import Order, judge_all
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
    rule = requests.rule(judging.tolerance, judging.pairs)
    order = Order(candidates or (), against, many, jobs, output, resume, force)
    bar = Bar()
    results = []
    for _, judged in judge_all(order, request, rule, bar):
        results.append(judged)
        tell(f"{judged.candidate}: {judged.verdict}: {judged.reason}")
    raise typer.Exit(exit_code(results))


def exit_code(results: Sequence[Judged]) -> int:
    """Return the exit code for verdicts: that of the worst."""
    verdicts = {one.verdict for one in results}
    for words, code in ((("void",), 2), (("wrong", "cheats", "impossible"), 3), (("inconclusive",), 4)):
        if verdicts & {*words}:
            return code
    return 1 if "slower" in verdicts else 0
