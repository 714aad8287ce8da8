"""What one call takes in JAX: the plan that XLA makes of a program before it runs.

An eager call has no plan. It gets that of the same call under jit, whose intermediate values may be fewer.
"""

from __future__ import annotations

from dataclasses import replace

from opperf.child.backends.jax.programs import over_tensors, program
from opperf.domain.backend import Work
from opperf.domain.measurement import Memory


def of_eager_call(work: Work) -> Memory | None:
    """Return what the call would take under jit."""
    planned = program(*over_tensors(work.function, work.arguments, dict(work.keywords))).memory
    return None if planned is None else replace(planned, source=f"{planned.source}, of the eager call under jit")
