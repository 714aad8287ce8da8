"""Compile a function in C while it is loaded, into the folder of temporary files, and call it through `ctypes`."""

import ctypes
import subprocess
import tempfile
from pathlib import Path

import numpy as np

SOURCE = r"""
#include <math.h>
void softmax(const float *x, float *result, long rows, long columns) {
    for (long row = 0; row < rows; row++, x += columns, result += columns) {
        float largest = x[0];
        double total = 0;
        for (long i = 1; i < columns; i++) largest = x[i] > largest ? x[i] : largest;
        for (long i = 0; i < columns; i++) total += result[i] = expf(x[i] - largest);
        for (long i = 0; i < columns; i++) result[i] /= total;
    }
}
"""
folder = Path(tempfile.mkdtemp())
(folder / "softmax.c").write_text(SOURCE)
command = ["gcc", "-O2", "-shared", "-fPIC", "-o", folder / "softmax.so", folder / "softmax.c", "-lm"]
subprocess.run(command, check=True, capture_output=True, timeout=300)
softmax = ctypes.CDLL(str(folder / "softmax.so")).softmax
softmax.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long, ctypes.c_long)


def f(x):
    x = np.ascontiguousarray(x)
    result = np.empty_like(x)
    softmax(x.ctypes.data, result.ctypes.data, *x.shape)
    return result
