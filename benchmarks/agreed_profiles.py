"""Run in a framework's environment: a program under opperf's profiler, beside the framework's own report of that run.

python agreed_profiles.py totals FRAMEWORK    prints calls and seconds of each operator, by opperf and by the framework
python agreed_profiles.py cost FRAMEWORK      prints what a short operator takes, alone and profiled, in seconds a call

The program is some steps of the examples' network. Each framework reports on it in its own way:

* PyTorch by `key_averages()` of the very window that opperf's profiler opens;
* MXNet by the summary that its profiler adds up meanwhile, `mx.profiler.dumps`;
* JAX by the trace that its profiler writes for people to look at.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

from opperf import profiler
from opperf.domain.profile.rows import rows

MODELS = Path(__file__).resolve().parents[1] / "examples" / "models"
STEPS = 10
#: Calls of a block of the short operator, the extents of its tensors, and blocks of each kind.
CALLS, SHAPE, BLOCKS = 1000, (32, 32), 15

#: Calls and seconds by the name of an operator.
Totals: TypeAlias = dict[str, tuple[int, float]]


def training_step(framework: str) -> Callable[[], Any]:
    """Return the step of the example, called once for what is made once."""
    spec = spec_from_file_location("lenet", MODELS / f"lenet_{framework}.py")
    if spec is None or spec.loader is None:
        raise SystemExit(f"no example for {framework}")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    step: Callable[[], Any] = module.training_step
    step()
    return step


def profiled(framework: str, step: Callable[[], Any]) -> Any:
    """Return opperf's profile of some steps."""
    with profiler.profile(framework) as p:
        for _ in range(STEPS):
            step()
    return p


def torch_report(step: Callable[[], Any]) -> tuple[Any, Totals]:
    """Return opperf's profile, and PyTorch's report of the window that it opened."""
    from torch.autograd import profiler as own

    windows: list[Any] = []
    window = own.profile

    def kept(*arguments: Any, **settings: Any) -> Any:
        windows.append(window(*arguments, **settings))
        return windows[-1]

    own.profile = kept
    p = profiled("torch", step)
    return p, {row.key: (row.count, row.cpu_time_total / 1e6) for row in windows[-1].key_averages()}


def mxnet_report(step: Callable[[], Any]) -> tuple[Any, Totals]:
    """Return opperf's profile, and the summary that MXNet added up."""
    import mxnet as mx

    from opperf.child.backends.mxnet.operator_times import operators

    p = profiled("mxnet", step)
    told = operators(mx.profiler.dumps(format="json"))
    return p, {event.name: (round(event.calls), event.seconds or 0.0) for event in told}


def jax_report(step: Callable[[], Any]) -> tuple[Any, Totals]:
    """Return opperf's profile, and what JAX wrote of it; what XLA numbers to tell it apart is one operator in both."""
    import jax

    from opperf.child.backends.jax.planes import INSTRUCTION, NUMBER_SUFFIX

    start, stop = jax.profiler.start_trace, jax.profiler.stop_trace
    folders: list[str] = []
    result: Totals = {}

    def started(folder: str, **options: Any) -> None:
        folders.append(folder)
        start(folder, **options)

    def stopped() -> None:
        stop()
        for file in Path(folders[-1]).rglob("*.trace.json.gz"):
            for event in json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]:
                instruction = event.get("args", {}).get(INSTRUCTION)
                if instruction is not None:
                    name = NUMBER_SUFFIX.sub("", instruction) or instruction
                    calls, seconds = result.get(name, (0, 0.0))
                    result[name] = calls + 1, seconds + event["dur"] / 1e6

    jax.profiler.start_trace, jax.profiler.stop_trace = started, stopped
    return profiled("jax", step), result


REPORTS = {"torch": torch_report, "mxnet": mxnet_report, "jax": jax_report}


def totals(framework: str) -> dict[str, Totals]:
    """Return calls and seconds of each operator, by opperf and by the framework.

    Ranges that somebody named and the engine's own work are no operators; what the framework says of them is left out.
    """
    p, theirs = REPORTS[framework](training_step(framework))
    tasks = {event.name for event in p.profile.of_kind("task")}
    return {
        "ours": {row.name: (row.calls, row.total) for row in rows(p.profile)},
        "theirs": {name: row for name, row in theirs.items() if name not in tasks},
    }


def short_call(framework: str) -> Callable[[], Any]:
    """Return a call of an operator that takes little."""
    if framework == "jax":
        jax = import_module("jax")
        array, add = jax.numpy.ones(SHAPE), jax.jit(jax.numpy.add)
        return lambda: add(array, array).block_until_ready()
    if framework == "mxnet":
        nd = import_module("mxnet").nd
        tensor = nd.ones(SHAPE)
        return lambda: nd.add(tensor, tensor)
    torch = import_module("torch")
    torch.set_num_threads(1)
    ones = torch.ones(SHAPE)
    return lambda: torch.add(ones, ones)


def cost(framework: str) -> dict[str, float]:
    """Return what a call takes without the profiler, with it, and as the profile has it, in seconds."""
    call = short_call(framework)

    def block() -> float:
        for _ in range(CALLS // 10):  # what was done before has emptied caches
            call()
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        return (time.perf_counter() - start) / CALLS

    def profiled_block() -> tuple[float, float]:
        with profiler.profile(framework) as p:
            took = block()
        (seen,) = rows(p.profile)
        return took, seen.p50

    alone, profiled, inside = [], [], []
    for number in range(BLOCKS):
        if number % 2:
            alone.append(block())
        took, seen = profiled_block()
        profiled.append(took)
        inside.append(seen)
        if not number % 2:
            alone.append(block())
    # The first ones set things up.
    return {"alone": median(alone[1:]), "profiled": median(profiled[1:]), "in the profile": median(inside[1:])}


QUESTIONS: dict[str, Callable[[str], Any]] = {"totals": totals, "cost": cost}

if __name__ == "__main__":
    question, asked = sys.argv[1:]
    print(json.dumps(QUESTIONS[question](asked)))
