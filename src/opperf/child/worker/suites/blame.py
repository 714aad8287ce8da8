"""What benchmark files raise when they are loaded, made one message."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from opperf.child.worker.code import CodeError

#: How Python says that there is no module.
_MISSING = re.compile(r"No module named '([^']+)'")


@contextmanager
def blaming(root: Path, environment: str) -> Iterator[None]:
    """Make what files below a folder raise one `CodeError`, with the place in them.

    Of a module that is missing it says how to add it to an `environment`.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        place = ""
        for frame in traceback.extract_tb(error.__traceback__):
            if Path(frame.filename).is_relative_to(root):
                place = f" {Path(frame.filename).relative_to(root)}:{frame.lineno}:"
        reason = f"{type(error).__name__}: {error}"
        raise CodeError(f"cannot import its files:{place} {reason}", hint=remedy(reason, environment)) from error


def whereabouts(environment: str) -> str:
    """Return the end of a message on what is not in the files, which the environments of two sides may each have."""
    return "here" if environment == "current" else f"in `{environment}`"


def extensible(environment: str, usual: str = "numpy==2.4.6") -> str:
    """Return an environment that packages can be added to, for a hint: `usual` for one that opperf did not build."""
    return usual if environment.startswith(("current", "python=")) else environment


def remedy(reason: str, environment: str) -> str | None:
    """Say how a module that is missing, by the reason of a failure, comes to be there; None for any other reason.

    >>> remedy("ModuleNotFoundError: No module named 'pympler.asizeof'", "numpy==2.4.6")
    "add it to the environment, as in `--environment 'numpy==2.4.6 + pympler'`"
    >>> remedy("ModuleNotFoundError: No module named 'json.of_another_release'", "numpy==2.4.6")
    'the `json` that is there has no such module: take the release of either that goes with the other'
    """
    match = _MISSING.search(reason)
    if match is None:
        return None
    package = match[1].partition(".")[0]
    if package in sys.modules:
        return f"the `{package}` that is there has no such module: take the release of either that goes with the other"
    if environment.startswith("git:"):
        return f"have it installed with the commit, as in `--build 'pip install . {package}'`"
    return f"add it to the environment, as in `--environment '{environment} + {package}'`"
