"""The tree of errors; each says what was found, what was expected and what to do.

    OpperfError
    ├── InputError        bad usage or input                       exit code 2
    │   └── ProfilerError        the profiler was started, stopped or asked when it cannot be
    ├── HarnessError      opperf or its surroundings failed        exit code 3
    │   ├── EnvironmentFailure   an environment cannot be found or built
    │   └── WorkerFailure        a child died, hung or broke the protocol; becomes one failed record
    └── OperatorFailure   an operator raised, or does not exist there; becomes a failed or a skipped record

Measuring returns the last two as values, a `reason.Reason` on a record.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opperf.domain.reason import Reason


class OpperfError(Exception):
    """An error with one clear message, a short stable name (`slug`) and, where there is one, a hint."""

    exit_code = 3

    def __init__(self, message: str, *, hint: str | None = None, slug: str = "error") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.slug = slug

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n\nhint: {self.hint}"


class InputError(OpperfError):
    """The command line or a file holds something that opperf cannot take."""

    exit_code = 2


class ProfilerError(InputError):
    """The profiler is not in the state that a call needs."""


class HarnessError(OpperfError):
    """opperf itself, or the machine below it, failed."""


class EnvironmentFailure(HarnessError):
    """An environment cannot be found, built or used."""


class WorkerFailure(HarnessError):
    """A child process died, hung or did not keep to the protocol.

    `signal` is the name of the signal that ended it, `stderr` its last lines.
    """

    def __init__(
        self, message: str, *, slug: str, hint: str | None = None, signal: str | None = None, stderr: str | None = None
    ) -> None:
        super().__init__(message, hint=hint, slug=slug)
        self.signal = signal
        self.stderr = stderr


class OperatorFailure(OpperfError):
    """A child answered with a failure: the framework's own error, or something to skip. The child lives on."""

    def __init__(self, reason: Reason, *, skipped: bool = False) -> None:
        super().__init__(reason.message, hint=reason.hint, slug=reason.slug)
        self.reason = reason
        self.skipped = skipped


def way_out(cause: BaseException) -> BaseException:
    """Return the exception that ends a command which another one stopped, after its report: Ctrl-C exits with 130."""
    return SystemExit(130) if isinstance(cause, KeyboardInterrupt) else cause


#: How alike two names are, of 1, where one may be meant by the other; and where there is better to say otherwise.
ALIKE, VERY_ALIKE = 0.6, 0.75


def near(name: str, names: Iterable[str], *, most: int = 5, alike: float = ALIKE) -> list[str]:
    """Return the known names that resemble `name`, best first.

    >>> near("softmx", ["softmax", "log_softmax", "add"])
    ['softmax', 'log_softmax']
    """
    from difflib import get_close_matches  # only who misspells a name waits for it

    names_by_fold = {candidate.casefold(): candidate for candidate in names}
    text = name.casefold()
    close = get_close_matches(text, names_by_fold, n=most, cutoff=alike)
    starting = sorted((other for other in names_by_fold if text and other.startswith(text)), key=len)
    return [names_by_fold[key] for key in dict.fromkeys([*starting[:most], *close])][:most]


def unknown(kind: str, name: str, names: Iterable[str], *, hint: str | None = None) -> InputError:
    """Build the error for a name that is not known, with the names near it, else the hint.

    >>> print(unknown("operator", "ad", ["add", "abs"]))
    no operator `ad`
    <BLANKLINE>
    hint: did you mean `add`?
    """
    close = near(name, names, alike=ALIKE if hint is None else VERY_ALIKE)
    if close:
        hint = f"did you mean {', '.join(f'`{other}`' for other in close)}?"
    return InputError(f"no {kind} `{name}`", hint=hint, slug=f"unknown_{kind.split()[0]}")


def check_known(kind: str, name: str, names: Collection[str]) -> None:
    """Raise `InputError` for a name that is not one of some: those near it are in the hint, else all of them."""
    if name not in names:
        raise unknown(kind, name, names, hint=f"known: {', '.join(names)}")


@contextmanager
def at_place(where: str) -> Iterator[None]:
    """Add the place to every `InputError` raised inside the block."""
    try:
        yield
    except InputError as error:
        message = f"{where}: {error.message}" if where else error.message
        raise InputError(message, hint=error.hint, slug=error.slug) from error
