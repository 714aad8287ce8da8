"""What stands before MXNet is imported: its engine, its threads, and quiet about what only its authors could change."""

from __future__ import annotations

import os
import warnings

from opperf.domain.plan import Side

#: The naive engine runs each operator in the calling thread and returns when it is done. The threaded one hands it to
#: other threads, which adds a wake-up to every wait: 61-85 us for a tiny add that takes 12.
ENGINES = {"naive": "NaiveEngine", "threaded": "ThreadedEnginePerDevice"}


def configure(side: Side) -> None:
    """Choose the engine and the threads of the numerical libraries, which MXNet reads when it is loaded."""
    os.environ["MXNET_ENGINE_TYPE"] = ENGINES[side.engine]
    os.environ["MXNET_CPU_WORKER_NTHREADS"] = str(side.threads)
    # MXNet 1.x names NumPy types that NumPy has deprecated since, and escapes that Python has.
    for category in (DeprecationWarning, FutureWarning, SyntaxWarning):
        warnings.filterwarnings("ignore", category=category)
