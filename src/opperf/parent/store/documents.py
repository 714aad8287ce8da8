"""Documents that users keep, read and written whole: result files and files of expectations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from opperf.domain.expectation import Expectation, document, from_document
from opperf.domain.files.destination import write_text
from opperf.domain.files.text_file import read_json
from opperf.domain.profile.chrome import from_trace
from opperf.domain.profile.event import Profile
from opperf.domain.record import Run


def read_run(path: Path) -> Run:
    """Read a result file; raises `InputError` that says what is wrong and where."""
    return Run.from_json(read_json(path, hint="`opperf run --format json --output FILE` writes one"), str(path))


def read_expected(path: Path) -> tuple[Expectation, ...]:
    """Read a file of expectations; raises `InputError` that says what is wrong and where."""
    return from_document(read_json(path, hint="`opperf gate --update-expected` writes it"), str(path))


def write_expected(path: Path, expectations: Sequence[Expectation]) -> None:
    """Write a file of expectations, so that it has the old content or the new one."""
    write_text(path, json.dumps(document(expectations), indent=1, allow_nan=False) + "\n")


def read_profile(path: Path) -> Profile:
    """Read a profile; raises `InputError` for what is none."""
    return from_trace(read_json(path), str(path))
