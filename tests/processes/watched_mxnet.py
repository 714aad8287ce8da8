"""Run in MXNet's environment: watch small programs, and print what was seen beside what MXNet itself says of them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mxnet as mx
from mxnet import autograd, nd
from mxnet.gluon import nn

from opperf.child.backends.mxnet import custom_add_one
from opperf.child.backends.mxnet.watcher import Watcher
from opperf.domain.profile.chrome import to_trace
from opperf.domain.profile.watching import Watching

SQUARE = nd.ones((256, 256))
FEW = nd.ones((2, 5))


def watched(program: Callable[[Watcher], Any], **asked: Any) -> dict[str, Any]:
    """Return what was seen of a program, the times around it, what it raised at its end, and MXNet's own summary."""
    watcher = Watcher(Watching(**asked))
    before, raised = time.time_ns(), ""
    watcher.start()
    program(watcher)
    try:
        watcher.stop()
    except mx.MXNetError as problem:
        raised = str(problem)
    after = time.time_ns()
    own = mx.profiler.dumps(format="json")  # empty where nothing was added up
    if own:
        mx.profiler.dumps(reset=True)
    seen = to_trace(watcher.take())
    return {"trace": seen, "between": [before, after], "raised": raised, "own": json.loads(own or "null")}


def products(watcher: Watcher) -> None:
    """Call two operators, one of them three times, in two steps."""
    for _ in range(3):
        nd.dot(SQUARE, SQUARE)
    nd.waitall()
    watcher.step("products")
    nd.relu(SQUARE)
    nd.waitall()
    watcher.step("rest")


def interrupted(watcher: Watcher) -> None:
    """Call an operator before a stop, after it, and after the next start."""
    nd.dot(SQUARE, SQUARE)
    watcher.stop()
    nd.relu(SQUARE)
    watcher.start()
    nd.dot(SQUARE, SQUARE)


def elsewhere(watcher: Watcher) -> None:
    """Call an operator in a thread that has a name."""
    nd.dot(SQUARE, SQUARE)
    thread = threading.Thread(target=called_and_held, name="worker", daemon=True)
    thread.start()
    called.wait()


called, never = threading.Event(), threading.Event()


def called_and_held() -> None:
    """Call an operator, and go on living."""
    nd.relu(SQUARE)
    nd.waitall()
    called.set()
    never.wait()


def trained(watcher: Watcher) -> None:
    """Make one step of training."""
    with autograd.record():
        loss = net(FEW).sum()
    loss.backward()


def inferred(watcher: Watcher) -> None:
    """Call the network as it is."""
    net(FEW)


def custom(watcher: Watcher) -> None:
    """Call an operator that is written in Python."""
    nd.Custom(SQUARE, op_type=custom_add_one.NAME)


def failing(watcher: Watcher) -> None:
    """Call an operator that fails, which the threaded engine tells only who waits."""
    nd.dot(SQUARE, SQUARE)
    try:
        nd.random.normal(0, -1, (2, 2))
    except mx.MXNetError:
        print("failed at once")


def configured(watcher: Watcher) -> None:
    """Configure the profiler, and never start it."""
    mx.profiler.set_config(filename="own.json", aggregate_stats=True, continuous_dump=False)
    nd.dot(SQUARE, SQUARE)


def started(watcher: Watcher) -> None:
    """Use the profiler as its tutorial does, twice; what runs in between is not recorded."""
    nd.dot(SQUARE, SQUARE)
    mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename="own.json")
    for function in (nd.relu, nd.exp):
        mx.profiler.set_state("run")
        function(SQUARE)
        nd.waitall()
        mx.profiler.set_state("stop")
        nd.abs(SQUARE)
        nd.waitall()
        mx.profiler.dumps()
        mx.profiler.dump()


custom_add_one.register()
net = nn.HybridSequential()
net.add(nn.Dense(8, activation="relu"), nn.Dense(8, activation="relu"), nn.Dense(4))
net.initialize()
net(FEW)

result = {
    "products": watched(products, memory=True, api=True, shapes=True, stacks=True),
    "interrupted": watched(interrupted),
    "elsewhere": watched(elsewhere),
    "trained": watched(trained, modules=True),
    "custom": watched(custom),
    "failing": watched(failing),
}
net.hybridize(static_alloc=True, static_shape=True)
for _ in range(2):
    net(FEW)
nd.waitall()
result["inferred"] = watched(inferred)
result["planned"] = watched(inferred, memory=True)
result["configured"] = watched(configured)
result["started"] = watched(started, memory=True)
result["started"]["file"] = json.loads(Path("own.json").read_text())
print(json.dumps(result))
