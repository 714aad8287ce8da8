"""What one call computes and moves in JAX, by XLA's own analysis of the program before it is compiled.

Afterwards products may be calls of a library that the analysis cannot look into.
"""

from __future__ import annotations

import jax

from opperf.child.backends.jax.programs import over_tensors
from opperf.domain.backend import Work
from opperf.domain.measurement import Counts

SOURCE = "XLA's cost analysis of the program as it is written"


def of_call(work: Work) -> Counts | None:
    """Return what the call, which is traced and not made, computes and moves; None where XLA does not tell."""
    call, tensors = over_tensors(work.function, work.arguments, dict(work.keywords))
    analysis = jax.jit(call).lower(*tensors).cost_analysis()
    if not analysis:
        return None
    flops, moved = (int(analysis.get(name, 0.0)) for name in ("flops", "bytes accessed"))
    return Counts(flops or None, moved or None, SOURCE)
