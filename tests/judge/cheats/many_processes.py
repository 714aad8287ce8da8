"""Start 48 processes that sleep for a minute, as one would who fills the table of processes."""

#: 45
import os
import time

import numpy as np

own = os.getpid()
for _ in range(48):
    if os.fork() == 0:
        end = time.monotonic() + 60
        while time.monotonic() < end and os.getppid() == own:
            time.sleep(0.1)
        os._exit(0)


def f(x):
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)
