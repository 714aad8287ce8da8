"""Products of numbers in four and eight bits, in NumPy."""

from __future__ import annotations

import numpy as np

from opperf.child.backends.arrays.serving import quantized
from opperf.child.backends.binding import Binding, gaps

BINDINGS: dict[str, Binding] = {
    **quantized(np, "numpy"),
    **gaps("NumPy has no floating type of eight bits", "float8_matmul block_quantize_float8"),
}
