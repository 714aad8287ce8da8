"""Run in a framework's environment: time blocks of steps under opperf's profiler and under the framework's own.

python profiled_steps.py FRAMEWORK ROUNDS      prints a list of pairs, in seconds
python profiled_steps.py idle|without STEPS    prints what a script takes that imports opperf's profiler, or does not:
                                               CPU time, which neighbours on the machine disturb less

The steps are of many short operators, where a profiler costs most. Both profilers watch operators and memory. What is
timed is the block from start to stop; what makes a table of it afterwards is not.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

STEPS, LAYERS, WIDTH, BATCH = 20, 20, 64, 16
Profiler = Callable[[], AbstractContextManager[Any]]


def torch_step() -> Callable[[], None]:
    """Return a training step of PyTorch."""
    import torch

    torch.set_num_threads(1)
    layers = [layer for _ in range(LAYERS) for layer in (torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU())]
    model, data = torch.nn.Sequential(*layers), torch.ones(BATCH, WIDTH)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        optimizer.zero_grad()
        model(data).sum().backward()
        optimizer.step()

    return step


@contextmanager
def torch_profiler() -> Iterator[None]:
    """Watch by PyTorch's own."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True):
        yield


def mxnet_step() -> Callable[[], None]:
    """Return a training step of MXNet."""
    import mxnet as mx

    weights = [mx.nd.ones((WIDTH, WIDTH)) * 0.01 for _ in range(LAYERS)]
    for weight in weights:
        weight.attach_grad()
    data = mx.nd.ones((BATCH, WIDTH))

    def step() -> None:
        with mx.autograd.record():
            result = data
            for weight in weights:
                result = mx.nd.relu(mx.nd.dot(result, weight))
        result.backward()
        for weight in weights:
            mx.nd.sgd_update(weight, weight.grad, out=weight, lr=0.01)
        mx.nd.waitall()

    return step


@contextmanager
def mxnet_profiler() -> Iterator[None]:
    """Watch by MXNet's own."""
    import mxnet as mx

    with tempfile.TemporaryDirectory() as folder:
        mx.profiler.set_config(
            profile_imperative=True,
            profile_symbolic=True,
            profile_memory=True,
            aggregate_stats=True,
            continuous_dump=False,
            filename=str(Path(folder) / "profile.json"),
        )
        mx.profiler.set_state("run")
        yield
        mx.profiler.set_state("stop")
        mx.profiler.dumps(reset=True)


def spent(profiler: Profiler, step: Callable[[], None]) -> float:
    """Return what a block of steps takes, in seconds."""
    start = time.perf_counter()
    with profiler():
        for _ in range(STEPS):
            step()
    return time.perf_counter() - start


def pairs(framework: str, rounds: int) -> list[tuple[float, float]]:
    """Return what a block takes under opperf's profiler and under the framework's own, in alternating random order."""
    from opperf import profiler

    step = {"torch": torch_step, "mxnet": mxnet_step}[framework]()
    theirs: Profiler = {"torch": torch_profiler, "mxnet": mxnet_profiler}[framework]

    def ours() -> AbstractContextManager[Any]:
        block: AbstractContextManager[Any] = profiler.profile(framework, memory=True)
        return block

    order: list[Profiler] = [ours, theirs]
    result = []
    for _ in range(rounds + 2):  # the first ones set things up
        random.shuffle(order)
        took = {one: spent(one, step) for one in order}
        result.append((took[ours], took[theirs]))
    return result[2:]


def script(steps: int, *, idle: bool) -> float:
    """Return what a whole script takes with the start of Python, in seconds of CPU time."""
    step = torch_step()
    if idle:
        import opperf.profiler  # noqa: F401
    for _ in range(steps):
        step()
    return time.process_time()


if __name__ == "__main__":
    kind, number = sys.argv[1], int(sys.argv[2])
    random.seed(0)
    print(json.dumps(script(number, idle=kind == "idle") if kind in ("idle", "without") else pairs(kind, number)))
