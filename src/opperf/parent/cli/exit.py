"""How a command line ends: its errors told in one message, its exit code kept.

* An unexpected error is exit code 3 and one message. 1 means a regression found by `opperf gate`, and
  Python's for everything else. `--debug`, or `OPPERF_DEBUG` in the environment, shows the traceback.
* Talk never ends a command: where stderr is closed or full it is dropped.
* A reader of stdout that goes away (`| head`) changes no exit code; a stdout that is closed or full does.
"""

from __future__ import annotations

import inspect
import io
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from opperf.domain.errors import HarnessError, OpperfError, way_out
from opperf.parent.cli import places
from opperf.parent.cli.option_groups import grouped
from opperf.parent.cli.output import tell

if TYPE_CHECKING:
    from opperf.parent.documents.comparison import Comparison

#: The variable that shows tracebacks, as `--debug` does.
DEBUG = "OPPERF_DEBUG"
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
#: Maximum length of an unexpected error's text.
LONGEST_ERROR = 500

_debug = False


def debuggable(app: typer.Typer) -> typer.Typer:
    """Give each command of an application its options and `--debug`."""
    for one in app.registered_commands:
        if one.callback is not None:
            one.callback = _with_debug(grouped(one.callback))
    for group in app.registered_groups:
        if group.typer_instance is not None:
            debuggable(group.typer_instance)
    return app


def stop(cause: BaseException, output: Path | None, more: str = "") -> NoReturn:
    """Say how what was stopped goes on, where it left a file, and leave as what stopped it wants."""
    if output is not None:
        tell(f"stopped; continue with `--resume {output}`{more}")
    raise way_out(cause)


def leave_compared(comparisons: Iterable[Comparison]) -> None:
    """Exit with 3 where something failed, and nothing was compared."""
    kinds = {comparison.verdict.verdict for comparison in comparisons}
    if "failed" in kinds and kinds <= {"failed", "skipped"}:
        raise typer.Exit(3)


def show_tracebacks() -> None:
    """Show the traceback of an error until the command ends."""
    global _debug
    _debug = True


def _with_debug(command: Callable[..., object]) -> Callable[..., object]:
    """Return the command with one more option; typer reads it from the signature."""
    signature = inspect.signature(command, eval_str=True)
    option = inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Debug)

    @wraps(command)
    def debug_call(*words: object, debug: bool, **options: object) -> object:
        if debug:
            show_tracebacks()
        return command(*words, **options)

    vars(debug_call)["__signature__"] = signature.replace(parameters=[*signature.parameters.values(), option])
    return debug_call


def obey(command: Callable[[], object]) -> None:
    """Run a command line, tell its errors, and exit with its code; the process is left as it was."""
    global _debug
    _debug = os.environ.get(DEBUG, "0") not in ("", "0")
    descriptors = _open_closed_descriptors()
    with _unfailing_talk(), _leaving_when_terminated():
        sys.exit(_flush(_code(command) if 1 not in descriptors else _stdout_closed()))


def _code(command: Callable[[], object]) -> str | int | None:
    """Run a command line, and return the code that it ends with."""
    from typer._click.exceptions import NoArgsIsHelpError, UsageError

    try:
        try:
            code = command()
        finally:
            places.release()
    except OpperfError as error:
        _show_traceback()
        tell(f"error: {error}")
        return error.exit_code
    except NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except UsageError as error:
        from opperf.parent.cli.usage import describe

        _show_traceback()
        tell(f"error: {describe(error)}")
        return error.exit_code
    except typer.Exit as leaving:  # where no command of typer's is around it
        return leaving.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 0
    except SystemExit as leaving:
        # `opperf operators | head`: typer leaves with 1, which is the word of `opperf gate`.
        return 0 if isinstance(leaving.__context__, BrokenPipeError) else leaving.code
    except Exception as error:
        _show_traceback()
        tell(f"error: {_describe_unexpected(error)}")
        return HarnessError.exit_code
    return code if isinstance(code, int) else 0


def _describe_unexpected(error: Exception) -> str:
    """Say what went wrong that no code of opperf foresaw."""
    if isinstance(error, OSError) and error.strerror is not None:
        place = "" if error.filename is None else f": `{error.filename}`"
        text = f"the system reports: {error.strerror}{place}"
    elif isinstance(error, MemoryError):
        text = "out of memory"
    else:
        text = f"unexpected {type(error).__name__}: {error}".rstrip(": ")
    hint = (
        ""
        if _debug
        else "\n\nhint: `--debug` or `OPPERF_DEBUG=1` shows where it failed; please report it if opperf is at fault"
    )
    return f"{' '.join(text.split())[:LONGEST_ERROR]}{hint}"


def _show_traceback() -> None:
    if _debug:
        traceback.print_exc()


def _stdout_closed() -> int:
    typer.echo("error: stdout is closed\n\nhint: redirect it, as with `> /dev/null`", err=True)
    return HarnessError.exit_code


def _flush(code: str | int | None) -> str | int | None:
    """Return the exit code, which is another one where what was printed cannot go out."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        places.drop_stdout()
    except OSError as error:
        places.drop_stdout()
        typer.echo(f"error: cannot write to stdout: {error.strerror}", err=True)
        return HarnessError.exit_code
    return code


def _open_closed_descriptors() -> set[int]:
    """Return which of stdin, stdout and stderr are closed: files opened next must not be mistaken for them."""
    descriptors = set()
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            descriptors.add(descriptor)
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
    return descriptors


class _Talk(io.FileIO):
    """Stderr, where what cannot be written is dropped."""

    def write(self, text: Any) -> int:
        try:
            return super().write(text)
        except OSError:
            return len(text)


@contextmanager
def _unfailing_talk() -> Iterator[None]:
    talk = sys.stderr
    if talk is sys.__stderr__:  # and not a replacement by a test or a program
        buffer = io.BufferedWriter(_Talk(2, "w", closefd=False))
        sys.stderr = io.TextIOWrapper(buffer, encoding="utf-8", errors="backslashreplace", line_buffering=True)
    try:
        yield
    finally:
        sys.stderr = talk


@contextmanager
def _leaving_when_terminated() -> Iterator[None]:
    """Make of SIGTERM what Ctrl-C is: every finished record is kept."""
    before = signal.signal(signal.SIGTERM, _on_terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _on_terminate(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)
