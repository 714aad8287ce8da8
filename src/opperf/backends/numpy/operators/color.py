"""Colors in NumPy: a few functions for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from opperf.backends.call import Binding
from opperf.backends.colors import change
from opperf.operators.color import GRAY


def _weights(made: Mapping[str, Any]) -> Any:
    return np.array(GRAY, made["data"].dtype)


BINDINGS: dict[str, Binding] = {
    name: change(name, _weights)
    for name in (
        "image_to_gray",
        "image_adjust_brightness",
        "image_adjust_contrast",
        "image_adjust_saturation",
        "image_color_jitter",
    )
}
