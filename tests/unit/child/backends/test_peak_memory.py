"""Blocks at the peak of memory, from a tree of events made by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from opperf.child.backends.torch.peak_memory import MOST_BLOCKS, SMALLER, SpanIndex, blocks_at_peak
from opperf.domain.profile.event import Event


def node(tag: str, time: int, *children: Any, **fields: Any) -> Any:
    """Return a node of PyTorch's tree."""
    tags = SimpleNamespace(name=tag)
    return SimpleNamespace(
        tag=tags, start_time_ns=time, start_tid=7, children=children, extra_fields=SimpleNamespace(**fields)
    )


def allocation(time: int, address: int, size: int) -> Any:
    """Return what allocates, or with a negative size frees."""
    device = SimpleNamespace(type="cpu", index=None)
    return node("Allocation", time, ptr=address, alloc_size=size, device=device)


def reads(time: int, address: int, *shape: int) -> Any:
    """Return an operator that takes a tensor."""
    tensor = SimpleNamespace(storage_data_ptr=address, sizes=list(shape), dtype="torch.float32")
    return node("TorchOp", time, inputs=[1, [tensor], tensor])


SPANS = (
    Event("Net", "module", 0, 100, 1, "main", module="Net"),
    Event("aten::mm", "operator", 10, 20, 1, "main", module="Net.fc", backward=True),
    Event("aten::empty", "operator", 12, 4, 1, "main", module="Net.fc", backward=True),
)
INDEX = SpanIndex([7, 7, 7], SPANS, [None, 0, 1])


def test_what_was_freed_before_the_peak_or_allocated_after_it_is_not_alive() -> None:
    tree = [
        allocation(5, 1, 50),
        allocation(13, 2, 100),
        allocation(20, 1, -50),
        allocation(30, 1, 400),
        allocation(40, 2, -100),
        allocation(50, 3, 10),
    ]
    assert [(one.size, one.begin, one.time) for one in blocks_at_peak(tree, INDEX.at)] == [(400, 30, 30), (100, 13, 30)]


def test_a_block_belongs_to_the_innermost_operator_that_does_more_than_allocate() -> None:
    (one,) = blocks_at_peak([allocation(13, 2, 100)], INDEX.at)
    assert (one.operator, one.module, one.phase, one.device) == ("aten::mm", "Net.fc", "backward", "cpu/0")
    (outside,) = blocks_at_peak([allocation(50, 2, 100)], INDEX.at)
    assert (outside.operator, outside.module) == ("", "Net")


def test_a_block_has_the_shape_of_the_largest_tensor_that_was_read_from_it_while_it_lived() -> None:
    tree = [node("TorchOp", 1, allocation(13, 2, 100), reads(14, 2, 5), reads(60, 2, 5, 5), reads(90, 2, 50, 50))]
    tree.append(allocation(70, 2, -100))
    (one,) = blocks_at_peak([*tree, allocation(30, 3, 1)], INDEX.at)[:1]
    assert (one.shape, one.dtype) == ((5, 5), "float32")


def test_what_was_allocated_before_changes_nothing_when_it_is_freed() -> None:
    (one,) = blocks_at_peak([allocation(5, 9, -1000), allocation(6, 1, 10)], INDEX.at)
    assert one.size == 10


def test_small_blocks_are_summed_up_where_there_are_very_many() -> None:
    blocks = blocks_at_peak([allocation(place, place, 2) for place in range(1, MOST_BLOCKS + 11)], INDEX.at)
    assert len(blocks) == MOST_BLOCKS + 1
    assert (blocks[-1].operator, blocks[-1].size) == (SMALLER, 20)
