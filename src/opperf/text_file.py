"""Text files, read whole; what cannot be read is one `InputError`, with the file's name and the system's reason."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from opperf.errors import InputError


def read_text(path: Path, *, hint: str | None = None) -> str:
    """Return what a file of UTF-8 holds, without a byte order mark; raises `InputError`, with the hint, for no such."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read `{path}`: {reason}", hint=hint, slug="input") from error


def read_json(
    path: Path, *, hint: str | None = None, object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None
) -> Any:
    """Return the JSON value that a file holds; raises `InputError`, with the hint, for what holds none.

    `object_pairs_hook` makes the objects, as that of `json.loads` does.
    """
    text = read_text(path, hint=hint)
    try:
        return json.loads(text, object_pairs_hook=object_pairs_hook)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path}: not JSON ({error if text.strip() else 'the file is empty'})", hint=hint, slug="input"
        ) from error
