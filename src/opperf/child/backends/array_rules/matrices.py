"""Inputs of products, decompositions and solvers."""

from __future__ import annotations

from collections.abc import Mapping

from opperf.child.backends.notation import Rule

RULES: Mapping[str, Rule] = {
    "einsum": ("subscripts = 'ij,jk->ik' | operand0: n,n | operand1: n,n", {}),
    "matvec": ("x1: n,n | x2: n", {}),
    "vecmat": ("x1: n | x2: n,n", {}),
    "linalg.outer": ("x1: n | x2: n", {}),
    "vdot": ("a: nn | b: nn", {}),
    "linalg.matrix_power": ("a: n,n", {"n": 3}),
    "linalg.matrix_rank": ("A: n,n", {}),
    "linalg.multi_dot": ("arrays: [n,n; n,n; n,n]", {}),
    "linalg.tensorinv": ("a: n,n", {"ind": 1}),
    "linalg.tensorsolve": ("a: n,n | b: n", {}),
    "linalg.tensordot": ("x1: n,n | x2: n,n", {"axes": 1}),
}
