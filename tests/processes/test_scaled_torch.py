"""Tiny samples of PyTorch become cases worth timing: by the smallest factor that does, found in few steps."""

from __future__ import annotations

import json
from pathlib import Path

from tests.in_environment import printed

SCRIPT = Path(__file__).with_name("scaled_torch.py")
#: Two to the power of it is the largest factor, and each step towards one is a search by halving.
MOST_STEPS = 20


def test_the_smallest_factor_that_makes_a_sample_large_is_found_by_halving() -> None:
    result = json.loads(printed("torch", SCRIPT))
    assert {name: one["factor"] for name, one in result.items()} == {"vector": 32768, "matrices": 67, "square": 86}
    assert result["vector"]["elements"] == 1 << 16
    assert max(one["made"] for one in result.values()) <= MOST_STEPS * MOST_STEPS / 2
