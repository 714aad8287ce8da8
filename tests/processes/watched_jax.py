"""Run in JAX's environment: watch small programs, and print what was seen beside what JAX itself says of them."""

from __future__ import annotations

import gzip
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jax._src import xla_bridge

from opperf.child.backends.jax import hlo
from opperf.child.backends.jax.watcher import Watcher
from opperf.domain.errors import ProfilerError
from opperf.domain.profile.chrome import to_trace
from opperf.domain.profile.watching import Watching

CALLS = 5
#: What JAX itself wrote of each recording: microseconds by instruction, call by call.
own: list[dict[str, list[float]]] = []
started, stopped, folders = jax.profiler.start_trace, jax.profiler.stop_trace, [""]


def start_trace(folder: str, **options: Any) -> None:
    """Start, and know where."""
    folders.append(folder)
    started(folder, **options)


def stop_trace() -> None:
    """Stop, and read what JAX wrote for others to look at."""
    stopped()
    (file,) = Path(folders[-1]).rglob("*.trace.json.gz")
    events = json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]
    times: dict[str, list[float]] = {}
    for event in events:
        if "hlo_op" in event.get("args", {}):
            times.setdefault(event["args"]["hlo_op"], []).append(event["dur"])
    own.append(times)


def watched(program: Callable[[Watcher], Any], **asked: Any) -> dict[str, Any]:
    """Return what was seen of a program, the times around it, and JAX's own files."""
    own.clear()
    watcher = Watcher(Watching(**asked))
    before = time.time_ns()
    watcher.start()
    early = xla_bridge.backends_are_initialized()
    kept = program(watcher)  # what nobody holds cannot be waited for
    watcher.stop()
    after = time.time_ns()
    del kept
    return {"trace": to_trace(watcher.take()), "between": [before, after], "own": list(own), "devices": early}


def layer(data: Any, weight: Any) -> Any:
    """Return a product, and what is done to its elements."""
    return jnp.tanh(data @ weight) + 1.0


jitted = jax.jit(layer)


def first(watcher: Watcher) -> Any:
    """Use JAX for the first time."""
    return jnp.ones((64, 64)) + 1.0


def calls(watcher: Watcher) -> None:
    """Call a compiled function, in a step of JAX's own and one of the watcher's."""
    with jax.profiler.StepTraceAnnotation("train", step_num=3):
        for _ in range(CALLS):
            jitted(square, square).block_until_ready()
    watcher.step("calls")


def interrupted(watcher: Watcher) -> list[Any]:
    """Call before a stop, after it, and after the next start; an array is given away meanwhile."""
    given = jitted(square, square)
    watcher.stop()
    jitted(square, square).block_until_ready()
    watcher.start()
    return [jax.jit(jnp.sin, donate_argnums=0)(given), jitted(square, square)]


def refused() -> str:
    """Return what is said where the program records by itself."""
    with tempfile.TemporaryDirectory() as folder:
        started(folder)
        try:
            Watcher(Watching()).start()
        except ProfilerError as problem:
            return problem.message
        finally:
            stopped()
    return ""


jax.profiler.start_trace, jax.profiler.stop_trace = start_trace, stop_trace
result: dict[str, Any] = {"first": watched(first)}
square = jnp.full((64, 64), 0.01)
jitted(square, square).block_until_ready()
result["instructions"] = CALLS * len(hlo.read(jitted.lower(square, square).compile().as_text()))
result["calls"] = watched(calls, shapes=True, api=True, memory=True, stacks=True)
result["interrupted"] = watched(interrupted)
result["refused"] = refused()
print(json.dumps(result))
