"""A softmax that is right, and faster than the framework's own on a processor with wide vectors: a kernel in C.

It is compiled while it is loaded, into the folder of temporary files. It reads each row from memory once, and computes
exponentials of a whole vector at a time, to the last bit or the one before.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from pathlib import Path

import torch

SOURCE = r"""
#include <stdint.h>
#include <string.h>

static inline float power(int32_t n) {
    int32_t bits = (n + 127) << 23;
    float result;
    memcpy(&result, &bits, 4);
    return result;
}

/* exp(x) for x <= 0: 2^n times a polynomial in what remains of x / log(2). */
static inline float exponential(float x) {
    x = x < -120.0f ? -120.0f : x;
    float shifted = x * 1.44269504f + 12582912.0f;  /* adding 1.5 * 2^23 rounds to an integer */
    float n = shifted - 12582912.0f;
    float r = x - n * 0.693145752f - n * 1.42860677e-6f;
    float p = 1.38888889e-3f;
    p = p * r + 8.33333333e-3f;
    p = p * r + 4.16666667e-2f;
    p = p * r + 1.66666667e-1f;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    int32_t whole, half;  /* 2^n in two steps: below 2^-126 one would not do */
    memcpy(&whole, &shifted, 4);
    whole -= 0x4b400000;
    half = whole >> 1;
    return p * power(half) * power(whole - half);
}

void softmax(const float *restrict x, float *restrict result, long rows, long columns) {
    for (long row = 0; row < rows; row++, x += columns, result += columns) {
        float part[32], largest = x[0], total = 0.0f;
        long whole = columns / 32 * 32;
        for (int i = 0; i < 32; i++) part[i] = x[0];
        for (long start = 0; start < whole; start += 32)
            for (int i = 0; i < 32; i++) part[i] = x[start + i] > part[i] ? x[start + i] : part[i];
        for (int i = 0; i < 32; i++) largest = part[i] > largest ? part[i] : largest;
        for (long i = whole; i < columns; i++) largest = x[i] > largest ? x[i] : largest;
        for (int i = 0; i < 32; i++) part[i] = 0.0f;
        for (long start = 0; start < whole; start += 32)
            for (int i = 0; i < 32; i++) part[i] += result[start + i] = exponential(x[start + i] - largest);
        for (long i = whole; i < columns; i++) total += result[i] = exponential(x[i] - largest);
        for (int i = 0; i < 32; i++) total += part[i];
        float scale = 1.0f / total;
        for (long i = 0; i < columns; i++) result[i] *= scale;
    }
}
"""
folder = Path(tempfile.mkdtemp())
(folder / "softmax.c").write_text(SOURCE)
options = ("-O3", "-march=native", "-shared", "-fPIC")
subprocess.run(["gcc", *options, "-o", folder / "softmax.so", folder / "softmax.c"], check=True, timeout=60)
softmax = ctypes.CDLL(str(folder / "softmax.so")).softmax
softmax.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long, ctypes.c_long)


def f(x: torch.Tensor) -> torch.Tensor:
    """Compute the softmax over the last axis of float32."""
    x = x.contiguous()
    result = torch.empty_like(x)
    columns = x.shape[-1]
    softmax(x.data_ptr(), result.data_ptr(), x.numel() // columns, columns)
    return result
