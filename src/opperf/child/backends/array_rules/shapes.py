"""Inputs of functions that move, join, split and repeat elements."""

from __future__ import annotations

from collections.abc import Mapping

from opperf.child.backends.notation import Rule, alike

RULES: Mapping[str, Rule] = {
    "append": ("arr: n,n | values: n,n", {"axis": 0}),
    "astype": ("x: n,n | dtype = float16", {}),
    **alike("arys0: n,n | arys1: n", {}, "atleast_1d", "atleast_2d", "atleast_3d"),
    "block": ("arrays: [n,n; n,n]", {}),
    "broadcast_arrays": ("args0: n,n | args1: n", {}),
    "concat": ("arrays: [n,n; n,n]", {}),
    **alike("tup: [n,n; n,n]", {}, "column_stack", "dstack", "hstack", "vstack"),
    "dsplit": ("ary: n,n,4", {"indices_or_sections": 2}),
    "meshgrid": ("x1: n | x2: n", {}),
    "ix_": ("args0: n int32 | args1: n int32", {}),
    "permute_dims": ("a: n,n", {"axes": (1, 0)}),
    "diag": ("v: n,n", {}),
    "diagflat": ("v: n", {}),
    "trim_zeros": ("filt: nn", {}),
    "unstack": ("x: 4,n,n", {}),
}
