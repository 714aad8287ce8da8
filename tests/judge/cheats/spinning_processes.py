"""Leave two processes, in sessions of their own, that burn their processors while this one is stopped."""

#: 45
import os
import time
from pathlib import Path

import numpy as np

#: The longest that they live, in seconds.
LIMIT = 20


def is_stopped(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "Tt"


def burn(parent):
    end = time.monotonic() + LIMIT
    while time.monotonic() < end and os.getppid() == parent:
        if is_stopped(parent):
            deadline = time.monotonic() + 0.01
            while time.monotonic() < deadline:
                pass
        else:
            time.sleep(0.002)


for _ in range(2):
    own = os.getpid()
    if os.fork() == 0:
        try:
            os.setsid()
            burn(own)
        finally:
            os._exit(0)


def f(x):
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)
