"""How large the models are: small where each call is run again, large where times count.

A recorder adds some 25 us to each call, which is most of what the calls of a small model take.
"""

from __future__ import annotations

import os

#: Set where the large models are wanted.
LARGE = "OPPERF_LARGE_MODELS"


def size(small: int, large: int) -> int:
    """Return one of two sizes."""
    return large if LARGE in os.environ else small
