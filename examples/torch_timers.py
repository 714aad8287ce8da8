"""Two ways to a batched dot product, timed as with `torch.utils.benchmark`: only the import is another.

Run it with a Python that has PyTorch: `$(opperf env python torch) torch_timers.py`, with opperf on its path.
"""

import sys
from importlib.util import find_spec

if find_spec("torch") is None:
    sys.exit(print("no PyTorch in this Python"))

import torch

from opperf.compat.torch_benchmark import Compare, Timer


def mul_sum(left, right):
    return left.mul(right).sum(-1)


def bmm(left, right):
    return torch.bmm(left[:, None, :], right[:, :, None]).flatten(-3)


results = []
for rows in (64, 1024):
    x = torch.ones(rows, 64)
    for description, function in (("mul and sum", mul_sum), ("bmm", bmm)):
        timer = Timer(
            "function(x, x)",
            globals={"function": function, "x": x},
            label="batched dot",
            sub_label=f"{rows} x 64",
            description=description,
        )
        results.append(timer.blocked_autorange(min_run_time=0.1))

print(results[0])
table = Compare(results)
table.trim_significant_figures()
table.highlight_warnings()
table.print()
