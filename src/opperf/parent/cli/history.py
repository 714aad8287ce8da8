"""`opperf history`: keep results in a database, and see how operators went from build to build."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Optional

import typer

from opperf.parent.cli import options
from opperf.parent.documents.tolerances import TOLERANCE
from opperf.parent.sources.option import PERCENT, Option

app = options.verb_application(
    help="Keep results in a database, and see how they change over time.", no_args_is_help=True
)

#: Files that cannot be read, of which an import says why.
MOST_UNREADABLE = 20
#: Changes that are printed as text, where nothing else is said.
MOST_ROWS = 200

Database = Annotated[
    Optional[str],
    typer.Option(
        metavar="FILE|URL",
        help="SQLite file or PostgreSQL URL. Default: $OPPERF_DATABASE, opperf.toml, then your user database.",
    ),
]
Since = Annotated[Optional[str], typer.Option(metavar="DAY", help="Ignore runs before this day, such as 2026-11-01.")]


@app.command("add")
def add_files(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Results or comparisons.")],
    *,
    database: Database = None,
    samples: Annotated[bool, typer.Option("--samples", help="Also store every sample.")] = False,
) -> None:
    """Add result files and comparisons to the database.

    Runs that are already in the database are not added again.
    """
    from opperf.parent.cli.output import tell
    from opperf.parent.commands.history import add

    words = {"added": "added", "there": "was there already", "replaced": "replaced what was there"}
    address, additions = add(files, database, samples=samples)
    for one in additions:
        tell(f"run {one.key}: {words[one.outcome]}, {one.rows} rows")
    tell(f"database: {address}")


@app.command("list")
def list_runs(
    *,
    database: Database = None,
    since: Since = None,
    top: Annotated[Optional[int], typer.Option(metavar="N", min=1, help="Maximum number of runs to print.")] = None,
    format: options.Format = None,
) -> None:
    """List the runs in the database, latest first."""
    from opperf.parent.cli.output import deliver
    from opperf.parent.commands.history import archive, day
    from opperf.parent.reports.history import runs
    from opperf.parent.store.database.history import entries

    begin = day(since)
    with archive(database) as store:
        deliver(runs(entries(store, since=begin, most=top)), format)


@app.command("show")
def show_operator(
    operator: Annotated[str, typer.Argument(metavar="OPERATOR", help="Operator, as its measurements name it.")],
    *,
    database: Database = None,
    framework: Annotated[Optional[str], typer.Option(metavar="F", help="Show this framework only.")] = None,
    since: Since = None,
    format: options.Format = None,
) -> None:
    """Show every measurement and comparison of an operator, oldest first."""
    from opperf.parent.cli.output import deliver
    from opperf.parent.commands.history import archive, day, missing
    from opperf.parent.reports.history import series
    from opperf.parent.store.database.history import comparisons, histories

    begin = day(since)
    with archive(database) as store:
        rows = histories(store, operator, framework=framework, since=begin)
        ratios = comparisons(store, operator, framework=framework, since=begin)
        if not rows and not ratios:
            raise missing(store, operator)
    deliver(series(rows, ratios), format)


@app.command("operators")
def list_operators(
    patterns: Annotated[
        Optional[list[str]],
        typer.Argument(metavar="[PATTERN]...", help="List only names that match a pattern, such as `*sum*`."),
    ] = None,
    *,
    database: Database = None,
    framework: Annotated[
        Optional[str], typer.Option(metavar="F", help="List only what this framework measured.")
    ] = None,
    format: options.Format = None,
) -> None:
    """List the operators in the database by the names that `show` and `changes` take, those of other tools too."""
    from opperf.parent.cli.output import deliver
    from opperf.parent.commands.history import archive, stored_operators
    from opperf.parent.reports.history import operators

    with archive(database) as store:
        rows = stored_operators(store, patterns or (), framework)
    deliver(operators(rows), format)


@app.command("changes")
def show_changes(
    operator: Annotated[
        Optional[str], typer.Argument(metavar="[OPERATOR]", help="Operator to show. Default: all.")
    ] = None,
    *,
    database: Database = None,
    since: Since = None,
    tolerance: Annotated[float, Option("PERCENT", "Smallest change worth reporting.", PERCENT)] = TOLERANCE,
    top: Annotated[
        Optional[int],
        typer.Option(metavar="N", min=1, help="Rows to print, the largest first. Default: 200 as text, all as data."),
    ] = None,
    format: options.Format = None,
) -> None:
    """Show between which builds operators changed.

    Builds are judged by the comparisons in the database: by their ratios to a build that they were compared with, so a
    slower machine does not matter. Absolute times from `opperf history import` are judged on their own, which is much
    weaker evidence.
    """
    from opperf.parent.cli.output import deliver
    from opperf.parent.commands.history import Scope, archive, check_name, day, searches
    from opperf.parent.reports.history import changes
    from opperf.parent.store.database.history import with_cases
    from opperf.parent.store.database.series import Filters

    scope = Scope(Filters(operator=operator), day(since), tolerance)
    with archive(database) as store:
        ratios, times = searches(store, scope)
        if operator is not None and not ratios.series and not times.series:
            check_name(store, operator)
        unconfirmed = with_cases(store, ratios.open)
    rows = [*ratios.changes, *times.changes]
    if top is None and format is None:
        top = MOST_ROWS
    series = ratios.series, times.series
    deliver(changes(rows, *series, unconfirmed=unconfirmed, top=top), format)


@app.command("remove")
def remove_runs(
    keys: Annotated[list[str], typer.Argument(metavar="RUN...", help="Ids of the runs to remove.")],
    *,
    database: Database = None,
) -> None:
    """Remove runs and everything that belongs to them."""
    from opperf.domain.errors import InputError
    from opperf.parent.cli.output import tell
    from opperf.parent.commands.history import archive

    with archive(database) as store:
        gone_keys = store.remove(keys)
    for key in gone_keys:
        tell(f"removed run {key}")
    missing = [key for key in keys if key not in gone_keys]
    if missing:
        raise InputError(f"no run `{missing[0]}` in the database", hint="`opperf history list` shows its runs")


@app.command("prune")
def prune_runs(
    *,
    database: Database = None,
    older: Annotated[
        Optional[int], typer.Option("--older-than", metavar="DAYS", min=0, help="Remove runs older than this.")
    ] = None,
    keep: Annotated[Optional[int], typer.Option(metavar="N", min=1, help="Never remove the latest N runs.")] = None,
    samples: Annotated[bool, typer.Option("--samples", help="Remove only the samples, and keep the runs.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be removed, without removing it.")
    ] = False,
) -> None:
    """Remove old runs or their samples to make the database smaller.

    `--keep` alone removes all but the latest runs; `--samples` alone removes all samples.
    """
    from opperf.parent.cli.output import tell
    from opperf.parent.commands.history import archive, prune

    with archive(database) as store:
        removals = prune(store, older=older, keep=keep, samples=samples, dry=dry_run)
    verb = "would remove" if dry_run else "removed"
    what, rows = ("samples of", "records") if samples else ("run", "rows")
    for one in removals:
        tell(f"{verb} {what} {one.key} of {one.started:%Y-%m-%d}: {one.rows} {rows}")
    if not removals:
        tell("nothing to remove")


@app.command("export")
def export_database(
    *,
    output: Annotated[Path, typer.Option(metavar="FILE", help="File to write, or a folder for asv.")],
    to: Annotated[
        str,
        typer.Option(
            "--format", metavar="F", help="Output format: jsonl, csv, pytorch-v3, asv, bencher or flashinfer."
        ),
    ] = "jsonl",
    database: Database = None,
    since: Since = None,
) -> None:
    """Export the runs in the database for other tools.

    `jsonl` holds everything, decisions on changes too, and `opperf history import` reads it back. The other formats
    hold what their tools can read.
    """
    from opperf.domain.units import plural
    from opperf.parent.cli.output import tell
    from opperf.parent.commands.exchange import export_results
    from opperf.parent.commands.history import archive, day

    begin = day(since)
    with archive(database) as store:
        export = export_results(store, to, output, since=begin)
    more = f", {plural(export.decisions, 'decision')}" if export.decisions else ""
    tell(f"wrote {output}: {plural(export.runs, 'run')}{more}")
    for reason, count in export.left_out.items():
        tell(f"left out {count} {reason}")
    for one in export.unreadable:
        tell(str(one))


@app.command("import")
def import_files(
    paths: Annotated[list[Path], typer.Argument(metavar="FILE|DIR...", help="Results of other tools to add.")],
    *,
    database: Database = None,
    version: Annotated[
        Optional[str], typer.Option(metavar="V", help="Version that was measured, if the files do not name it.")
    ] = None,
) -> None:
    """Import absolute times that other tools measured, file by file.

    Reads asv's result folder, JSON from pytest-benchmark, google-benchmark and MXNet's opperf, PARAM's output lines,
    and files that `opperf history export --format jsonl` wrote. What is in the database already is not read again, so
    an import that was stopped goes on where it was. Files that cannot be read are named.

    Exit codes: 0 every file was read, 2 bad input or none was, 3 some were not.
    """
    from opperf.parent.cli.output import tell
    from opperf.parent.cli.progress import Bar
    from opperf.parent.commands.exchange import import_results

    bar = Bar()
    try:
        done = import_results(paths, database, version=version, progress=partial(bar.step, "importing files"))
    finally:
        bar.close()
    new = [one for one in done.additions if one.outcome == "added"]
    replaced = sum(one.outcome == "replaced" for one in done.additions)
    rows = sum(one.rows for one in new)
    old = len(done.additions) - len(new) - replaced
    more = f", {replaced} replaced" if replaced else ""
    tell(f"{len(new)} added with {rows} row{'' if rows == 1 else 's'}{more}, {old} there already")
    if done.decisions:
        tell(f"decisions added: {done.decisions}")
    for reason, count in done.left_out.items():
        tell(f"left out {count} {reason}")
    for error in done.unreadable[:MOST_UNREADABLE]:
        tell(f"not imported: {error.message}")
    if len(done.unreadable) > MOST_UNREADABLE:
        tell(f"and {len(done.unreadable) - MOST_UNREADABLE} more that cannot be read")
    tell(f"database: {done.address}")
    if done.unreadable:
        raise typer.Exit(3)


@app.command("push")
def push_runs(
    server: Annotated[
        str, typer.Argument(metavar="URL", help="Address of `opperf serve`, such as https://perf.example.com.")
    ],
    *,
    database: Database = None,
    token: Annotated[
        Optional[str],
        typer.Option(
            metavar="TOKEN", envvar="OPPERF_MACHINE_TOKEN", help="Token by which the server knows this machine."
        ),
    ] = None,
) -> None:
    """Send the runs in the database to a team's server, each once.

    What cannot be sent waits in the database for the next time.

    Exit codes: 0 the server has every run, 2 bad input, 3 some wait, or the server refused some.
    """
    from opperf.domain.errors import InputError
    from opperf.domain.units import plural
    from opperf.parent.cli.output import tell
    from opperf.parent.cli.progress import Bar
    from opperf.parent.commands.history import archive
    from opperf.parent.commands.push import address, push

    address(server)
    if not token:
        raise InputError("the server needs a token", hint="set `OPPERF_MACHINE_TOKEN`", slug="token")
    bar = Bar()
    try:
        with archive(database) as store:
            done = push(store, server, token, note=bar.note, progress=partial(bar.step, "sending runs"))
    finally:
        bar.close()
    counts = done.counts
    tell(f"{plural(counts['added'], 'run')} added, {counts['there']} there already, {counts['refused']} refused")
    if done.waiting:
        tell(f"{plural(done.waiting, 'run')} not sent, and kept for the next time: {done.trouble}")
    if done.waiting or counts["refused"]:
        raise typer.Exit(3)


@app.command("triage")
def triage_changes(
    names: Annotated[list[str], typer.Argument(metavar="CHANGE...", help="Names that `opperf history changes` shows.")],
    *,
    state: Annotated[str, typer.Option(metavar="STATE", help="new, seen, expected, fixed or 'not a change'.")],
    note: Annotated[str, typer.Option(metavar="TEXT", help="Why.")] = "",
    owner: Annotated[
        Optional[str], typer.Option(metavar="NAME", help="Who looks after it. Default: whoever did before.")
    ] = None,
    link: Annotated[
        Optional[str], typer.Option(metavar="URL", help="Its issue or commit. Default: the one before.")
    ] = None,
    by: Annotated[Optional[str], typer.Option(metavar="NAME", help="Who says so. Default: your login name.")] = None,
    database: Database = None,
) -> None:
    """Say what a change is to you: nothing is overwritten, and the latest word holds.

    `gate --database` and `nightly` do not fail again for a change that is expected or none. A name may be shortened.
    """
    from opperf.parent.cli.output import tell
    from opperf.parent.commands.history import archive
    from opperf.parent.commands.triage import decide

    with archive(database) as store:
        additions = decide(store, names, state, note=note, owner=owner, link=link, author=by)
    for decision in additions:
        step = decision.step
        tell(f"{decision.change}: {step.operator}, {step.framework} {step.before} to {step.after}: {decision.words}")


@app.command("report")
def report_changes(
    *,
    database: Database = None,
    since: Annotated[
        Optional[str], typer.Option(metavar="DAY", help="First day of the report. Default: a week ago.")
    ] = None,
    format: options.Format = None,
) -> None:
    """Report what became of changes since a day, for a week's meeting: new, open, fixed, unconfirmed, not measured."""
    from datetime import datetime, timedelta, timezone

    from opperf.parent.cli.output import deliver
    from opperf.parent.commands.history import archive, day
    from opperf.parent.commands.triage import week
    from opperf.parent.reports.week import document

    begin = day(since) or datetime.now(timezone.utc) - timedelta(days=7)
    with archive(database) as store:
        deliver(document(week(store, begin)), format)
