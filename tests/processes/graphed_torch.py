"""Measure from CUDA graphs on what stands in for them, in a Python that has PyTorch; prints what it saw as JSON.

The stand-in writes down the operators of a capture, as a graph does, and a replay runs them on the same memory. As CUDA
does, it refuses to read a value while it captures.
"""

from __future__ import annotations

import json
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from opperf.child.backends.binding import Call
from opperf.child.backends.torch import compilation
from opperf.child.backends.torch.operators.recurrent import BINDINGS
from opperf.child.backends.torch.runtime import TorchBackend
from opperf.domain.backend import Unsupported
from opperf.domain.call import Bound
from opperf.domain.plan import Side


class Graph:
    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def replay(self) -> None:
        for operator, arguments, keywords, results in self.calls:
            for new, old in zip(torch.utils._pytree.tree_leaves(operator(*arguments, **keywords)), results):
                if new is not old:
                    old.copy_(new)


class Capture(TorchDispatchMode):  # type: ignore[misc]
    def __init__(self, graph: Graph, stream: object) -> None:
        super().__init__()
        self.graph = graph

    def __exit__(self, *trouble: Any) -> None:
        super().__exit__(*trouble)
        if trouble[0] is not None:  # as `capture_end`, which hides what went wrong before
            raise RuntimeError("CUDA error: operation failed due to a previous error during capture")

    def __torch_dispatch__(self, operator: Any, types: Any, arguments: Any = (), keywords: Any = None) -> Any:
        if operator is torch.ops.aten._local_scalar_dense.default:
            raise RuntimeError("CUDA error: operation not permitted when stream is capturing\nmore of it")
        result = operator(*arguments, **(keywords or {}))
        leaves = [leaf.detach() for leaf in torch.utils._pytree.tree_leaves(result)]
        self.graph.calls.append((operator, arguments, keywords or {}, leaves))
        return result


stream = SimpleNamespace(wait_stream=lambda other: None)
torch.cuda.CUDAGraph, torch.cuda.graph = Graph, Capture
torch.cuda.Stream = torch.cuda.current_stream = lambda device: stream
torch.cuda.stream = lambda stream: nullcontext()

backend = TorchBackend(Side("torch", mode="cuda_graph"))
seen: dict[str, Any] = {}
try:
    backend.forward(Bound(torch.exp, (torch.ones(3),)))
except Unsupported as error:
    seen["on a CPU"] = error.slug
backend.device = SimpleNamespace(type="cuda")

x = torch.tensor([0.0, 1.0])
work = backend.forward(Bound(torch.exp, (x,)))
x.fill_(2.0)
seen["forward follows its input"] = torch.equal(work.function(), torch.full((2,), 2.0).exp())
seen["one launch"] = work.arguments == () and work.metrics["compile_time"].value > 0
seen["memory"] = backend.memory(work)

y = torch.tensor([0.0, 1.0])
bound = Bound(torch.sin, (y,), differentiable=(y,))
work = backend.backward(bound, torch.ones_like, fresh=False)
seen["backward"] = torch.allclose(work.function()[0], torch.cos(y.detach()))
try:
    backend.backward(bound, torch.ones_like, fresh=True)
except Unsupported as error:
    seen["a fresh forward"] = error.slug
try:
    backend.forward(Bound(lambda a: a * a.sum().item(), (x,)))
except Unsupported as error:
    seen["reads a value"], seen["ends the child"] = str(error), error.last
seen["calls"] = compilation.CALLS
lstm = BINDINGS["lstm"]
assert isinstance(lstm, Call)
# Biases, layers, dropout, training, both ways, batch first: cuDNN computes gradients of a layer that trains only.
seen["a recurrent layer"] = [parameter.constant for parameter in lstm.positional[3:]]
print(json.dumps(seen))
