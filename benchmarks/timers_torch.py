"""Times statements by turns with PyTorch's `Timer` and with opperf's: `timers_torch.py ROUNDS`; prints JSON.

For each statement the medians of both in every round, in seconds. Runs where PyTorch is, with opperf on the path.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import torch.utils.benchmark as theirs

import opperf.compat.torch_benchmark as ours

#: Setup and statement.
STATEMENTS = (
    ("x = torch.ones(8)", "x + 1"),
    ("x = torch.ones(8)", "x.sum()"),
    ("x = torch.ones(8)", "torch.exp(x)"),
    ("x = torch.ones(4, 8); y = torch.ones(1, 8)", "x * y"),
    ("x = torch.ones(64, 64)", "x @ x"),
    ("x = torch.ones(64, 64)", "x.t().contiguous()"),
    ("x = torch.rand(64, 64)", "torch.softmax(x, 1)"),
    ("x = torch.rand(64, 64)", "torch.cat((x, x))"),
    ("x = torch.rand(1000)", "torch.sort(x)"),
    ("x = torch.rand(10_000)", "x.cumsum(0)"),
    ("x = torch.rand(10_000)", "torch.sin(x) + torch.cos(x)"),
    ("x = torch.rand(256, 256)", "x @ x"),
    ("x = torch.rand(256, 256)", "torch.nn.functional.layer_norm(x, (256,))"),
    ("x = torch.rand(100_000)", "torch.relu(x)"),
    ("x = torch.rand(100_000)", "x.argmax()"),
    ("x = torch.rand(4, 8, 32, 32); w = torch.rand(8, 8, 3, 3)", "torch.nn.functional.conv2d(x, w, padding=1)"),
    ("x = torch.rand(4, 8, 64, 64)", "torch.nn.functional.max_pool2d(x, 2)"),
    ("m = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU()); x = torch.rand(16, 64)", "m(x)"),
    ("m = torch.nn.LSTM(16, 16); x = torch.rand(8, 4, 16)", "m(x)"),
    ("x = torch.rand(1000, 1000)", "x.median(1)"),
)


def median(library: Any, setup: str, statement: str) -> float:
    """Time a statement as most scripts do."""
    return float(library.Timer(statement, setup).blocked_autorange().median)


rounds = int(sys.argv[1])
for setup, statement in STATEMENTS:
    times = [[median(library, setup, statement) for library in (theirs, ours)] for _ in range(rounds)]
    print(json.dumps({"statement": statement, "theirs": [one for one, _ in times], "ours": [one for _, one in times]}))
