"""The places that a command writes to: proved before anything is measured, held against others until it ends."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from pathlib import Path

import typer

from opperf.domain.errors import HarnessError, InputError
from opperf.domain.files.destination import explain_errors, is_regular, write_text
from opperf.domain.files.text_file import read_text
from opperf.parent.workers.passwords import own_command

#: The mark of a report stands within this many bytes from the start.
MARK_WITHIN = 100
#: A page keeps what stands around these lines, and gets the report between them.
PAGE_MARKS = ("<!-- opperf contrast -->\n", "<!-- end of opperf contrast -->\n")
#: What the running command holds.
_locks = ExitStack()


def check_report(place: Path | None, mark: str, *, force: bool, inputs: Iterable[Path | None] = ()) -> None:
    """Raise `InputError` for what `check_place` does, and for a file that is neither empty nor a former report.

    A job that runs again writes over its own report. `mark` stands near the beginning of one.
    """
    from opperf.parent.store.output_lock import check_place

    check_place(place, inputs=inputs)
    if place is None or force:
        return
    with explain_errors(place):
        if not is_regular(place) or not place.exists():
            return
        with place.open("rb") as file:
            start = file.read(MARK_WITHIN)
    if start and mark.encode() not in start:
        raise InputError(
            f"`{place}` exists, and is not a report of opperf",
            hint="overwrite it with `--force`, or name another file",
            slug="output_exists",
        )


def write_in_page(place: Path, report: str) -> None:
    """Write a report between the marks of a page that has them, else in place of the whole file."""
    begin, end = PAGE_MARKS
    page = read_text(place) if place.exists() and is_regular(place) else ""
    before, first_mark, rest = page.partition(begin)
    _, last_mark, after = rest.partition(end)
    write_text(place, f"{before}{begin}{report}{end}{after}" if first_mark and last_mark else report)


def take_output(
    output: Path | None,
    *,
    force: bool,
    inputs: Iterable[Path | None] = (),
    resume: Path | None = None,
    resumes: bool = False,
) -> None:
    """Hold the place of a result until the command ends; raises what `lock_output` raises."""
    from opperf.parent.store.output_lock import lock_output

    lock = lock_output(
        output, ("opperf", *own_command()[1:]), force=force, inputs=inputs, resume=resume, resumes=resumes
    )
    if lock is not None:
        _locks.callback(lock.close)


def release() -> None:
    """Release the outputs that this command locked."""
    _locks.close()


def emit(text: str) -> None:
    """Print data on stdout. A reader that has gone is no failure; a full disk is, and the data then goes to stderr."""
    try:
        typer.echo(text, nl=False)
    except BrokenPipeError:
        drop_stdout()
    except OSError as error:
        drop_stdout()
        typer.echo(text, nl=False, err=True)
        raise HarnessError(f"cannot write to stdout: {error.strerror}", slug="stdout") from error


def drop_stdout() -> None:
    """Drop what is still to be printed, and what Python would print at its end."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
