"""What stands before TensorFlow is imported: quiet logs, and the devices that it may look for.

Its own threads are set right after the import (`runtime.py`): TensorFlow takes their number only until it has started.
"""

from __future__ import annotations

import os

from opperf.domain.plan import Side


def configure(side: Side) -> None:
    """Set the environment that TensorFlow reads when it is loaded."""
    if side.is_program:
        return
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # notes on every start are no errors of an operator
    if side.device == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # no search for accelerators, which takes memory on each
