"""What one call computes and moves in PyTorch: operations by its own counter, bytes by the tensors that it meets.

The counter has formulas for products, convolutions and attention; of other operators it knows nothing. A result that
lies in the memory of an input moves nothing, unless the call writes into it.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils.flop_counter import FlopCounterMode

from opperf.domain.backend import Work
from opperf.domain.measurement import Counts

SOURCE = "PyTorch's counter of operations; tensors given and returned"
#: Operators that read no more of their first tensor than they return.
GATHERING = frozenset({"embedding", "embedding_bag", "gather", "index", "index_select", "take", "take_along_dim"})
#: Operators that read no element of the tensors that they are given.
FILLING = frozenset({"fill_", "zero_"})


def of_call(work: Work, *, long: bool) -> Counts:
    """Make one call and return what it computed and moved; a long one is followed by its shapes alone."""
    counter = FlopCounterMode(display=False)
    # The results of a call on tensors without elements have their shapes, and are made in no time.
    shapes = FakeTensorMode(allow_non_fake_inputs=True) if long else nullcontext()
    with work.scope(), shapes, counter:
        arguments = work.arguments if work.before is None else work.before()
        result = work.function(*arguments, **work.keywords)
    flops = int(counter.get_total_flops())
    return Counts(flops or None, _move(work.function, [*arguments, *work.keywords.values()], result), SOURCE)


def _move(function: Any, given: Iterable[Any], result: Any) -> int:
    """Return the bytes that were read, and those that were written."""
    name = _name(function)
    inputs, outputs = _tensors(given), _tensors([result])
    there = {tensor.untyped_storage().data_ptr() for tensor in inputs}
    changes = name.endswith("_")
    written: int = sum(
        tensor.nbytes
        for tensor in outputs
        if changes or isinstance(tensor, FakeTensor) or tensor.untyped_storage().data_ptr() not in there
    )
    if not written or name in FILLING or name.endswith("_like") or name.startswith("new_"):
        return written
    if name in GATHERING:
        first, *others = inputs
        inputs = others
        written += min(first.nbytes, written)
    read: int = sum(tensor.nbytes for tensor in inputs)
    return written + read


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
