"""What runs in a call in JAX: the instructions of the program that XLA compiled for it, without times.

An instruction is named by its operation; a fusion by the operations that were fused, and by how it is carried out
(`kLoop`, or a library such as `__ynn_fusion`). An eager call has no program of its own: it is that of the same call
under jit.
"""

from __future__ import annotations

from typing import Any

from opperf.child.backends.jax import hlo
from opperf.child.backends.jax.programs import over_tensors, program
from opperf.domain.backend import Work
from opperf.domain.explanation import Explanation

READ = "the compiled program was read, which has no times"
EAGER = "the program is that of the eager call under jit"


def of_call(work: Work) -> Explanation:
    """Return what runs in a call."""
    function: Any = work.function
    arguments = work.arguments if work.before is None else work.before()
    notes = [READ]
    if not hasattr(function, "lower"):
        function, arguments = over_tensors(function, arguments, dict(work.keywords))
        function = program(function, arguments).function
        notes.append(EAGER)
    text = function.lower(*arguments).compile().as_text()
    return Explanation(tuple(hlo.read(text)), tuple(notes))
