"""What stands before JAX is imported: threads, the platform to look for, and the wide element types.

XLA counts its threads by `NPROC` and by the CPUs that the process may use. On two CPUs, CPU over wall time of a matrix
product was 1.94 with `OMP_NUM_THREADS=1`, 1.91 with `--xla_cpu_multi_thread_eigen=false` and 1.00 with `NPROC=1`.
Which CPUs the process has is the parent's affair.
"""

from __future__ import annotations

import os

from opperf.domain.device import memory_share
from opperf.domain.plan import Side

#: The variables for the share of a device's memory that XLA may take: with both it refuses to start.
FRACTIONS = ("XLA_PYTHON_CLIENT_MEM_FRACTION", "XLA_CLIENT_MEM_FRACTION")


def configure(side: Side) -> None:
    """Set the environment that JAX and XLA read when they are loaded."""
    os.environ["NPROC"] = str(side.threads)
    if not side.is_program:
        os.environ["JAX_ENABLE_X64"] = "1"  # float64 and int64 become float32 and int32 without it
    os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "0"  # the time to compile is a metric
    if side.device == "cpu":
        os.environ["JAX_PLATFORMS"] = "cpu"  # no search for accelerators, which takes seconds and memory
    else:
        # JAX would take three quarters of the device at once; the other side of a comparison is a process there, too.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        share = memory_share(os.environ)
        if share < 1 and not any(name in os.environ for name in FRACTIONS):
            os.environ[FRACTIONS[0]] = f"{share:g}"
