"""Colors in NumPy: a few functions for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.backends.call import Binding
from opperf.backends.colors import change


def _like(data: Any, numbers: Any) -> Any:
    return np.array(numbers, data.dtype)


BINDINGS: dict[str, Binding] = {
    name: change(name, _like)
    for name in (
        "image_to_gray",
        "image_adjust_brightness",
        "image_adjust_contrast",
        "image_adjust_saturation",
        "image_adjust_hue",
        "image_color_jitter",
    )
}
