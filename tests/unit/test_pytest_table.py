"""The table of `pytest -p opperf.pytest`: ratios as pytest-benchmark's users know them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from opperf.pytest import _table


def row(name: str, seconds: float) -> Any:
    values = {"min": seconds, "ops": 1 / seconds}
    return SimpleNamespace(stats=SimpleNamespace(name=name), value=values.__getitem__)


def test_ratios_are_to_the_shortest_time_and_the_most_operations() -> None:
    _, _, _, fast, slow, _ = _table("", [row("fast", 1e-3), row("slow", 4e-3)], ("min", "ops"))
    assert fast.split() == ["fast", "1.0000", "(1.00)", "1,000.0", "(1.00)"]
    assert slow.split() == ["slow", "4.0000", "(4.00)", "250.0", "(0.25)"]
