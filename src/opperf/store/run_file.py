"""Result files: read whole, written whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

from opperf.errors import InputError
from opperf.record import Run
from opperf.written import write_text as write_text


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
