"""Stand-in until the draws are merged."""

from __future__ import annotations

import numpy as np


def kinds(spec):
    return ("plain",)


def draw(spec, kind, generator):
    low, high = spec.range or spec.default_range
    if spec.is_float:
        return (generator.random(spec.shape, np.float32) * (high - low) + low).astype(spec.dtype)
    return generator.integers(int(low), max(int(low) + 1, int(high)), spec.shape).astype(spec.dtype)
