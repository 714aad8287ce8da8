"""The tests that are named as benchmarks: a folder or a file that pytest collects, with a test of it or without."""

from __future__ import annotations

from pathlib import Path

from opperf.domain.errors import InputError


def test_path(path: str) -> str:
    """Return the path that pytest is given to collect; raises `InputError` for a file or folder that is not there."""
    file = Path(path.partition("::")[0])
    if not file.exists():
        raise InputError(f"there is no `{file}`", hint="name a folder or a file of tests: `pytest:tests/bench`")
    return path
