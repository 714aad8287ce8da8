"""Files of tests that are named as benchmarks: those of PyTorch's operators, and what pytest is given to collect."""

from __future__ import annotations

from pathlib import Path

from opperf.domain.errors import InputError

#: What files with tests are called.
PATTERN = "*_test.py"
HINT = "name a file of PyTorch's operator benchmarks, or their folder: `op_bench:pt/add_test.py`, `op_bench:pt/`"


def test_files(path: str) -> list[str]:
    """Return the files with tests at a path, in the order of their names; raises `InputError` where there are none."""
    place = Path(path)
    if place.is_dir():
        files = sorted(map(str, place.glob(PATTERN)))
        if not files:
            raise InputError(f"`{place}` holds no files `{PATTERN}`, expected operator benchmarks", hint=HINT)
        return files
    if not place.is_file():
        raise InputError(f"there is no file or folder `{place}`", hint=HINT)
    if place.suffix != ".py":
        raise InputError(f"`{place}` is no Python file, expected an operator benchmark", hint=HINT)
    return [str(place)]


def test_path(path: str) -> str:
    """Return the path that pytest collects, or a test of a file; raises `InputError` where there is nothing."""
    file = Path(path.partition("::")[0])
    if not file.exists():
        raise InputError(f"there is no `{file}`", hint="name a folder or a file of tests: `pytest:tests/bench`")
    return path
