"""Other work on the machine, for benchmarks that look at what it does to a measurement; it ends with the benchmark."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

#: No burner outlives this, in seconds.
LONGEST = 1800
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


@contextmanager
def burners(count: int | None = None, *, resting: bool = False) -> Iterator[None]:
    """Run processes that compute, one for each core unless told; with `resting`, half of the time, by turns."""
    kind = "resting" if resting else "steady"
    command = [sys.executable, "-c", _BURN]
    started = [subprocess.Popen([*command, str(seed), kind]) for seed in range(count or os.cpu_count() or 1)]
    try:
        yield
    finally:
        for burner in started:
            burner.kill()
            burner.wait()
