"""Record what a training step of a small convolutional network runs: needs PyTorch, writes two files.

python examples/record_trace.py
opperf replay convnet_et.json --kineto convnet_kineto.json --top 15
"""

from __future__ import annotations

import ctypes
import os

# Keeps the smallest and largest index of each tensor of whole numbers; must be set before PyTorch records.
os.environ["ENABLE_PYTORCH_EXECUTION_TRACE_SAVE_INTEGRAL_TENSOR_RANGE"] = "1"

import torch
from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile

# Has glibc hold on to freed memory, as opperf does when it measures an operator by itself: M_MMAP_THRESHOLD and
# M_TRIM_THRESHOLD (mallopt(3)). Else each call pays for fresh pages of what it returns, some of them half its time.
mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
if mallopt is not None:
    mallopt(-3, 32 * 1024 * 1024)
    mallopt(-1, 64 * 1024 * 1024)


class Block(torch.nn.Module):
    """Two convolutions with normalization, and a way around them."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.second = torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norms = torch.nn.ModuleList(torch.nn.BatchNorm2d(channels) for _ in range(2))

    def forward(self, data: torch.Tensor) -> torch.Tensor:
        """Return the sum of both ways."""
        inner = torch.relu(self.norms[0](self.first(data)))
        return torch.relu(self.norms[1](self.second(inner)) + data)


torch.set_num_threads(1)
torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 32, 7, stride=2, padding=3),
    torch.nn.MaxPool2d(3, stride=2, padding=1),
    Block(32),
    Block(32),
    torch.nn.AdaptiveAvgPool2d(1),
    torch.nn.Flatten(),
    torch.nn.Linear(32, 10),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
images, labels = torch.randn(16, 3, 96, 96), torch.randint(0, 10, (16,))


def step() -> None:
    """Train on one batch."""
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()


for _ in range(3):
    step()
observer = ExecutionTraceObserver().register_callback("convnet_et.json")
with profile(activities=[ProfilerActivity.CPU], record_shapes=True, execution_trace_observer=observer) as profiler:
    step()
profiler.export_chrome_trace("convnet_kineto.json")
print("wrote convnet_et.json and convnet_kineto.json")
