"""Other work on the machine, for benchmarks that look at what it does to a measurement; it ends with the benchmark."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

#: No burner outlives this, in seconds.
LONGEST = 7200
#: A process burns for a drawn number of seconds, and rests for another, or not at all.
_BURN = f"""
import os, random, sys, time
seed, resting = int(sys.argv[1]), sys.argv[2] == "resting"
draw, parent, end = random.Random(seed).uniform, os.getppid(), time.monotonic() + {LONGEST}
while os.getppid() == parent and time.monotonic() < end:
    until = time.monotonic() + draw(1, 8)
    while time.monotonic() < until:
        sum(range(100000))
    time.sleep(draw(1, 8) if resting else 0)
"""
#: A process copies far more than a cache holds, without a rest.
_STREAM = f"""
import os, time
parent, end, source = os.getppid(), time.monotonic() + {LONGEST}, bytes(1 << 26)
target = bytearray(source)
while os.getppid() == parent and time.monotonic() < end:
    target[:] = source
"""


def burners(count: int | None = None, *, resting: bool = False) -> AbstractContextManager[None]:
    """Run processes that compute, one for each core unless told; with `resting`, half of the time, by turns."""
    kind = "resting" if resting else "steady"
    return _running([[_BURN, str(seed), kind] for seed in range(count or os.cpu_count() or 1)])


def streams() -> AbstractContextManager[None]:
    """Run processes that are hungry for memory's bandwidth, one for each core."""
    return _running([[_STREAM]] * (os.cpu_count() or 1))


@contextmanager
def _running(programs: Sequence[Sequence[str]]) -> Iterator[None]:
    started = [subprocess.Popen([sys.executable, "-c", *program]) for program in programs]
    try:
        yield
    finally:
        for burner in started:
            burner.kill()
            burner.wait()
