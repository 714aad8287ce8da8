"""Result files, read whole."""

from __future__ import annotations

from pathlib import Path

from opperf.record import Run
from opperf.text_file import read_json


def read_run(path: Path) -> Run:
    """Read a result file; raises `InputError` that says what is wrong and where."""
    return Run.from_json(read_json(path, hint="`opperf run --format json --output FILE` writes one"), str(path))
