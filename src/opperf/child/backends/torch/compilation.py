"""Compiled mode: what `torch.compile` makes of an operator, as one graph.

* Each trial gets a code object of its own. `torch.compile` keeps what it compiled by code object and gives up after
  eight of one, silently: in one process the ninth operator, and those after it, ran eager. It also stops compiling for
  fixed shapes when a code object has seen two.
* A process compiles a program once: who asks for the same call again, with tensors elsewhere in memory, gets the same
  code object. Without that, each round of a comparison compiled.
* What the compiler keeps on the disk is used where `TORCHINDUCTOR_CACHE_DIR` names a folder for it, as opperf does for
  the children of a command, and not otherwise. What is timed is then loaded from there in every process, also in that
  which compiled it: the same wrapper is around the same library. The time to compile is that of a process which found
  nothing there; of the others it is not known, and their notes say so.
* What the first compilation of a process does once (imports, trying the C++ compiler) is no part of that time.
* A backward that runs again on a graph that is kept must not give its buffers away, which is asked at each call; so it
  is forbidden for all.

Mode `cuda_graph`: a call is captured once, and each measured call launches what was captured.

* The calls before the capture run on the stream that it captures: libraries set themselves up in them, and the graph of
  a backward must have been recorded there (https://pytorch.org/docs/stable/notes/cuda.html#cuda-graphs).
* A replay gives every call the same memory. What one call allocates is not known, therefore.
* A capture only writes down what would run, but the calls before it run: what they change is put back.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from importlib import import_module
from time import perf_counter
from types import FunctionType
from typing import Any

import torch
import torch._dynamo.exc
import torch._functorch.config
from torch._dynamo.utils import counters

from opperf.child.backends.common.values import constant
from opperf.domain.backend import Unsupported
from opperf.domain.call import Bound, Work
from opperf.domain.dataclass import dataclass
from opperf.domain.measurement import Quantity, compile_time
from opperf.domain.units import format_seconds

torch._functorch.config.donated_buffer = False
if not {"TORCHINDUCTOR_CACHE_DIR", "TORCHINDUCTOR_FORCE_DISABLE_CACHES"}.intersection(os.environ):
    torch.compiler.config.force_disable_caches = True
#: The error of which `torch.compile` makes another when it needs a compiler.
NO_COMPILER = "InvalidCxxCompiler"


@dataclass(frozen=True)
class Program:
    """What was compiled of a function for one `key`, what that has measured, and where it came from."""

    key: object
    function: Callable[..., Any]
    metrics: Mapping[str, Quantity]
    notes: Mapping[str, object]


def compiled(bound: Bound, make: Callable[[Bound], Work], direction: str, last: Program | None) -> tuple[Work, Program]:
    """Return the work that `make` makes of the compiled function, and its program: the `last` one where it serves.

    Raises `Unsupported` where there is no C++ compiler, or no one graph.
    """
    key = (bound.function, direction, bound.training, signature((bound.arguments, dict(bound.keywords))))
    try:
        if last is not None and last.key == key:
            work, program = make(replace(bound, function=last.function)), last
        else:
            work, program = _compile(bound, make, key)
    except torch._dynamo.exc.TorchDynamoException as error:
        raise _refusal(error) from error
    return replace(work, metrics=program.metrics, notes={**work.notes, **program.notes}), program


def _compile(bound: Bound, make: Callable[[Bound], Work], key: object) -> tuple[Work, Program]:
    """Compile by a first call; what was written to a cache is then loaded from it, as every later process does."""
    if not begin():
        _compile_something()
    work, function, seconds = _call_first(bound, make)
    loads = _loads()
    if _writes():
        work, function, _ = _call_first(bound, make)
    notes = {"compiled": f"loaded from the cache in {format_seconds(seconds)}"} if loads else {}
    return work, Program(key, function, {} if notes else compile_time(seconds), notes)


def _call_first(bound: Bound, make: Callable[[Bound], Work]) -> tuple[Work, Callable[..., Any], float]:
    """Return the work of a function that its first call has compiled, that function, and the seconds that took."""
    counters.clear()
    start = perf_counter()
    function = _compiled(bound.function)
    work = make(replace(bound, function=function))
    arguments = work.make_arguments()
    with work.scope():
        work.function(*arguments, **work.keywords)
    return work, function, perf_counter() - start


def _loads() -> int:
    """Return the number of graphs that the last first call has loaded from a cache."""
    return int(counters["aot_autograd"]["autograd_cache_hit"] + counters["inductor"]["fxgraph_cache_hit"])


def _writes() -> int:
    """Return the number of graphs that it has compiled and written there."""
    return int(counters["aot_autograd"]["autograd_cache_saved"] + counters["inductor"]["fxgraph_cache_miss"])


def signature(value: Any) -> object:
    """Return the properties of arguments that a program is compiled for: all but the elements of tensors."""
    if isinstance(value, torch.Tensor):
        return (tuple(value.shape), value.dtype, value.layout, _strides(value), value.requires_grad, str(value.device))
    if isinstance(value, (list, tuple)):
        return (type(value), *map(signature, value))
    if isinstance(value, dict):
        return tuple((name, signature(one)) for name, one in value.items())
    return constant(value)


def _strides(tensor: Any) -> tuple[int, ...] | None:
    return tuple(tensor.stride()) if tensor.layout == torch.strided else None


@cache
def begin() -> bool:
    """Do what the first compilation of a process does once, and return whether that could be done without one.

    It is part of starting a child, whose opponent starts meanwhile. What cannot be imported fails where it is used.
    """
    collects = gc.isenabled()
    gc.disable()  # an import leaves little behind, and looking for it takes a tenth of its time
    try:
        import_module("torch._inductor.compile_fx")
        import_module("torch._inductor.cpu_vec_isa").pick_vec_isa()
    except Exception:  # who compiles says why there is no compiler; PyTorch before 2.5 has this elsewhere
        return False
    finally:
        if collects:
            gc.enable()
    return True


@cache
def _compile_something() -> None:
    _compiled(torch.neg)(torch.ones(8))


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    def operator(*arguments: Any, **keywords: Any) -> Any:
        return function(*arguments, **keywords)

    own = FunctionType(operator.__code__.replace(), operator.__globals__, "operator", None, operator.__closure__)
    return torch.compile(own, fullgraph=True)  # type: ignore[no-any-return]


def _refusal(error: Exception) -> Unsupported:
    if type(getattr(error, "inner_exception", error)).__name__ == NO_COMPILER:
        return Unsupported(
            "torch.compile found no C++ compiler",
            slug="no_compiler",
            hint="install one, or name it: `CXX=/path/to/g++`",
        )
    line_of_error = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return Unsupported(
        f"torch.compile failed: {line_of_error.strip()[:300]}", slug="no_compiled_form", hint="`--mode eager`"
    )


#: Calls before the capture, as many as PyTorch's own notes make.
CALLS = 3


def capture_graph(bound: Bound, make: Callable[[Bound], Work], device: Any) -> Work:
    """Return the work that `make` makes, replayed from a graph; raises `Unsupported` where there can be none."""
    if device.type != "cuda":
        raise Unsupported("only a CUDA device runs CUDA graphs", slug="no_device", hint="`--device cuda`")
    start = perf_counter()
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream(device)
    failed: list[RuntimeError] = []
    stream.wait_stream(torch.cuda.current_stream(device))
    try:
        with torch.cuda.stream(stream):
            work = make(bound)
            if work.before is not None:
                raise Unsupported(
                    "a CUDA graph replays the backward of one forward, not of a fresh one", slug="no_graph"
                )
            with work.scope():
                for _ in range(CALLS):
                    work.function(*work.arguments, **work.keywords)
                with torch.cuda.graph(graph, stream=stream):
                    try:
                        outputs = work.function(*work.arguments, **work.keywords)
                    except RuntimeError as error:
                        failed.append(error)
                        raise
    except RuntimeError as error:
        # The end of a capture that failed raises too, and says nothing of why; and generators may still capture.
        text = str(failed[0] if failed else error).strip().partition("\n")[0][:300]
        message = f"CUDA cannot capture it: {text}"
        raise Unsupported(message, slug="no_graph", hint="`--mode eager`", last=True) from error
    torch.cuda.current_stream(device).wait_stream(stream)

    def replay() -> Any:
        graph.replay()
        return outputs

    return Work(replay, (), {}, nullcontext, metrics=compile_time(perf_counter() - start), notes=work.notes)
