"""Modes of PyTorch: CUDA graphs, on what stands in for a device's; and that eager mode goes without the compiler."""

from __future__ import annotations

import json
from pathlib import Path

from tests.in_environment import printed

SCRIPT = Path(__file__).with_name("graphed_torch.py")


def test_a_backend_of_pytorch_starts_without_the_compiler() -> None:
    script = "import sys, opperf.child.backends.torch.runtime; print('torch._dynamo' in sys.modules)"
    assert printed("torch", "-c", script) == "False\n"


def test_a_replay_computes_on_what_its_inputs_are_now_and_what_cannot_be_captured_says_why() -> None:
    assert json.loads(printed("torch", SCRIPT)) == {
        "on a CPU": "no_device",
        "forward follows its input": True,
        "one launch": True,
        "memory": None,
        "backward": True,
        "a fresh forward": "no_graph",
        "reads a value": "CUDA cannot capture it: CUDA error: operation not permitted when stream is capturing",
        "ends the child": True,
        "calls": 3,
        "a recurrent layer": [True, 1, 0.0, True, False, False],
    }
