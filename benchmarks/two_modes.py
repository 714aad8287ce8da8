"""A function that has two modes, as a build has whose results lie in memory that is kept, or mapped anew at each call.

Which one it is in is drawn for each process, or for each stretch of time and side, as variables say; a negative time
leaves it in the fast one.
"""

from __future__ import annotations

import mmap
import os
import random
import time

import numpy as np

SIDE, LASTING, WORK = "TWO_MODES_SIDE", "TWO_MODES_SECONDS", "TWO_MODES_WORK"
ELEMENTS = 262_144
#: It begins a page, as the mapped ones do: elsewhere it lay otherwise on a side whose variables are longer.
_kept = np.frombuffer(mmap.mmap(-1, 4 * ELEMENTS), "float32")
#: Passes over the result: so many take about half as long as its page faults.
PASSES = 16
_work = int(float(os.environ.get(WORK, "1")))


def _slow() -> bool:
    lasting = float(os.environ.get(LASTING, "0"))
    if lasting < 0:
        return False
    if not lasting:
        return random.SystemRandom().random() < 0.5
    return random.Random(f"{os.environ.get(SIDE)} {time.time() // lasting}").random() < 0.5


_is_slow = _slow()


def add_one(values: np.ndarray) -> None:
    """Write a result of 1 MB, to memory that is mapped for it in the slow mode."""
    for _ in range(_work):
        result = np.frombuffer(mmap.mmap(-1, _kept.nbytes), "float32") if _is_slow else _kept
        for _ in range(PASSES):
            np.add(values, 1, out=result)
