"""Nothing is done in place in JAX: its arrays never change."""

from __future__ import annotations

from opperf.child.backends.call import Binding, Missing

UNCHANGED = Missing("arrays of JAX never change; XLA reuses the memory of donated ones, inside a program of the user's")

BINDINGS: dict[str, Binding] = {
    "add_inplace": UNCHANGED,
    "subtract_inplace": UNCHANGED,
    "multiply_inplace": UNCHANGED,
    "divide_inplace": UNCHANGED,
    "remainder_inplace": UNCHANGED,
    "copy_to": UNCHANGED,
    "relu_inplace": UNCHANGED,
    "clip_inplace": UNCHANGED,
    "set_item": UNCHANGED,
}
