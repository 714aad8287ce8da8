"""Devices of PyTorch on what stands for them: a cold cache on CUDA's, and one whose module has no more than it must."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.in_environment import printed

SCRIPT = Path(__file__).with_name("device_torch.py")


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    """What became of both devices."""
    result: dict[str, Any] = json.loads(printed("torch", SCRIPT))
    return result


def test_twice_the_devices_cache_is_written_at_each_sweep_where_its_size_is_told(seen: dict[str, Any]) -> None:
    assert seen["swept"] == {
        "bytes": 6 << 20,
        "written": True,
        "untold": [None, None],
        "on a CPU": None,
    }


def test_what_pytorch_keeps_for_later_tensors_is_free_and_a_child_that_shares_a_device_has_its_part(
    seen: dict[str, Any],
) -> None:
    assert seen["free"] == {"in turn": [100, 50, 100], "given back": True, "shared": [0.45, 35]}


def test_what_the_module_of_a_registered_device_lacks_pytorch_has_for_any_device(seen: dict[str, Any]) -> None:
    assert seen["bare"] == {
        "chosen and waited for": [0, "bare:0"],
        "nanoseconds": 500_000,
        "events": 2,
        "untold memory": [None, None],
        "memory": [8, 92, 24, 40, "bare caching allocator"],
        "without a wait": "`torch.bare` has no `synchronize`",
    }
