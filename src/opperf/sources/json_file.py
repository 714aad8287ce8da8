"""A file that holds one JSON value, read whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from opperf.errors import InputError


def read_json(path: Path) -> Any:
    """Return what a file holds; raises `InputError` that says why it cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read `{path}`: {getattr(error, 'strerror', None) or error}", slug="input") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error})", slug="input") from error
