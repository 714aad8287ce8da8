"""Mode `cuda_graph`: a call is captured once, and each measured call launches what was captured.

* The calls before the capture run on the stream that it captures: libraries set themselves up in them, and the graph of
  a backward must have been recorded there (https://pytorch.org/docs/stable/notes/cuda.html#cuda-graphs).
* A replay gives every call the same memory. What one call allocates is not known, therefore.
* A capture only writes down what would run, but the calls before it run: what they change is put back.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from time import perf_counter
from typing import Any

import torch

from opperf.domain.backend import Bound, Unsupported, Work
from opperf.domain.measurement import compile_time

#: Calls before the capture, as many as PyTorch's own notes make.
CALLS = 3


def captured(bound: Bound, make: Callable[[Bound], Work], device: Any) -> Work:
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
                raise Unsupported("a CUDA graph replays one forward's backward, not a fresh one's", slug="no_graph")
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
