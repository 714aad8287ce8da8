"""What tests of other tools' benchmark files share: one run of many benchmarks, and what is refused before one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from tests.functional.conftest import current, invoke

#: Records by benchmark, without the part that all names share, and parameters.
Records: TypeAlias = dict[tuple[object, ...], dict[str, Any]]


def records_of(suite: str, prefix: str, folder: Path, cache: Path) -> Records:
    """Measure a suite in its folder, once and briefly."""
    with current(folder, cache):
        done = invoke("run", suite, "--runs", "3", "--format", "json")
    assert done.code == 0, done.err
    return {
        (record["case"]["operator"].removeprefix(prefix), *record["case"]["attributes"].values()): record
        for record in done.records
    }


def check_refused(words: tuple[str, ...], message: str, files: Mapping[str, str]) -> None:
    """Check that a run among files is refused by one message that has these words."""
    for name, text in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    done = invoke("run", *words)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err
