"""What was alive at the peak of memory, by hand."""

from __future__ import annotations

import json

from opperf.domain.profile.chrome import from_trace, to_trace
from opperf.domain.profile.event import Block, Event, Profile, highest_peaks, merge
from opperf.domain.profile.module_tree import module_rows
from opperf.domain.profile.peak_memory import peak_rows


def block(size: int, module: str, *, time: int = 90, operator: str = "aten::mm", process: int = 1) -> Block:
    """Return memory that was alive at the peak."""
    return Block(process, "cpu/0", time, size, 10, operator, module, "", (4, 8), "float32")


CALLS = (
    *(Event(f"Net.layers.{number}", "module", 10 * number, 9, 1, "main") for number in range(3)),
    *(
        Event("aten::mm", "operator", 10 * number + 1, 5, 1, "main", module=f"Net.layers.{number}")
        for number in range(3)
    ),
)
BLOCKS = (block(64, "Net.layers.0"), block(64, "Net.layers.1"), block(32, "", operator="aten::empty"))
PROFILE = Profile(CALLS, processes={1: {}}, blocks=BLOCKS)


def test_blocks_of_equal_layers_and_of_one_shape_are_one_row() -> None:
    assert [(row.operator, row.module, row.blocks, row.size, row.share) for row in peak_rows(PROFILE)] == [
        ("aten::mm", "Net.layers.*", 2, 128, 0.8),
        ("aten::empty", "", 1, 32, 0.2),
    ]


def test_of_several_peaks_of_a_device_the_highest_counts_and_each_process_has_its_own() -> None:
    others = (block(100, "Net", time=20), block(8, "Net", process=2))
    merged = merge([PROFILE, Profile(blocks=others)])
    assert highest_peaks(merged.blocks) == (*BLOCKS, others[1])


def test_modules_have_what_of_theirs_was_alive() -> None:
    rows = {row.name: row.at_peak for row in module_rows(PROFILE)}
    assert (rows["Net"], rows["Net.layers.*"]) == (128, 128)


def test_blocks_are_read_as_they_were_written() -> None:
    assert from_trace(json.loads(json.dumps(to_trace(PROFILE))), "x.json").blocks == BLOCKS
