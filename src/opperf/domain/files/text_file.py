"""Read whole text files; errors are one `InputError`, with the file's name and the system's reason.

JSON is read within the bounds of `json_text.py`, and an object that has a key twice is refused: a reader that keeps
the last one loses what the user wrote.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from pathlib import Path

from opperf.domain.errors import InputError
from opperf.domain.files.json_text import NotJSON, Pairs, show, value_of

#: Maximum bytes of a file, and of a pipe or device, which may never end.
LARGEST, LARGEST_STREAM = 1 << 30, 1 << 27
PIECE = 1 << 20


def read_bytes(path: Path, *, hint: str | None = None) -> bytes:
    """Return the bytes of a file; raises `InputError`, with the hint, for an unreadable or far too large one."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            is_file = stat.S_ISREG(status.st_mode)
            most = LARGEST if is_file else LARGEST_STREAM
            pieces, size = [], status.st_size if is_file else 0
            while size <= most and (piece := file.read(PIECE)):
                pieces.append(piece)
                size += 0 if is_file else len(piece)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read `{path}`: {reason}", hint=hint, slug="input") from error
    if size > most:
        what = f"a file of {size:,} bytes" if is_file else f"it goes on after {most:,} bytes"
        raise InputError(f"cannot read `{path}`: {what}, expected at most {most:,}", hint=hint, slug="input")
    return b"".join(pieces)


def read_text(path: Path, *, hint: str | None = None) -> str:
    """Return the text of a UTF-8 file, without a byte order mark; raises `InputError`, with the hint, for any other."""
    return decoded(path, read_bytes(path, hint=hint), hint=hint)


def decoded(path: Path, content: bytes, *, hint: str | None = None) -> str:
    """Return the bytes of a file as text, without a byte order mark; raises `InputError` where they are none."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"cannot read `{path}`: {error}", hint=hint, slug="input") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_json(path: Path, *, hint: str | None = None, object_pairs_hook: Pairs | None = None) -> object:
    """Return the JSON value of a file; raises `InputError`, with the hint, for invalid JSON.

    `object_pairs_hook` makes the objects, as that of `json.loads` does.
    """
    try:
        return value_of(read_bytes(path, hint=hint), object_pairs_hook=object_pairs_hook or distinct)
    except NotJSON as error:
        raise InputError(f"{path}: not JSON ({error})", hint=hint, slug="input") from error


def distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object of JSON; raises `NotJSON` for one that has a key twice."""
    result = dict(pairs)
    if len(result) != len(pairs):
        ((name, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise NotJSON(f"the key {show(name)} occurs twice in an object")
    return result
