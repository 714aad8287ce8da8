"""Where results are written: a file has its old content or its new one, never a part.

What cannot be written is one `InputError`, with the file's name and the system's reason.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from opperf.errors import InputError


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all; raises `InputError` where no file can be made beside it."""
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise InputError(f"cannot write `{path}`: {error.strerror}", slug="output") from error
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
