"""Profiles as they are written: Chrome trace events with what opperf says of them."""

from __future__ import annotations

from pathlib import Path

from opperf.domain.files.text_file import read_json
from opperf.domain.profile.chrome import from_trace
from opperf.domain.profile.event import Profile


def read_profile(path: Path) -> Profile:
    """Read a profile; raises `InputError` for what is none."""
    return from_trace(read_json(path), str(path))
