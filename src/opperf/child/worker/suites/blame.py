"""What benchmark files raise when they are loaded, made one message."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from opperf.child.worker.code import CodeError


@contextmanager
def blaming(root: Path, framework: str) -> Iterator[None]:
    """Make what files below a folder raise one `CodeError`, with the place in them.

    Of a module that is missing it says how to add it to an environment of the `framework`.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        place = ""
        for frame in traceback.extract_tb(error.__traceback__):
            if Path(frame.filename).is_relative_to(root):
                place = f" {Path(frame.filename).relative_to(root)}:{frame.lineno}:"
        hint = None
        if isinstance(error, ModuleNotFoundError):
            hint = f"add it to the environment, as in `--environment '{framework} + {error.name}'`"
        raise CodeError(f"cannot import its files:{place} {type(error).__name__}: {error}", hint=hint) from error
