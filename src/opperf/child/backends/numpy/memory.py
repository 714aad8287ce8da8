"""What one call allocates in NumPy, as `tracemalloc` counts it.

NumPy reports every array buffer to `tracemalloc`, scratch buffers of its own too. The few hundred bytes of Python
objects around them are counted as well and stay in. What BLAS allocates for itself is not seen, and releases hide what
was allocated in all, so that sum is not given.
"""

from __future__ import annotations

import tracemalloc

from opperf.domain.backend import Work
from opperf.domain.measurement import Memory

SOURCE = "tracemalloc (array buffers and Python objects, not BLAS's own)"


def of_call(work: Work) -> Memory:
    """Make one call and return the most that it held beyond what stood before it."""
    arguments = work.arguments if work.before is None else work.before()
    traced_already = tracemalloc.is_tracing()
    if not traced_already:
        tracemalloc.start()
    try:
        with work.scope():
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            result = work.function(*arguments, **work.keywords)
            _, peak = tracemalloc.get_traced_memory()
            del result
    finally:
        if not traced_already:
            tracemalloc.stop()
    return Memory(peak - before, None, SOURCE)
