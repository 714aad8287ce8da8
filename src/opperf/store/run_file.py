"""Result files: read whole, written whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from opperf.errors import InputError
from opperf.record import Run


def read_run(path: Path) -> Run:
    """Read a result file; raises `InputError` that says what is wrong and where."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read `{path}`: {getattr(error, 'strerror', None) or error}", slug="input") from error
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error})", hint="`opperf run --format json --output FILE`") from error
    return Run.from_json(data, str(path))


def write_text(path: Path, text: str) -> None:
    """Write a file so that it has the old content or the new one, never a part."""
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
