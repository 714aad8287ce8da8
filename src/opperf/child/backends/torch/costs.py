"""What one call computes, moves and allocates in PyTorch.

Operations are told by PyTorch's own counter, bytes by the tensors that a call meets. The counter has formulas for
products, convolutions and attention; of other operators it knows nothing. A result that lies in the memory of an input
moves nothing, unless the call writes into it.

On a CPU the profiler's `[memory]` events, one for each allocation and release, are summed in the order of time; the
running maximum is the peak. The profiler's own table (`key_averages`) misses scratch space. On CUDA the allocator
keeps the peak.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.autograd import _disable_profiler, _enable_profiler, _prepare_profiler
from torch.autograd.profiler import ProfilerActivity, ProfilerConfig, ProfilerState
from torch.utils import flop_counter
from torch.utils.flop_counter import FlopCounterMode

from opperf.child.backends.torch.accelerator import Accelerator
from opperf.domain.call import Work
from opperf.domain.measurement import Counts, Memory

SOURCE = "PyTorch's counter of operations; tensors given and returned"
#: Operators that read no more of their first tensor than they return.
GATHERING = frozenset({"embedding", "embedding_bag", "gather", "index", "index_select", "take", "take_along_dim"})
#: Operators that read no element of the tensors that they are given.
FILLING = frozenset({"fill_", "zero_"})


def count(work: Work, *, long: bool) -> Counts:
    """Make one call and return what it computed and moved; a long one is followed by its shapes alone."""
    counter = FlopCounterMode(display=False)
    compiler = nullcontext() if long else _without_compiler()
    # The results of a call on tensors without elements have their shapes, and are made in no time.
    shapes = FakeTensorMode(allow_non_fake_inputs=True) if long else nullcontext()
    with work.scope(), compiler, shapes, counter:
        arguments = work.make_arguments()
        result = work.function(*arguments, **work.keywords)
    flops = int(counter.get_total_flops())
    return Counts(flops or None, _move(work.function, [*arguments, *work.keywords.values()], result), SOURCE)


@contextmanager
def _without_compiler() -> Iterator[None]:
    """Let the counter look at a call without the compiler, where that is not imported: it takes as long as PyTorch.

    PyTorch imports the compiler to tell it that it must not compile the counter
    (https://github.com/pytorch/pytorch/blob/v2.6.0/torch/_compile.py): the call that is counted, which has run before,
    has no use for it. Where PyTorch keeps the word of it elsewhere, the compiler is imported.
    """
    mode = getattr(flop_counter, "_FlopCounterMode", FlopCounterMode)
    counter: Any = inspect.unwrap(mode.__torch_dispatch__)
    if "torch._dynamo" in sys.modules or counter is mode.__torch_dispatch__:
        yield
        return
    counter.__dynamo_disable = counter
    try:
        yield
    finally:
        del counter.__dynamo_disable


def _move(function: Any, arguments: Iterable[Any], result: Any) -> int:
    """Return the bytes that were read, and those that were written."""
    name = _name(function)
    inputs, outputs = _tensors(arguments), _tensors([result])
    there = {tensor.untyped_storage().data_ptr() for tensor in inputs}
    changes = name.endswith("_")
    output_bytes: int = sum(
        tensor.nbytes
        for tensor in outputs
        if changes or isinstance(tensor, FakeTensor) or tensor.untyped_storage().data_ptr() not in there
    )
    if not output_bytes or name in FILLING or name.endswith("_like") or name.startswith("new_"):
        return output_bytes
    if name in GATHERING:
        first, *others = inputs
        inputs = others
        output_bytes += min(first.nbytes, output_bytes)
    read: int = sum(tensor.nbytes for tensor in inputs)
    return output_bytes + read


def _name(function: Any) -> str:
    """Return `add_` of `aten::add_.Tensor`, of `torch.Tensor.add_`, ..."""
    packet = getattr(function, "overloadpacket", function)
    return str(getattr(packet, "__name__", "")).rpartition(".")[2]


def _tensors(values: Iterable[Any]) -> list[torch.Tensor]:
    """Return the tensors among values with elements of their own in memory, also those in lists."""
    tensors = []
    for value in values:
        if isinstance(value, torch.Tensor):
            if value.layout == torch.strided:
                tensors.append(value)
        elif isinstance(value, (list, tuple)):
            tensors += _tensors(value)
    return tensors


def trace_memory(work: Work, accelerator: Accelerator | None) -> Memory | None:
    """Make one call and return what it took on the CPU or an accelerator."""
    arguments = work.make_arguments()
    with work.scope():
        return _on_cpu(work, arguments) if accelerator is None else accelerator.memory(work, arguments)


def _on_cpu(work: Work, arguments: tuple[Any, ...]) -> Memory:
    activities = {ProfilerActivity.CPU}
    config = ProfilerConfig(
        ProfilerState.KINETO, False, True, False, False, False, torch._C._profiler._ExperimentalConfig()
    )
    _prepare_profiler(config, activities)
    _enable_profiler(config, activities)
    try:
        result = work.function(*arguments, **work.keywords)
    finally:
        recording = _disable_profiler()
    del result  # its release comes after the profiler's end: the peak is while it lives
    steps = sorted((event.start_ns(), event.nbytes()) for event in recording.events() if event.name() == "[memory]")
    live = peak = allocated = 0
    for _, nbytes in steps:
        live += nbytes
        peak = max(peak, live)
        allocated += max(0, nbytes)
    return Memory(peak, allocated, "profiler allocation events")
