"""`python -m opperf.compat.mxnet_opperf`: the command line of MXNet's opperf, each operator in a child process.

The flags, the keys and the units are the original's. MXNet need not be installed: its environment is built when it is
missing. Each result is in a journal next to the output before the next operator begins.
"""

from __future__ import annotations

import math
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

try:
    import typer

    from opperf.parent.cli import options
    from opperf.parent.cli.exit import debuggable, obey
except KeyboardInterrupt:
    raise SystemExit(130) from None
except ModuleNotFoundError:  # MXNet's own Python, with opperf on its path and nothing that opperf requires
    print("error: this Python has no typer, which this command needs", file=sys.stderr)
    print(
        "\nhint: run it with the Python that opperf is installed in; MXNet need not be installed there", file=sys.stderr
    )
    raise SystemExit(2) from None

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opperf.compat.mxnet_opperf.command.plan import CommandRequest, RowPlan
    from opperf.domain.plan import Settings
    from opperf.domain.record import Run
    from opperf.parent.planning.selection import Selection

PROFILERS = ("native", "python")
#: Children that share the samples of a row, where each gets so many: a process moves all times by where its memory is.
#: Each takes a second to import MXNet; with one more, opperf takes longer than the original does for the same rows.
CHILDREN, LEAST_RUNS = 4, 10
Option = typer.Option

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command()
def benchmark(
    *,
    ctx: Annotated[str, Option(metavar="CTX", help="cpu, gpu, gpu(0).")] = "cpu",
    dtype: Annotated[str, Option(metavar="D", help="float32, float64, int32, int64, ...")] = "float32",
    output_format: Annotated[str, Option("--output-format", "-f", metavar="F", help="json, md or csv.")] = "json",
    output_file: Annotated[
        Path,
        Option(
            "--output-file",
            "-o",
            metavar="FILE",
            help="Write the results to this file, which must not exist unless you give `--force`.",
        ),
    ] = Path("mxnet_operator_benchmarks.json"),
    profiler: Annotated[
        str,
        Option(
            "--profiler",
            "-p",
            metavar="native|python",
            help="native: times by MXNet's profiler, each direction apart; python: by opperf, both together.",
        ),
    ] = "native",
    int64_tensor: Annotated[str, Option(metavar="on|off", help="Use tensors of over 2^31 elements.")] = "off",
    warmup: Annotated[
        int,
        Option(
            "--warmup", "-w", metavar="N", help="Number of calls before the samples; the processes share them, too."
        ),
    ] = 25,
    runs: Annotated[
        int, Option("--runs", "-r", metavar="N", help="Minimum number of samples per row and direction.")
    ] = 100,
    processes: Annotated[
        Optional[int],
        Option(
            metavar="K",
            min=1,
            help="Number of processes that share the samples of a row; at most 4, with ten samples each.",
        ),
    ] = None,
    category: Annotated[
        options.Words, Option(metavar="C", help="Measure the operators of a category, such as mx_reduction.")
    ] = None,
    operator: Annotated[options.Words, Option(metavar="NAME", help="broadcast_add, np.add, _copyto, ...")] = None,
    inputs: Annotated[
        Optional[Path],
        Option(metavar="FILE", help="Read the inputs of each operator from this file instead of the defaults."),
    ] = None,
    original_values: Annotated[
        bool,
        Option(
            "--original-values",
            help="Fill all arrays with normal values as the original does, so that its histories go on; by default, "
            "indices and labels are valid.",
        ),
    ] = False,
    environment: Annotated[
        Optional[str],
        Option(metavar="E", help="`mxnet==1.9.1` or `python=PATH`."),
    ] = None,
    records: Annotated[
        Optional[Path], Option(metavar="FILE", help="Also write opperf's own records to this file, with every sample.")
    ] = None,
    jobs: Annotated[str, Option(metavar="N|auto", help="Number of rows to measure side by side.")] = "1",
    resume: Annotated[bool, Option("--resume", help="Continue from the journal of the output file.")] = False,
    force: Annotated[bool, Option("--force", help="Overwrite the output file.")] = False,
) -> None:
    """Benchmark MXNet's operators, as MXNet's opperf does: `{operator: [row, ...]}`, times in ms, memory in kB."""
    from opperf.compat.mxnet_opperf.command.documents import FORMATS
    from opperf.compat.mxnet_opperf.command.plan import CommandRequest, names, read_rows, spell
    from opperf.compat.mxnet_opperf.default_inputs import is_large
    from opperf.domain.errors import check_known
    from opperf.domain.plan import PROFILER, Settings
    from opperf.domain.units import parse_jobs
    from opperf.parent.planning.selection import Selection

    check_known("format", output_format, FORMATS)
    check_known("profiler", profiler, PROFILERS)
    _take_places(output_file, records, inputs, force=force, resume=resume)
    rows = {} if inputs is None else read_rows(inputs)
    choice = CommandRequest(
        names(operator or (), category or (), rows),
        rows,
        dtype,
        is_large(int64_tensor),
        profiler == "python",
        original_values,
    )
    selection = Selection(
        operators=[spell(name) for name in operator or ()],
        frameworks=("mxnet",),
        environments=() if environment is None else (environment,),
        devices=(ctx,),
        dtypes=(dtype,),
    )
    clock = "wall" if choice.together else PROFILER
    children, each = split_runs(runs, processes)
    settings = Settings(
        warmup=math.ceil(warmup / children),
        runs=each,
        processes=children,
        latency=False,
        clock=clock,
        jobs=parse_jobs(jobs, name="`--jobs`"),
    )
    plans, run, cause = _measure(selection, settings, choice, output_file, resume=resume)
    _write(plans, run, output_format, output_file, records, together=choice.together)
    _leave(run, output_file, cause)


def split_runs(runs: int, processes: int | None) -> tuple[int, int]:
    """Return how many children measure a row, and how many samples each takes; `processes` are those asked for.

    >>> split_runs(100, None), split_runs(5, None), split_runs(50, 1)
    ((4, 25), (1, 5), (1, 50))
    """
    children = processes or min(CHILDREN, max(1, runs // LEAST_RUNS))
    return children, math.ceil(runs / children)


def _take_places(output: Path, records: Path | None, inputs: Path | None, *, force: bool, resume: bool) -> None:
    """Hold the output; raises `InputError` for a file that would be overwritten, and for one that cannot be written."""
    from opperf.domain.errors import InputError
    from opperf.parent.cli.places import take_output
    from opperf.parent.store.journal import journal_of
    from opperf.parent.store.output_lock import check_place

    take_output(output, force=True, inputs=[inputs])
    check_place(records, inputs=[inputs])
    unfinished = journal_of(output).exists()
    if resume and not unfinished:
        raise InputError(
            f"`{output}` has no journal next to it, so there is nothing to resume",
            hint="leave out `--resume` to start a new run",
            slug="no_journal",
        )
    if output.is_file() and not resume and not force:
        hint = "continue it with `--resume`" if unfinished else "name another `--output-file`, or give `--force`"
        raise InputError(f"`{output}` already exists", hint=hint, slug="output_exists")


def _measure(
    selection: Selection, settings: Settings, choice: CommandRequest, output: Path, *, resume: bool
) -> tuple[list[RowPlan], Run, BaseException | None]:
    """Return the rows, the run, and what stopped it before its end."""
    from opperf.compat.mxnet_opperf.command.plan import plan_rows, whole
    from opperf.parent.cli.progress import Bar
    from opperf.parent.measuring.session import Interrupted, Options, Session
    from opperf.parent.workers.passwords import own_command

    bar = Bar()
    with Session(selection, settings, bar) as session:
        plans = list(plan_rows(session, selection, choice))
        how = Options(output=output, resume=output if resume else None, command=own_command())
        try:
            return plans, session.run(whole(plans, settings), how), None
        except Interrupted as stopped:
            return plans, stopped.run, stopped.cause
        finally:
            bar.close()


def _write(
    plans: Sequence[RowPlan], run: Run, format: str, output: Path, records: Path | None, *, together: bool
) -> None:
    from opperf.compat.mxnet_opperf.command.documents import collect, render
    from opperf.domain.files.destination import write_text
    from opperf.parent.cli.output import tell
    from opperf.parent.reports import render as render_records

    table_rows = collect(plans, run, together=together)
    write_text(output, render(table_rows, run, format, together=together))
    if records is not None:
        write_text(records, render_records(run, "json"))
    rows = [row for several in table_rows.values() for row in several]
    failures = sum("error" in row for row in rows)
    text = f", {failures} of them with an error instead of times" if failures else ""
    tell(f"wrote {output}: {len(table_rows)} operators, {len(rows)} rows{text}")


def _leave(run: Run, output: Path, cause: BaseException | None) -> None:
    """Exit as `opperf run` does; only a run that came to its end has no journal left."""
    from opperf.domain.errors import way_out
    from opperf.parent.cli.output import tell
    from opperf.parent.cli.run import leave
    from opperf.parent.store.journal import journal_of

    if cause is not None:
        tell(f"stopped; `--resume` continues {output} ends")
        raise way_out(cause)
    journal_of(output).unlink(missing_ok=True)
    leave(run, strict=False)


debuggable(app)


def main() -> None:
    """Run the command line and exit with its code."""
    obey(partial(app, standalone_mode=False))


if __name__ == "__main__":
    main()
