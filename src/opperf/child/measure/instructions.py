"""Count the instructions that a call executes, in a child that runs under Valgrind's callgrind.

Counts are read like a clock: what a block took is the difference of two readings, and the empty loop is subtracted as
it is from a time. Every thread's instructions count, since some frameworks work in threads of their own. Callgrind is
on while blocks run, and off otherwise, so that imports are not slowed down more than they must be.

How long glibc looks for free memory depends on all that the process has freed before: it moved the counts of small
operators by 1-2 %. Whether CPython's pools are full at the moment does so too, by 0.2 %. Without both, processes of one
layout count the same. So each call of an allocator counts as a fixed number of instructions.
"""

from __future__ import annotations

import ctypes
import gc
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from opperf.child.measure.block import Block, loop
from opperf.child.measure.disturbance import NoCounters
from opperf.domain.backend import Backend, Unsupported
from opperf.domain.call import Work
from opperf.domain.clock import Clock, InstructionClock
from opperf.domain.extension import build
from opperf.domain.message.replies import Instructions
from opperf.domain.stats.order import median

#: The instructions that a block has about, and its calls at most: callgrind executes some 50 million in a second.
BLOCK, MOST_CALLS = 1_000_000, 200
#: Blocks of each length, of which the median counts; of calls so long that a block is one, fewer.
ROUNDS, FEW_ROUNDS = 4, 2

#: What a call of the allocator counts as: about what glibc takes where it need not look far.
ALLOCATOR_CALL = 100
ALLOCATOR = ("malloc", "calloc", "realloc", "free", "memalign", "posix_memalign", "aligned_alloc")
#: How the allocator's own functions begin, and what others call of it: how often, and what that executed.
_WITHIN = tuple(f"{name}\n" for name in ALLOCATOR)
_ALLOCATION = re.compile(rf"\ncfn=(?:{'|'.join(ALLOCATOR)})\ncalls=(\d+) .*\n\S+ (\d+)")

#: What CPython's own allocator executes in a call, without glibc's where it asks that, and in a pool with room.
POOL_CALL = 30
POOLS = ("_PyObject_Malloc", "_PyObject_Calloc", "_PyObject_Realloc", "_PyObject_Free")
_OF_POOLS = tuple(f"{name}\n" for name in POOLS)
_POOL_CALLS = re.compile(rf"\ncfn=(?:{'|'.join(POOLS)})\ncalls=(\d+) ")
#: What a function executes itself: a line's number and instructions, unless the line tells of what it called.
_CALLED = re.compile(r"\ncalls=.*\n.*")
_ITSELF = re.compile(r"^\d+ (\d+)$", re.MULTILINE)

#: A name is spelt where it first stands, and is a number from there on; so are places, of which a line has two here.
_NAME = re.compile(r"^(c?fn)=(\(\d+\)) ?(.*)$", re.MULTILINE)
_COST = re.compile(r"^(?:0x[0-9a-f]+|[+-]\d+|\*) \S+ (\d+)$", re.MULTILINE)


class Callgrind:
    """Reads the instructions that this process has executed while it counted."""

    def __init__(self, folder: Path, files: Path) -> None:
        """Load the requests, compiled in `folder`; callgrind writes `files`, each with a number behind a dot.

        Raises `Unsupported` where they cannot be compiled, and outside callgrind.
        """
        # The interpreter's lock is kept, so that handing it over is not counted.
        self._requests = ctypes.PyDLL(str(build(Path(__file__).with_name("callgrind.c"), folder)))
        self._requests.opperf_instruction_set.restype = ctypes.c_char_p
        if not self._requests.opperf_is_counting():
            raise Unsupported("this process does not run under Valgrind", slug="no_valgrind")
        self._files = files
        self._count = self._written = 0
        self._within = False

    def instruction_set(self) -> str:
        """Return the widest vectors that Valgrind shows."""
        return str(self._requests.opperf_instruction_set().decode())

    def start(self) -> None:
        """Count from now on; a block that an exception ended is over."""
        self._within = False
        self._requests.opperf_start()

    def stop(self) -> None:
        """Do not count any more."""
        self._requests.opperf_stop()

    def wall(self) -> int:
        """Return the instructions so far, of blocks: it is read where each begins and where it ends.

        What is executed between blocks is not written, since callgrind takes long to write a file.
        """
        self._within = not self._within
        if not self._within:
            self._requests.opperf_write()
            self._written += 1
            self._count += _total(Path(f"{self._files}.{self._written}"))
        self._requests.opperf_zero()
        return self._count

    cpu = wall


def total(text: str) -> int | None:
    r"""Return the instructions executed by a file of counts; None where it does not say.

    Its `totals` count what was executed before, too.

    >>> total("summary: 500\n\nfn=add\n0 40\ncfn=malloc\ncalls=2 0\n0 390\n\nfn=malloc\n0 70")
    310
    """
    summary = re.search(r"^summary: (\d+)", text, re.MULTILINE)
    if summary is None:
        return None
    functions = text.split("\nfn=")
    allocations = (
        calls for function in functions if not function.startswith(_WITHIN) for calls in _ALLOCATION.findall(function)
    )
    searched = sum(int(executed) - ALLOCATOR_CALL * int(calls) for calls, executed in allocations)
    pooled = sum(_itself(function) for function in functions if function.startswith(_OF_POOLS))
    pooled -= POOL_CALL * sum(int(calls) for calls in _POOL_CALLS.findall(text))
    return int(summary[1]) - searched - pooled


def _itself(function: str) -> int:
    """Return the instructions of a function without those of what it calls."""
    return sum(int(executed) for executed in _ITSELF.findall(_CALLED.sub("", function)))


def _total(file: Path) -> int:
    """Return the sum of a file of counts, and remove it."""
    try:
        text = file.read_text(errors="replace")
    except OSError as error:
        raise Unsupported(f"callgrind wrote no counts: {error}", slug="no_counts") from error
    with suppress(OSError):
        file.unlink()
    executed = total(text)
    if executed is None:
        raise Unsupported(f"callgrind wrote no counts into `{file.name}`", slug="no_counts")
    return executed


class CountedBlock(Block):
    """A block whose clock counts instructions."""

    def _empty_ns(self, *, single: bool) -> float:
        shape = max(1, len(self.work.arguments) + len(self._keywords))
        return _empty(self._clock, shape, self._backend.collects, single)  # type: ignore[arg-type]  # it has a hash

    def per_call(self, calls: int) -> float:
        """Return the instructions of one call: what as many calls again add to a block."""
        if self.one_by_one:
            return self.run(calls) / calls - self.single_overhead_ns
        return (self.run(2 * calls) - self.run(calls)) / calls - self.overhead_ns


@cache
def _empty(clock: Clock, arguments: int, collects: bool, single: bool) -> float:
    """Return the harness's share of one call, in instructions."""
    block, words = loop(arguments, (), collects), ("opperf.empty", *range(arguments - 1))

    def run(calls: int) -> int:
        start = clock.wall()
        block(calls, sys.audit, *words)
        return clock.wall() - start

    run(MOST_CALLS)  # the interpreter adapts its bytecode to what it executes
    if single:
        return median([run(1) for _ in range(ROUNDS)])
    return median([run(2 * MOST_CALLS) - run(MOST_CALLS) for _ in range(ROUNDS)]) / MOST_CALLS


def count(work: Work, backend: Backend, clock: InstructionClock) -> Instructions:
    """Count the instructions of one call of some work."""
    enabled = gc.isenabled()
    gc.disable()
    clock.start()
    try:
        return _count(CountedBlock(work, backend, NoCounters(), clock=clock), clock)
    finally:
        clock.stop()
        if enabled:
            gc.enable()


def _count(block: CountedBlock, clock: InstructionClock) -> Instructions:
    with block.scope():
        block.run(1)
        instructions = max(1, block.run(2) - block.run(1))
        calls = max(1, min(MOST_CALLS, BLOCK // instructions))
        if calls > 1:
            block.run(calls)
        rounds = ROUNDS if instructions < 10 * BLOCK else FEW_ROUNDS
        counts = [block.per_call(calls) for _ in range(rounds)]
    middle = median(counts)
    spread = (max(counts) - min(counts)) / middle if middle > 0 else 0.0
    return Instructions(max(0.0, middle), spread, calls, rounds, clock.instruction_set())


def spelled(text: str) -> str:
    r"""Spell out the names of callgrind's file, and leave one place on a line.

    >>> spelled("fn=(7) malloc\n0x12 40 5\n+3 * 6\ncfn=(7)")
    'fn=malloc\n0 5\n0 6\ncfn=malloc'
    """
    names: dict[str, str] = {}

    def name(match: re.Match[str]) -> str:
        key, text = match[2], match[3]
        return f"{match[1]}={names.setdefault(key, text)}"

    return _COST.sub(r"0 \1", _NAME.sub(name, text))


@contextmanager
def repeatable() -> Iterator[None]:
    """Have processes that are started meanwhile order their dictionaries and sets alike."""
    before = os.environ.get("PYTHONHASHSEED")
    os.environ["PYTHONHASHSEED"] = "0"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONHASHSEED"]
        else:
            os.environ["PYTHONHASHSEED"] = before
