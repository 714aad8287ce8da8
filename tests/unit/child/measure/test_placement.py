"""A child whose blocks of memory are placed, as far as that needs no library."""

from __future__ import annotations

import os

import pytest

from opperf.child.measure import placement

LIBRARY = "/home/me/.cache/opperf/loops/measure-placement-0123456789abcdef.so"


@pytest.mark.parametrize(
    ("before", "after"),
    [(LIBRARY, None), (f"{LIBRARY}:own.so", "own.so"), ("own.so", "own.so"), ("own.so:", "own.so:"), (None, None)],
)
def test_what_a_child_starts_does_not_load_the_library(
    before: str | None, after: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    if before is not None:
        monkeypatch.setenv("LD_PRELOAD", before)
    placement.keep_to_itself()
    assert os.environ.get("LD_PRELOAD") == after


def test_a_process_without_the_library_says_that_it_cannot_place_its_blocks() -> None:
    assert not placement.is_planned()
    assert not placement.place(5)
