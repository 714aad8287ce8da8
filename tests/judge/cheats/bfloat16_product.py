"""Cut the elements to the 8 bits of bfloat16 before they are multiplied."""

#: 38
import numpy as np


def cut(x):
    return (x.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


def f(a, b):
    return cut(a) @ cut(b)
