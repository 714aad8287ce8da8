"""Compiled mode: what `torch.compile` makes of an operator, as one graph.

* Each trial gets a code object of its own. `torch.compile` keeps what it compiled by code object and gives up after
  eight of one, silently: in one process the ninth operator, and those after it, ran eager. It also stops compiling for
  fixed shapes when a code object has seen two.
* What the compiler keeps on the disk is not used: an operator that any process had compiled before took 0.3 s in place
  of 4. `TORCHINDUCTOR_FORCE_DISABLE_CACHES`, when set, decides.
* What the first compilation of a process does once (imports, trying the C++ compiler) is done on a tiny function.
* A backward that runs again on a graph that is kept must not give its buffers away, which is asked at each call; so it
  is forbidden for all.

Mode `cuda_graph`: a call is captured once, and each measured call launches what was captured.

* The calls before the capture run on the stream that it captures: libraries set themselves up in them, and the graph of
  a backward must have been recorded there (https://pytorch.org/docs/stable/notes/cuda.html#cuda-graphs).
* A replay gives every call the same memory. What one call allocates is not known, therefore.
* A capture only writes down what would run, but the calls before it run: what they change is put back.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from time import perf_counter
from types import FunctionType
from typing import Any

import torch
import torch._dynamo.exc
import torch._functorch.config

from opperf.domain.backend import Unsupported
from opperf.domain.call import Bound, Work
from opperf.domain.measurement import compile_time

torch._functorch.config.donated_buffer = False
if "TORCHINDUCTOR_FORCE_DISABLE_CACHES" not in os.environ:
    torch.compiler.config.force_disable_caches = True
#: The error of which `torch.compile` makes another when it needs a compiler.
NO_COMPILER = "InvalidCxxCompiler"


def compiled(bound: Bound, make: Callable[[Bound], Work]) -> Work:
    """Return the work that `make` makes of the compiled function, compiled by one call of it.

    Raises `Unsupported` where there is no C++ compiler, or no one graph.
    """
    try:
        _begin()
        start = perf_counter()
        work = make(replace(bound, function=_compiled(bound.function)))
        arguments = work.make_arguments()
        with work.scope():
            work.function(*arguments, **work.keywords)
    except torch._dynamo.exc.TorchDynamoException as error:
        raise _refusal(error) from error
    return replace(work, metrics=compile_time(perf_counter() - start))


@cache
def _begin() -> None:
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
                    outputs = work.function(*work.arguments, **work.keywords)
    except RuntimeError as error:
        text = str(error).strip().partition("\n")[0][:300]
        raise Unsupported(f"CUDA cannot capture it: {text}", slug="no_graph", hint="`--mode eager`") from error
    torch.cuda.current_stream(device).wait_stream(stream)

    def replay() -> Any:
        graph.replay()
        return outputs

    return Work(replay, (), {}, nullcontext, metrics=compile_time(perf_counter() - start), notes=work.notes)
