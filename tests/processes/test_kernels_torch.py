"""Kernels of calls by PyTorch's own profiler: a real trace, in which what a GPU does is put by hand."""

from __future__ import annotations

import json
from pathlib import Path

from tests.in_environment import printed

SCRIPT = Path(__file__).with_name("kernels_torch.py")


def test_each_call_in_a_trace_of_pytorch_has_its_kernels_and_a_trace_without_any_is_refused() -> None:
    assert json.loads(printed("torch", SCRIPT)) == {"a CPU alone": "no_kernels_seen", "busy": [2000] * 3, "long": True}
