"""A plain function of one's own in NumPy; without a declaration its arguments are given by name.

opperf run examples.custom.numpy_norm:row_norms --framework numpy --input rows=512x256
"""

from __future__ import annotations

import numpy as np


def row_norms(rows: np.ndarray) -> np.ndarray:
    """Return the length of each row."""
    return np.sqrt(np.einsum("ij,ij->i", rows, rows))
