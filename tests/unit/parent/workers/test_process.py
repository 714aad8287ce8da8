"""What the parent keeps of a child's output, and what a child gets of the machine: no child is started."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from opperf.domain.plan import Side
from opperf.parent.workers import starting
from opperf.parent.workers.output import Output
from opperf.parent.workers.process import Launch


def test_the_last_twenty_lines_of_a_child_are_kept_whole() -> None:
    lines = [f"{number:0100}" for number in range(30)]
    reading, writing = os.pipe()
    with open(writing, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    assert Output(os.fdopen(reading, "rb")).tail(60) == "\n".join(lines[-20:])


def test_children_that_live_at_a_time_share_four_fifths_of_the_free_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = []

    def worker(python: Path, package: Path, side: Side, launch: Launch) -> Any:
        limits.append(launch.memory)

    monkeypatch.setattr(starting, "available_memory", lambda: 1000)
    monkeypatch.setattr(starting, "package_folder", Path)
    monkeypatch.setattr(starting, "Worker", worker)
    starting.start(Side("null"), progress=print, greet=False)
    starting.start(Side("null"), progress=print, greet=False, sharing=2)
    assert limits == [800, 400]
