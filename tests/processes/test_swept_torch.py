"""A cold cache of a CUDA device: memory of twice its size is written, on what stands for the device."""

from __future__ import annotations

import json
from pathlib import Path

from tests.in_environment import printed

SCRIPT = Path(__file__).with_name("swept_torch.py")


def test_twice_the_devices_cache_is_written_at_each_sweep_where_its_size_is_told() -> None:
    assert json.loads(printed("torch", SCRIPT)) == {
        "bytes": 6 << 20,
        "written": True,
        "untold": [None, None],
        "on a CPU": None,
    }
