"""Have a thread that waits for an event which never comes, and uses no processor."""

import threading

import numpy as np

threading.Thread(target=threading.Event().wait, daemon=True).start()


def f(x):
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)
