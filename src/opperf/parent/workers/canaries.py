"""Canaries: small programs that show how far jobs disturb each other, one for each class of work.

They need the standard library only. Each runs alone and next to others in turn, so that both meet a machine in the
same mood; the median of the ratios counts.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import datetime, timezone
from itertools import product
from math import sqrt
from typing import Any

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import HarnessError
from opperf.domain.stats.order import median
from opperf.parent.workers.contention import CLASSES, Effect
from opperf.parent.workers.machine import processor_facts

#: How often a canary runs alone and next to others, and how long it takes each time, in seconds. Its neighbours run a
#: little longer, so that it is never alone at the end.
TURNS, TURN_SECONDS, LONGER = 15, 0.03, 1.5
#: Caches where the system does not tell of any, and the most that a canary streams over, in bytes.
OWN_CACHE, SHARED_CACHE, MOST_STREAMED = 1 << 20, 32 << 20, 128 << 20

#: A canary that has less of its CPU than this is disturbed by something else than canaries.
WHOLE_CPU = 0.95

#: Answers each line, which is a number of seconds, with the median time of its work within them and the share of them
#: that it had its CPU. Ends with its stdin.
_PROGRAM = """
import os, sys, time
size, cpus = int(sys.argv[1]), [int(cpu) for cpu in sys.argv[2].split(",")]
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, cpus)
if size:
    source, target = memoryview(bytearray(size // 2)), memoryview(bytearray(size // 2))
    def work():
        target[:] = source
else:
    modulus = 2**521 - 1
    def work():
        pow(3, modulus - 2, modulus)
for line in sys.stdin:
    began, cpu, times = time.perf_counter(), time.process_time(), []
    while not times or time.perf_counter() < began + float(line):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    share = (time.process_time() - cpu) / (time.perf_counter() - began)
    print(sorted(times)[len(times) // 2], share, flush=True)
"""


@dataclass(frozen=True)
class Caches:
    """The bytes of the caches of a core: the largest of its own, and the one that it shares with others."""

    own: int
    shared: int

    def working_set(self, kind: str) -> int:
        """Return the bytes that a canary of a class goes over; none for one that computes in registers."""
        stream_bytes = min(4 * self.shared, MOST_STREAMED)
        return {"compute": 0, "cache": int(sqrt(self.own * self.shared)), "streaming": stream_bytes}[kind]


def caches() -> Caches:
    """Return the caches of this machine."""
    levels: Any = processor_facts()["caches"]
    sizes = {one["level"]: one["size"] for one in levels if one["type"] != "instruction"} if levels else {}
    own = int(sizes.get(2, OWN_CACHE))
    return Caches(own, max(int(sizes.get(3, SHARED_CACHE if not sizes else own)), own))


def measure(leases: Sequence[Sequence[int]]) -> tuple[list[Effect], bool]:
    """Return how far each class slows down each class, with a job on each set of CPUs.

    And whether the machine was idle besides: on a busy one this says little.
    """
    sizes, shares = caches(), []
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    effects = []
    for subject, beside in product(CLASSES, CLASSES):
        with ExitStack() as stack:
            kinds = [subject, *([beside] * (len(leases) - 1))]
            canaries = [stack.enter_context(_start(sizes.working_set(kind), cpus)) for kind, cpus in zip(kinds, leases)]
            turns = _turns(canaries)
        slowdown = median([together.seconds / alone.seconds for alone, together in turns]) - 1
        nbytes = sizes.working_set(subject)
        rate = nbytes / median([together.seconds for _, together in turns]) if nbytes else None
        effects.append(Effect(len(leases), subject, beside, slowdown, now, rate))
        shares += [alone.share for alone, _ in turns]
    return effects, median(shares) >= WHOLE_CPU


@dataclass(frozen=True)
class Turn:
    """How long a canary's work takes, in seconds, and the share of the time that it had its CPU."""

    seconds: float
    share: float


def _turns(canaries: Sequence[subprocess.Popen[str]]) -> list[tuple[Turn, Turn]]:
    """Return the answers of the first canary alone, and next to the others, in turns."""
    _turn(canaries, LONGER * TURN_SECONDS)  # their memory is touched, and their clocks are up
    return [(_turn(canaries[:1], TURN_SECONDS), _turn(canaries, TURN_SECONDS)) for _ in range(TURNS)]


def _turn(canaries: Sequence[subprocess.Popen[str]], seconds: float) -> Turn:
    """Let canaries run at once; return what the first one says."""
    for canary in reversed(canaries):
        if canary.stdin is not None:
            canary.stdin.write(f"{seconds if canary is canaries[0] else LONGER * seconds}\n")
            canary.stdin.flush()
    answers = [canary.stdout.readline() if canary.stdout is not None else "" for canary in canaries]
    if not all(answers):
        raise HarnessError("a canary of `--jobs` ended before its answer", slug="exit")
    return Turn(*map(float, answers[0].split()))


def _start(size: int, cpus: Sequence[int]) -> subprocess.Popen[str]:
    """Start a canary; leaving it as a context closes its stdin, which ends it."""
    command = [sys.executable, "-I", "-c", _PROGRAM, str(size), ",".join(map(str, cpus))]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
