"""Where blocks of memory lie in processes that are compared: at the same places, which a seed decides."""

from __future__ import annotations

import json
import os
import platform
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opperf.domain.case import Case
from opperf.domain.code import Code
from opperf.domain.plan import UNCHECKED, Settings, Side, Trial
from opperf.domain.tensor import TensorSpec
from opperf.parent.workers.duel import Duel
from opperf.parent.workers.placement import PRELOADED, variables

pytestmark = pytest.mark.skipif(
    not shutil.which("cc") or platform.libc_ver()[0] != "glibc", reason="there is no C compiler here, or no glibc"
)

#: What a process asks of the C library: `words` are run in it, with a block's address under each name.
PROBE = """import ctypes, json, random, sys
libc = ctypes.CDLL(None)
size_t, address = ctypes.c_size_t, ctypes.c_void_p
for name, arguments in dict(malloc=[size_t], calloc=[size_t] * 2, aligned_alloc=[size_t] * 2, free=[address],
                            realloc=[address, size_t], malloc_usable_size=[address]).items():
    getattr(libc, name).argtypes, getattr(libc, name).restype = arguments, address
libc.malloc_usable_size.restype, libc.opperf_place.argtypes = size_t, [ctypes.c_uint64]
held = [libc.malloc(random.randrange(1, 200_000)) for _ in range(50)]  # what was allocated before differs
"""
SIZES = (4096, 65536, 262144, 262144, 2_000_000)


@pytest.fixture
def ask() -> Callable[[str], Any]:
    """Run lines in a fresh process, and return the `answer` that they leave."""
    library = dict(variables([Side("numpy")]))
    assert library, "the library is not built"

    def run(lines: str) -> Any:
        code = f"{PROBE}\n{lines}\nprint(json.dumps(answer))"
        done = subprocess.run(
            [sys.executable, "-c", code], env=os.environ | library, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def _places(seed: int, call: str) -> str:
    return (
        f"libc.opperf_place({seed})\nblocks = [libc.{call} for size in {SIZES}]\n"
        "answer = [(block % 65536, (block - blocks[0])) for block in blocks]"
    )


@pytest.mark.parametrize(
    ("call", "alignment"), [("malloc(size)", 16), ("calloc(size, 1)", 16), ("aligned_alloc(64, size)", 64)]
)
def test_two_processes_of_one_seed_have_their_blocks_at_the_same_places(
    call: str, alignment: int, ask: Callable[[str], Any]
) -> None:
    first, second, other = ask(_places(5, call)), ask(_places(5, call)), ask(_places(6, call))
    assert first == second
    assert all(place != elsewhere for place, elsewhere in zip(first, other, strict=True))
    offsets = [offset for offset, _ in first + other]
    assert all(offset % alignment == 0 for offset in offsets)
    # drawn on top of the alignment, and not page by page
    assert len({offset % 4096 for offset in offsets}) > len(SIZES)


def test_the_same_place_serves_call_after_call_and_what_is_written_there_stays(ask: Callable[[str], Any]) -> None:
    answer = ask("""
libc.opperf_place(7)
old = libc.malloc(100_000)
ctypes.memset(old, 1, 100_000)
first = libc.malloc(50_000); libc.free(first)
second = libc.malloc(50_000); ctypes.memset(second, 2, 50_000); libc.free(second)
zeros = ctypes.string_at(libc.calloc(50_000, 1), 50_000)
libc.opperf_place(8)
grown = libc.realloc(old, 300_000)
answer = dict(again=first == second, zeros=zeros == bytes(50_000), usable=libc.malloc_usable_size(grown) >= 300_000,
              grown=ctypes.string_at(grown, 100_000) == b"\\1" * 100_000, moved=grown != old)
""")
    assert answer == dict.fromkeys(("again", "zeros", "usable", "grown", "moved"), True)


def test_blocks_that_are_mapped_for_each_call_and_those_without_a_seed_are_the_c_library_s(
    ask: Callable[[str], Any],
) -> None:
    answer = ask("""
libc.opperf_place(9)
planned, mapped, small = libc.malloc(100_000), libc.malloc(33 << 20), libc.malloc(100)
libc.opperf_place(0)
usual = libc.malloc(100_000)
answer = [libc.malloc_usable_size(block) for block in (planned, mapped, small, usual)]
for block in (planned, mapped, small, usual):
    libc.free(block)
""")
    planned, *others = answer
    assert planned == -(-100_000 // 64) * 64
    assert all(size % 64 for size in others)  # glibc's are a multiple of 16, and 8


def test_threads_that_allocate_at_a_time_get_blocks_of_their_own(ask: Callable[[str], Any]) -> None:
    assert (
        ask("""
import threading
libc.opperf_place(3)
wrong = []
def work(mark):
    for _ in range(2000):
        block = libc.malloc(20_000); ctypes.memset(block, mark, 64)
        other = libc.malloc(20_000); ctypes.memset(other, mark + 100, 64)
        if ctypes.string_at(block, 64) != bytes([mark]) * 64:
            wrong.append(mark)
        libc.free(other); libc.free(block)
threads = [threading.Thread(target=work, args=(mark,)) for mark in range(1, 5)]
for thread in threads: thread.start()
for thread in threads: thread.join()
answer = wrong
""")
        == []
    )


NOTED = '''"""A function that notes where its input and its result lie, and what else would load the library."""
import os
import numpy as np
_places = []


def note(x):
    """Add one."""
    result = x + 1
    place = x.ctypes.data % 65536, result.ctypes.data % 65536
    if place not in _places:
        _places.append(place)
        with open(os.path.join(os.environ["PLACES"], str(os.getpid())), "ab", buffering=0) as file:
            file.write(f"{place} {os.environ.get('LD_PRELOAD')}\\n".encode())
    return result
'''


@pytest.mark.parametrize(("allocator", "placement"), [("fixed", "planned"), ("default", "drawn")])
def test_inputs_and_results_of_both_sides_lie_at_the_same_places_in_each_round(
    allocator: str, placement: str, tmp_path: Path
) -> None:
    (tmp_path / "places").mkdir()
    (tmp_path / "noted.py").write_text(NOTED)
    own = Code(f"{tmp_path / 'noted.py'}:note")
    side = Side("numpy", implementation=own, allocator=allocator, settings={"env.PLACES": str(tmp_path / "places")})
    trial = Trial(Case(str(own), {"x": TensorSpec((65536,))}), side, "forward")
    duel = Duel(side, side, Settings(check=UNCHECKED), lambda _: None, random.Random(1))
    try:
        assert duel.compare(trial, trial).placement == placement
    finally:
        duel.close()
    base, new = (file.read_text().splitlines() for file in (tmp_path / "places").iterdir())
    assert len(base) > 5
    assert (base == new) == (placement == "planned")
    assert all(line.endswith(" None") for line in base + new)


def test_an_own_library_that_is_loaded_ahead_stays_and_places_are_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(PRELOADED, "/usr/lib/own-allocator.so")
    assert variables([Side("numpy")]) == {}
