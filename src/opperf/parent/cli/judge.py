"""`opperf judge`: whether a kernel is right, and whether it is really faster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from opperf.parent.cli import options
from opperf.parent.sources.option import Only, Option
from opperf.parent.sources.options import EXPLAINED, Judging, Limits, Names, OnFleet, Vetting, What, Where

if TYPE_CHECKING:
    from opperf.parent.documents.candidates import Judged


def judge(
    candidates: Annotated[
        Optional[list[str]],
        typer.Argument(metavar="CANDIDATE...", help="Functions to judge: `my_kernel.py:f`, or a file that has one."),
    ] = None,
    *,
    against: Annotated[
        str,
        Option(
            "REFERENCE",
            "What they should compute: an operator, a function of your own, or a problem (`kernelbench:FILE`).",
        ),
    ],
    what: Annotated[What, Only("inputs", "attributes", "dtype", "plugin")],
    vetting: Vetting,
    sizes: Annotated[
        Optional[str], Option("S,...", "Default inputs to use: small, common, large. Default: common.")
    ] = None,
    side: Annotated[Where, Only("framework", "environment", "threads")],
    device: Annotated[Names, Option("D", "cpu, or a device of PyTorch: cuda:0. Default: cpu.")] = (),
    fleet: Annotated[
        Optional[str],
        Option(
            "ENGINE",
            "Judge on a fleet: `ray://HOST:10001`, `ray` (this machine) or `slurm:JOBS`. It gets your code.",
        ),
    ] = None,
    where: Annotated[Optional[str], Option("CONDITIONS", "Nodes of the fleet to use, such as `cpu=AMD EPYC*`.")] = None,
    judging: Judging,
    how: Limits,
    report: Annotated[options.Report, Only("labels", "format", "output", "html", "plot", "database", "force")],
) -> None:
    """Judge kernels that nobody vouches for.

    Whether each is right, and really faster than the reference. Their results and times are checked by a process that
    they cannot reach. A file that ends in `.jsonl` gets each judgement as it comes.

    Exit codes: 0 faster or the same, 1 slower, 2 bad input or a problem that judges nothing, 3 wrong, cheating or
    impossible, 4 inconclusive.
    """
    from opperf.domain.errors import way_out
    from opperf.parent.cli.keeping import keep, lock_outputs, publish
    from opperf.parent.cli.progress import Bar
    from opperf.parent.commands.deciding import rule_of
    from opperf.parent.commands.judge import Order, judged_run
    from opperf.parent.measuring.fleet import judging_fleet_of
    from opperf.parent.planning.request import Request, plugin_files
    from opperf.parent.planning.wishes import wishes
    from opperf.parent.reports.judge import document, tally

    size = () if sizes is None else tuple(sizes.split(","))
    request = Request(replace(what, size=size), replace(side, device=device), how=how)
    # A file of lines is the judge's own, which it may go on with; what it has is not written once more.
    lines = report.output if report.output is not None and report.output.suffix == ".jsonl" else None
    rest = report if lines is None else replace(report, output=None)
    lock_outputs(rest, [vetting.many, *options.inputs([*(candidates or ()), against], what)])
    is_page = report.html is not None and vetting.many is None and len(candidates or ()) <= EXPLAINED
    vetting = replace(vetting, explain=vetting.explain or is_page)
    order = Order(candidates or (), against, vetting, lines, report.force, report.labels, options.command())
    bar = Bar()

    def tell(judged: Judged) -> None:
        bar.note(f"{judged.candidate}: {judged.verdict}: {judged.reason}")

    wish = wishes(OnFleet(fleet, where))
    plugins = wish is not None and bool(plugin_files(request.what.plugin, request.where.framework, note=bar.note))
    with judging_fleet_of(wish, order.against, room=vetting.room, plugins=plugins, progress=bar) as nodes:
        result, cause = judged_run(order, request, rule_of(judging), bar, tell, elsewhere=nodes)
    publish(result, document(result), rest, tally(result.judgements))
    keep(result, report)
    if cause is not None:
        raise way_out(cause)
    raise typer.Exit(exit_code(result.judgements))


def exit_code(judgements: Sequence[Judged]) -> int:
    """Return the exit code for judgements: that of the worst."""
    verdicts = {one.verdict for one in judgements}
    for words, code in ((("void",), 2), (("wrong", "cheats", "impossible"), 3), (("inconclusive",), 4)):
        if verdicts & {*words}:
            return code
    return 1 if "slower" in verdicts else 0
