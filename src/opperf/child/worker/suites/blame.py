"""What benchmark files raise when they are loaded, made one message."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from opperf.child.worker.code import CodeError


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
        hint = _hint(error.name, environment) if isinstance(error, ModuleNotFoundError) and error.name else None
        raise CodeError(f"cannot import its files:{place} {type(error).__name__}: {error}", hint=hint) from error


def whereabouts(environment: str) -> str:
    """Return the end of a message on what is not in the files, which the environments of two sides may each have."""
    return "here" if environment == "current" else f"in `{environment}`"


def extensible(environment: str, usual: str) -> str:
    """Return an environment that packages can be added to, for a hint: `usual` for one that opperf did not build."""
    return usual if environment.startswith(("current", "python=")) else environment


def _hint(module: str, environment: str) -> str:
    """Say how a module that is missing comes to be there.

    >>> _hint("pympler.asizeof", "numpy==2.4.6")
    "add it to the environment, as in `--environment 'numpy==2.4.6 + pympler'`"
    >>> _hint("json.of_another_release", "numpy==2.4.6")
    'the `json` that is there has no such module: take the release of either that goes with the other'
    """
    package = module.partition(".")[0]
    if package in sys.modules:
        return f"the `{package}` that is there has no such module: take the release of either that goes with the other"
    return f"add it to the environment, as in `--environment '{environment} + {package}'`"
