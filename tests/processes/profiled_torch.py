"""Run in PyTorch's environment: profile small programs, and print what was seen of each, as JSON.

python profiled_torch.py LENET.py
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

import torch
from torch._C._profiler import _RecordFunctionFast
from torch.utils.checkpoint import checkpoint

from opperf import profiler
from opperf.child.backends.torch.spans import is_of_python
from opperf.child.backends.torch.watcher import Watcher
from opperf.domain.errors import ProfilerError
from opperf.domain.profile.event import Event
from opperf.domain.profile.module_tree import module_rows
from opperf.domain.profile.rows import rows
from opperf.domain.profile.watching import Watching

result: dict[str, Any] = {}
SIDE = 1024


def lenet(path: str) -> Any:
    """Return the module of the example."""
    spec = spec_from_file_location("lenet", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def seen(function: Callable[[], Any], **what: bool) -> tuple[Event, ...]:
    """Return the spans of a call."""
    with profiler.profile(**what) as p:  # type: ignore[arg-type]
        function()
    return p.profile.events


def of(events: tuple[Event, ...], name: str) -> list[Event]:
    """Return the spans of an operator."""
    return [event for event in events if event.name == f"aten::{name}"]


def refused(call: Callable[[], Any]) -> str:
    """Return the slug that a call is refused with."""
    try:
        call()
    except ProfilerError as error:
        return error.slug
    return ""


model = lenet(sys.argv[1])
model.training_step()

# Totals, beside PyTorch's own ---------------------------------------------------------------------------------------
watcher = Watcher(Watching())
watcher.start()
for _ in range(3):
    model.training_step()
watcher.stop()
session = watcher._windows[0].session
profile = watcher.take()
result["theirs"] = {
    row.key: [row.count, row.cpu_time_total / 1e6, row.self_cpu_time_total / 1e6] for row in session.key_averages()
}
result["ours"] = {row.name: [row.calls, row.total, row.own] for row in rows(profile)}
result["tasks"] = sorted({event.name for event in profile.of_kind("task")})
result["taken twice"] = len(watcher.take().events)

# Modules, beside PyTorch's own sum ------------------------------------------------------------------------------------
watcher = Watcher(Watching(modules=True))
watcher.start()
model.training_step()
watcher.stop()
session = watcher._windows[0].session
profile = watcher.take()
operators = {event.name for event in profile.of_kind("operator")}
result["theirs in modules"] = sum(
    row.self_cpu_time_total / 1e6 for row in session.key_averages() if row.key in operators
)
result["by module"] = {
    row.name: [row.level, row.forward + row.backward + row.recomputed + row.optimizer] for row in module_rows(profile)
}

# Compiled graphs: of a backend that compiles nothing, so that only Dynamo's part takes time ---------------------------


class Doubled(torch.nn.Module):  # type: ignore[misc]
    """A layer, and a line that Dynamo cannot follow."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(2))

    def forward(self, data: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            data = layer(data).relu()
        torch._dynamo.graph_break()
        return data.sin()


before = torch.compile
with profiler.profile() as p:
    compiled = torch.compile(Doubled(), backend="eager")
    for rows_of_data in (3, 5):
        compiled(torch.ones(rows_of_data, 4))
(facts,) = p.profile.processes.values()
result["compiled"] = facts["compiled"]
result["compile is put back"] = torch.compile is before

# When, and in which thread ------------------------------------------------------------------------------------------
before = time.time_ns()
events = seen(model.training_step)
result["between"] = (
    before <= min(event.begin for event in events) <= max(event.end for event in events) <= time.time_ns()
)
result["thread"] = sorted({event.thread for event in events})


ran, over = threading.Event(), threading.Event()


def work() -> None:
    """Run an operator, and live until the profiler has stopped: names of threads are known while they live."""
    torch.ones(4).cos()
    ran.set()
    over.wait()


def elsewhere() -> None:
    """Have it run in a thread of its own."""
    threading.Thread(target=work, name="worker").start()
    ran.wait()


events = seen(elsewhere)
over.set()
result["elsewhere"] = [event.thread for event in of(events, "cos")]

# Memory -------------------------------------------------------------------------------------------------------------
ones = torch.ones(SIDE, SIDE)


def three() -> None:
    """Hold two results of 4 MiB together, one after another with a third."""
    first = ones + ones
    second = first + ones
    del first
    third = second * second
    del second, third


with profiler.profile(memory=True) as p:
    three()
result["memory"] = [[event.name, event.allocated, event.peak] for event in p.profile.of_kind("operator")]
result["readings"] = [reading.size for reading in p.profile.readings]
with profiler.profile(memory=True, shapes=True) as p:
    three()
result["alive"] = [[block.operator, block.size, block.shape, block.dtype] for block in p.profile.blocks]
result["summary"] = p.summary()["Memory"]
result["softmax"] = [
    [event.allocated, event.peak] for event in of(seen(lambda: ones.softmax(0), memory=True), "softmax")
]

# Shapes and operations ----------------------------------------------------------------------------------------------
left, right = torch.ones(64, 128), torch.ones(128, 32)
events = seen(lambda: torch.cat([left @ right, torch.ones(1, 32)]), shapes=True)
result["mm"] = [[event.shapes, event.flops] for event in of(events, "mm")]
result["cat"] = [event.shapes for event in of(events, "cat")]

# Windows with short gaps --------------------------------------------------------------------------------------------
watcher = Watcher(Watching())
session_ends = []
for one in range(4):
    watcher.start()
    torch.ones(2).cos()
    while one and time.perf_counter() - watcher._since < (watcher._gap or 0.0):
        torch.ones(2).cos()
    watcher.rest()
    session_ends.append(len(watcher._windows))
    torch.ones(2).sin()
watcher.stop()
rested = watcher.take()
result["rested"] = [session_ends, len(rested.stretches), sorted({event.name for event in rested.of_kind("operator")})]
watcher.start()
torch.ones(2).tan()
watcher.stop()
result["after a rest"] = [event.name for event in watcher.take().events if event.name == "aten::tan"]

# Modules and stacks -------------------------------------------------------------------------------------------------
events = seen(model.training_step, modules=True)
result["modules"] = [event.name for event in events if event.kind == "module"]
result["forward"] = sorted({event.module for event in of(events, "convolution")})
result["backward"] = sorted({event.module for event in of(events, "convolution_backward")})
result["backward is"] = sorted({event.backward for event in of(events, "convolution_backward")})
begins = {event.begin: event.name for event in events}
result["flow"] = [[begins[event.forward], event.name] for event in events if event.forward is not None]
result["outside"] = sorted({event.module for event in of(events, "_log_softmax")})


class Checkpointed(torch.nn.Module):  # type: ignore[misc]
    """Frees what its activation returns, and computes it again in the backward."""

    def __init__(self, reentrant: bool) -> None:
        super().__init__()
        self.reentrant = reentrant
        self.up, self.act, self.down = torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 8)

    def body(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(self.act(self.up(x)) + 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return checkpoint(self.body, x, use_reentrant=self.reentrant)


def checkpointed(reentrant: bool) -> list[list[Any]]:
    """Return the module and the phase of each call of some operators."""
    network, data = Checkpointed(reentrant), torch.randn(4, 8, requires_grad=True)
    spans = seen(lambda: network(data).sum().backward(), modules=True)
    names = ("aten::gelu", "aten::gelu_backward", "aten::add", "recomputation")
    return [[event.name, event.module, event.phase] for event in spans if event.name in names]


result["checkpointed"] = [checkpointed(False), checkpointed(True)]


class Broken(torch.nn.Module):  # type: ignore[misc]
    """Raises in the middle."""

    def forward(self, data: torch.Tensor) -> torch.Tensor:
        """Compute, and raise."""
        raise KeyError(str(data.relu().shape))


def broken() -> None:
    """Go on after a module raised."""
    try:
        torch.nn.Sequential(Broken())(left)
    except KeyError:
        left.cos()


events = seen(broken, modules=True)
result["broken"] = [[event.name, event.module] for event in (*of(events, "relu"), *of(events, "cos"))]
events = seen(model.training_step, stacks=True)
result["stack"] = ["training_step" in " ".join(event.stack) for event in of(events, "convolution_backward")]
result["hooks"] = len(torch.nn.modules.module._global_forward_hooks)

# What is no operator ------------------------------------------------------------------------------------------------


def named() -> None:
    """Name ranges as users and compilers do."""
    with torch.profiler.record_function("mine"):
        left.cos()
    with _RecordFunctionFast("## Call CompiledFxGraph fabc12 ##", keyword_values={"scope": "user_scope"}):
        left.sin()
    with _RecordFunctionFast("compile_file"):
        left.tan()


events = seen(named)
result["kinds"] = [[event.name, event.kind, event.fused] for event in events]

# Steps, and what is refused -----------------------------------------------------------------------------------------
with profiler.profile(schedule=profiler.schedule(skip=1, warmup=1, active=2)) as p:
    for _ in range(5):
        left.cos()
        p.step()
result["steps"] = [[event.name, event.kind] for event in p.profile.events]
with torch.profiler.profile():
    result["taken"] = refused(lambda: seen(named))


def own() -> None:
    """Use PyTorch's profiler by oneself."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as session:
        left.cos()
    result["own"] = [event.key for event in session.key_averages()]


with profiler.profile() as p:
    own()
result["ended"] = [len(p.profile.events), *p.profile.notes]
profiler.set_config(profile_all=True)
profiler.set_state("run")
result["twice"] = [refused(lambda: profiler.set_state("run")), refused(lambda: seen(named)), refused(profiler.dumps)]
left.cos()
profiler.set_state("stop")
result["stopped"] = refused(lambda: profiler.set_state("stop"))
result["counts"] = {name: one["Count"] for name, one in json.loads(profiler.get_summary())["Time"]["operator"].items()}

# What older versions of PyTorch show by their names only, and this one says.
with torch.profiler.profile(with_stack=True) as theirs, torch.profiler.record_function("loss(1): of mine"):
    torch.nn.Linear(2, 2)(torch.rand(2, 2)).sum().backward()
spans = [span for span in theirs.profiler.kineto_results.events() if hasattr(span, "is_python_function")]
said, by_name = ([is_of_python(span, by_name=named) for span in spans] for named in (False, True))
result["calls of Python"] = {"said": sum(said), "told apart alike": said == by_name, "others": said.count(False)}

print(json.dumps(result))
