"""`opperf profile`: run a script with the profiler on, and print which operators it spent its time in."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer
from typer.core import TyperCommand

from opperf.parent.cli import options
from opperf.parent.cli.option_groups import grouped
from opperf.parent.sources.program_options import Profiling

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typer._click.core import Context, Parameter

    from opperf.domain.profile.event import Profile
    from opperf.parent.commands.profile import Options
    from opperf.parent.documents.trace import Trace

Option = typer.Option
#: The pages that `--html` writes where none is named, and how the name of one ends: other words are a script's.
PAGE, PAGE_OF_TWO, PAGE_ENDING = "profile.html", "profile-diff.html", ".html"
#: The exit code of a script that was killed by SIGKILL, and the one where nothing was measured.
KILL_CODE, NOTHING = 137, 3


def profile(
    context: typer.Context,
    words: Annotated[
        Optional[list[str]],
        typer.Argument(metavar="SCRIPT ARGS", help="Python script and its arguments. With `--read`, more files."),
    ] = None,
    *,
    module: Annotated[bool, Option("-m", help="Run a module, as `python -m` does.")] = False,
    profiling: Profiling,
    depth: Annotated[
        Optional[int],
        Option(
            metavar="N",
            min=1,
            help="With `--by module`, show N levels of modules, each with all below it; equal layers are summed up.",
        ),
    ] = None,
    top: options.Top = None,
    tokens: Annotated[
        Optional[int],
        Option(metavar="N", min=1, help="Tokens or samples of a step, to see how many a second; records shapes, too."),
    ] = None,
    format: options.Format = None,
    html: Annotated[
        Optional[str],
        Option(
            metavar="[FILE.html]",
            help="Also write a page with tables, call trees and timeline; with `--diff` of both profiles. Default: "
            "profile.html, or profile-diff.html, in the output folder.",
        ),
    ] = None,
    read: Annotated[
        Optional[list[Path]],
        Option(metavar="FILE", help="Print a profile, those of a folder, or another tool's Chrome trace. Repeatable."),
    ] = None,
    diff: Annotated[
        bool,
        Option(
            "--diff", help="Compare two profiles, or folders of them, operator by operator: `--diff A.json B.json`."
        ),
    ] = False,
    print_autostart: Annotated[
        bool,
        Option(
            "--print-autostart", help="Print the folder to put on PYTHONPATH, so that any Python starts the profiler."
        ),
    ] = False,
) -> None:
    """Run a script and show which operators take its time.

    The script runs unchanged and keeps its exit code. Each process writes a file of Chrome trace events, which Perfetto
    shows.

    Exit codes: that of the script, 2 bad input, 3 `--function` was never called.

    Put options before the script or after it. Everything else belongs to the script, as does all that follows `--`.
    """
    if print_autostart:
        from opperf.parent.workers.package import autostart_folder

        typer.echo(autostart_folder())
        return
    from opperf.parent.commands.profile import Options, check_rows
    from opperf.parent.commands.profile import command as words_for_python
    from opperf.parent.store.output_lock import check_place

    by, sort, output = profiling.by, profiling.sort, profiling.output or Path()
    check_rows(by, sort, depth, compared=diff)
    page = None if html is None else Path(html) if html else output / (PAGE_OF_TWO if diff else PAGE)
    report = partial(_report, format=format, by=by, depth=depth, sort=sort, top=top, tokens=tokens, page=page)
    if diff:
        check_place(page)
        _diff(words or (), format, by, sort, top, page)
        return
    if read:
        check_place(page)
        _read([*read, *map(Path, words or ())], report)
        return
    check_place(profiling.save_suite)
    options = Options.of(profiling if tokens is None else replace(profiling, shapes=True))
    command = words_for_python(words or (), module=module)
    if context.meta[OPTIONS_KEY]:
        late = " ".join(context.meta[OPTIONS_KEY])
        typer.echo(f"note: `{late}` was read as opperf's own; put the script's options after `--`", err=True)
    _run(command, profiling, options, format, report)


def _run(
    command: tuple[str, ...],
    profiling: Profiling,
    options: Options,
    format: str | None,
    report: Callable[[Profile], None],
) -> None:
    """Run the script, report its outcome, and exit with its exit code."""
    from opperf.domain.errors import InputError
    from opperf.parent.cli.output import tell
    from opperf.parent.cli.progress import Bar
    from opperf.parent.commands import profile as profiled

    profiled.check(command, options)
    tool, suite = profiling.tool, profiling.save_suite
    python = profiled.python_for(command, profiling.environment, options, Bar().note)
    folder, is_table = profiling.output or Path(), format in (None, "console")
    outcome = profiled.run(command, python, options, folder, tool=tool, aside=not is_table)
    for line in (*(f"wrote {file}" for file in outcome.files), *outcome.notes):
        tell(line)
    if suite is not None:
        _save_suite(outcome.recorded, suite)
    if outcome.code == KILL_CODE:
        typer.echo(
            "the script was killed (SIGKILL), most likely because it ran out of memory; its profile is lost\n\n"
            "hint: `--memory-limit` stops recording sooner, and `--function` profiles only a part; without `--stacks`, "
            "`--shapes` and `--memory` it takes less",
            err=True,
        )
    elif outcome.profile is None and tool is None:
        typer.echo(
            f"no profile: the script imported none of {', '.join(options.watched)}\n\n"
            "hint: `--framework` or `--environment` selects the Python to run it",
            err=True,
        )
    if outcome.profile is not None:
        try:
            report(outcome.profile)
        except InputError as error:  # the script has run, and its exit code counts
            tell(f"error: {error}")
    if outcome.code:
        raise typer.Exit(outcome.code)
    if options.function is not None and tool is None and (outcome.profile is None or not outcome.profile.events):
        typer.echo(f"error: nothing was recorded: `{options.function}` was not called while it was watched", err=True)
        raise typer.Exit(NOTHING)


def _save_suite(trace: Trace | None, path: Path) -> None:
    """Write the operators of a script as a suite, and say which of them no suite can hold."""
    from opperf.parent.cli.output import tell_left_out, write_suite
    from opperf.parent.commands.profile import NO_SUITE

    if trace is None:
        typer.echo(f"no suite: {path} is not written\n\nhint: {NO_SUITE}", err=True)
        return
    write_suite(trace.suite(), path)
    tell_left_out(trace.left_out)


def _read(files: Sequence[Path], report: Callable[[Profile], None]) -> None:
    """Print profiles that were written."""
    from opperf.domain.profile.event import merge
    from opperf.parent.commands.profile import read_place, with_peaks

    report(with_peaks(merge(map(read_place, files))))


def _diff(
    words: Sequence[str], format: str | None, by: str, sort: str | None, top: int | None, page: Path | None
) -> None:
    """Print two profiles that were written, operator by operator, and write the page; raises `InputError`."""
    from opperf.domain.errors import InputError
    from opperf.parent.cli.output import deliver
    from opperf.parent.commands.profile import read_place
    from opperf.parent.reports.profile_change import document

    if len(words) != 2:
        raise InputError(
            f"`--diff` takes two profiles, got {len(words)}", hint="write `opperf profile --diff A.json B.json`"
        )
    before, after = (read_place(Path(word)) for word in words)
    deliver(document(before, after, by, sort, top), format)
    if page is not None:
        from opperf.parent.pages.profile_page.change import render

        _write_page(page, render(before, after, words))


def _write_page(page: Path, text: str) -> None:
    from opperf.domain.files.destination import write_text

    write_text(page, text)
    typer.echo(f"wrote {page}", err=True)


def _report(
    profile: Profile,
    *,
    format: str | None,
    by: str,
    depth: int | None,
    sort: str | None,
    top: int | None,
    tokens: int | None,
    page: Path | None,
) -> None:
    """Print the table, and write the requested page."""
    from opperf.parent.cli.output import deliver
    from opperf.parent.reports.profile import document
    from opperf.parent.reports.profile_modules import document as tree

    report = document(profile, by, sort, top, tokens) if depth is None else tree(profile, depth, top, tokens)
    deliver(report, format)
    if page is not None:
        from opperf.parent.pages.profile_page import render as whole_page

        _write_page(page, whole_page(profile))


#: What a script's user asks the script for.
NOT_TAKEN = "--help"
#: The key of the options that were given after the script.
OPTIONS_KEY = "opperf.taken"


class ScriptCommand(TyperCommand):
    """Takes known long options given after the script, up to `--`; the rest belongs to the script.

    What follows `--html` is its value where it ends as the name of a page does.
    """

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Put the command's options first, as one that stops at the script has them."""
        flags = {name: bool(getattr(one, "is_flag", False)) for one in self.params for name in _names(one)}
        before, script, behind = _split(_name_page(args), flags)
        late: list[str] = []
        script_words: list[str] = []
        while behind:
            word = behind.pop(0)
            name, equals, _ = word.partition("=")
            if word == "--":
                script_words += behind
                break
            if not name.startswith("--") or name not in flags or name == NOT_TAKEN:
                script_words.append(word)
                continue
            late.append(word)
            if not flags[name] and not equals and behind:
                late.append(behind.pop(0))
        ctx.meta[OPTIONS_KEY] = tuple(late)
        return super().parse_args(ctx, [*before, *late, *script, *script_words])


def _names(parameter: Parameter) -> list[str]:
    return [*parameter.opts, *parameter.secondary_opts]


def _name_page(args: list[str]) -> list[str]:
    """Return the words with the value of each `--html` in the same word, empty where none is named."""
    end = args.index("--") if "--" in args else len(args)
    words: list[str] = []
    for place, word in enumerate(args):
        is_value = place <= end and place > 0 and args[place - 1] == "--html" and word.endswith(PAGE_ENDING)
        if is_value:
            words[-1] += word
        else:
            words.append("--html=" if word == "--html" and place < end else word)
    return words


def _split(args: list[str], flags: dict[str, bool]) -> tuple[list[str], list[str], list[str]]:
    """Return the words before the script, the script, and the words after it."""
    place = 0
    while place < len(args) and args[place].startswith("-"):
        if args[place] == "--":
            return args[:place], args[place + 1 : place + 2], ["--", *args[place + 2 :]]
        name, equals, _ = args[place].partition("=")
        place += 1 if equals or flags.get(name, True) else 2
    return args[:place], args[place : place + 1], args[place + 1 :]


app = options.verb_application()
app.command("profile", cls=ScriptCommand, context_settings={"allow_interspersed_args": False})(grouped(profile))
