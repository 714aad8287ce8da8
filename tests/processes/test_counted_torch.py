"""What PyTorch's own counter costs: its call, and no compiler."""

from __future__ import annotations

import json
from pathlib import Path

from tests.in_environment import printed

SCRIPT = Path(__file__).with_name("counted_torch.py")


def test_an_eager_operator_is_counted_and_measured_without_importing_what_compiles() -> None:
    assert json.loads(printed("torch", SCRIPT)) == {"flops": 2 * 8 * 16 * 4, "compiler": []}
