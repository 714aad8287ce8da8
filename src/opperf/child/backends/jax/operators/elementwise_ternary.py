"""Functions of three arrays, element by element, which users of JAX write with arithmetic."""

from __future__ import annotations

from opperf.child.backends.blends import ADDCDIV, ADDCMUL, LERP
from opperf.child.backends.call import Binding

BINDINGS: dict[str, Binding] = {"lerp": LERP, "addcmul": ADDCMUL, "addcdiv": ADDCDIV}
