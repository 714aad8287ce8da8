"""Record training steps of a model: an execution trace and a Kineto trace. Runs in a Python that has PyTorch.

python benchmarks/record_model.py mlp|transformer STEM
"""

from __future__ import annotations

import ctypes
import os
import sys
from itertools import pairwise

os.environ["ENABLE_PYTORCH_EXECUTION_TRACE_SAVE_INTEGRAL_TENSOR_RANGE"] = "1"

import torch
from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile

#: Steps before the recorder is on, and recorded ones.
WARMUP, STEPS = 3, 5


def mlp() -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    """Return three layers, and a batch of 256."""
    sizes = (784, 1024, 1024, 10)
    layers = [torch.nn.Linear(first, second) for first, second in pairwise(sizes)]
    model = torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1], torch.nn.ReLU(), layers[2])
    return model, (torch.randn(256, 784), torch.randint(0, 10, (256,)))


def transformer() -> tuple[torch.nn.Module, tuple[torch.Tensor, torch.Tensor]]:
    """Return an embedding and two encoder layers over sequences of 64, with the next word to be told, and 8 of them."""
    layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True)
    encoder = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    model = torch.nn.Sequential(torch.nn.Embedding(1000, 256), encoder, torch.nn.Linear(256, 1000))
    words = torch.randint(0, 1000, (8, 65))
    return model, (words[:, :-1].contiguous(), words[:, 1:].contiguous())


def main() -> None:
    """Train on one batch, some steps unseen and then some recorded."""
    name, stem = sys.argv[1:]
    mallopt = ctypes.CDLL(None).mallopt  # as in `examples/record_trace.py`: freed memory is held on to
    mallopt(-3, 32 * 1024 * 1024)
    mallopt(-1, 64 * 1024 * 1024)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model, (data, labels) = {"mlp": mlp, "transformer": transformer}[name]()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    def step() -> None:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(data).flatten(0, -2), labels.flatten())
        loss.backward()
        optimizer.step()

    for _ in range(WARMUP):
        step()
    observer = ExecutionTraceObserver().register_callback(f"{stem}_et.json")
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, execution_trace_observer=observer) as profiler:
        for _ in range(STEPS):
            step()
    profiler.export_chrome_trace(f"{stem}_kineto.json")


if __name__ == "__main__":
    main()
