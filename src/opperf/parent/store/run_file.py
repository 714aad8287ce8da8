"""Result files, read whole."""

from __future__ import annotations

from pathlib import Path

from opperf.domain.files.text_file import read_json
from opperf.domain.record import Run


def read_run(path: Path) -> Run:
    """Read a result file; raises `InputError` that says what is wrong and where."""
    return Run.from_json(read_json(path, hint="`opperf run --format json --output FILE` writes one"), str(path))
