"""The size of the last-level cache, and memory that is swept to empty it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from opperf.child.measure import block
from opperf.child.measure.block import UNKNOWN_CACHE, Sweep, last_level_bytes

if TYPE_CHECKING:
    from pathlib import Path


def write(folder: Path, *sizes: str) -> Path:
    """Write a folder as the kernel has it, with a cache for each size."""
    for i, size in enumerate(sizes):
        (folder / f"index{i}").mkdir()
        (folder / f"index{i}" / "size").write_text(size)
    return folder


@pytest.mark.parametrize(
    ("sizes", "nbytes"),
    [
        (("32K\n", "32K\n", "512K\n", "32768K\n"), 32 * 2**20),
        (("48K", "2M", "1G"), 2**30),
        (("4096",), 4096),
        (("none", "", "-5K", "64K extra", "16K"), 16 * 2**10),
        (("none",), UNKNOWN_CACHE),
        ((), UNKNOWN_CACHE),
    ],
)
def test_the_largest_cache_that_can_be_read_counts(sizes: tuple[str, ...], nbytes: int, tmp_path: Path) -> None:
    assert last_level_bytes(write(tmp_path, *sizes)) == nbytes


def test_a_kernel_that_says_nothing_has_a_cache_of_the_usual_size(tmp_path: Path) -> None:
    assert last_level_bytes(tmp_path / "missing") == UNKNOWN_CACHE


def test_a_sweep_is_twice_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block, "last_level_bytes", lambda: 1000)
    assert Sweep().nbytes == 2000


def test_a_sweep_holds_written_memory() -> None:
    assert Sweep(10_000)._memory == b"\x01" * 10_000


def test_a_sweep_reads_its_memory_to_the_end() -> None:
    reached: list[int] = []

    class Watched(bytearray):
        def find(self, *looked: object) -> int:
            assert looked == (b"\x00",), "the whole of it is looked through"
            reached.append(len(self) if super().find(b"\x00") < 0 else super().find(b"\x00"))
            return -1

    sweep = Sweep(10_000)
    sweep._memory = Watched(sweep._memory)
    sweep()
    assert reached == [10_000]
