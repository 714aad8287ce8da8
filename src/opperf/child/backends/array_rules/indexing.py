"""Inputs of functions that select, search and write by index or mask."""

from __future__ import annotations

from collections.abc import Mapping

from opperf.child.backends.notation import Rule, alike

RULES: Mapping[str, Rule] = {
    "argpartition": ("a: n,n", {"kth": 4}),
    "choose": ("a: n,n int32 0..2 | choices: [n,n; n,n]", {}),
    "compress": ("condition: n bool | a: n,n", {"axis": 0}),
    "delete": ("arr: n,n", {"obj": 1, "axis": 0}),
    "digitize": ("x: nn | bins: n sorted", {}),
    "extract": ("condition: n,n bool | arr: n,n", {}),
    "fill_diagonal": ("a: n,n", {"val": 1.0}),
    "insert": ("arr: n,n | obj = 1 | values: n", {"axis": 0}),
    "interp": ("x: nn | xp: n sorted | fp: n", {}),
    **alike("ar1: nn int32 0..64 | ar2: n int32 0..64", {}, "intersect1d", "setdiff1d", "setxor1d", "union1d"),
    "isin": ("element: nn int32 0..64 | test_elements: n int32 0..64", {}),
    "lexsort": ("keys: [nn; nn]", {}),
    "packbits": ("a: n,n bool", {}),
    "unpackbits": ("a: n,n uint8", {}),
    "place": ("arr: n,n | mask: n,n bool | vals: n", {}),
    "put": ("a: n,n | ind: n int32 0..8 | v: n", {}),
    "put_along_axis": ("arr: n,n | indices: 1,n int32 0..8 | values: 1,n", {"axis": 0}),
    "ravel_multi_index": ("multi_index: [nn int32 0..8; nn int32 0..8]", {"dims": lambda side: (side, side)}),
    "unravel_index": ("indices: nn int32 0..64", {"shape": lambda side: (side, side)}),
    "select": ("condlist: [n,n bool; n,n bool] | choicelist: [n,n; n,n]", {}),
    "unique": ("ar: nn int32 0..64", {}),
    **alike("x: nn int32 0..64", {}, "unique_all", "unique_counts", "unique_inverse", "unique_values"),
}
