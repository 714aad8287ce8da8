"""`array_api:MODULE`: a library that keeps the array API standard and that opperf knows nothing else of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from opperf.domain import registry

LIBRARY = "array_api:numpy"  # stands for any other: NumPy keeps the standard, and `array_api` has no adapter for it


@pytest.fixture(autouse=True)
def unknown_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget after each test which libraries it has named."""
    for table in (registry.FRAMEWORKS, registry.PRESETS):
        monkeypatch.setitem(table, LIBRARY, None)
        monkeypatch.delitem(table, LIBRARY)


def test_an_unknown_library_is_measured_by_the_standards_names_and_its_own(
    opperf: Callable[..., Any],
) -> None:
    words = ("sort", "erf", f"{LIBRARY}:numpy.cbrt", "--framework", LIBRARY, "--size", "small", "--runs", "5")
    records = opperf("run", *words, "--direction", "forward", "--format", "json").records
    assert [(one["status"], one["side"]["framework"]) for one in records] == [
        ("ok", LIBRARY), ("skipped", LIBRARY), ("ok", LIBRARY),
    ]  # fmt: skip
    assert records[1]["reason"]["message"] == f"{LIBRARY} has no `erf`: numpy has no `erf`"


def test_a_module_without_the_standard_is_refused(opperf: Callable[..., Any]) -> None:
    done = opperf("run", "sum", "--framework", "array_api:json", "--size", "small")
    assert done.code == 3
    assert "`json` does not follow the array API standard" in done.out


def test_a_file_does_not_say_which_library_is_imported(opperf: Callable[..., Any]) -> None:
    done = opperf("run", f"{LIBRARY}:numpy.cbrt", "--size", "small")
    assert done.code == 2
