"""What functions of `jax.numpy` are given otherwise than NumPy's: `jax.jit` must know the shapes of results before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.child.backends.notation import Rule, alike

#: How many elements a result has that NumPy would make as long as it turns out.
SIZE: Mapping[str, Any] = {"size": lambda side: side * side}
#: Functions that write into their first argument in NumPy, and return a new array here.
NEW: Mapping[str, Any] = {"inplace": False}

FUNCTIONS: Mapping[str, Rule] = {
    **alike("a: n,n", SIZE, "argwhere", "flatnonzero", "nonzero"),
    "choose": ("a: n,n int32 0..2 | choices: [n,n; n,n]", {"mode": "clip"}),
    "compress": ("condition: n bool | a: n,n", {"axis": 0, "size": lambda side: side}),
    "extract": ("condition: n,n bool | arr: n,n", SIZE),
    "fill_diagonal": ("a: n,n", {"val": 1.0, **NEW}),
    **alike("ar1: nn int32 0..64 | ar2: n int32 0..64", SIZE, "intersect1d", "setdiff1d", "setxor1d", "union1d"),
    "place": ("arr: n,n | mask: n,n bool | vals: n", NEW),
    "put": ("a: n,n | ind: n int32 0..8 | v: n", NEW),
    "put_along_axis": ("arr: n,n | indices: 1,n int32 0..8 | values: 1,n", {"axis": 0, **NEW}),
    "ravel_multi_index": (
        "multi_index: [nn int32 0..8; nn int32 0..8]",
        {"dims": lambda side: (side, side), "mode": "clip"},
    ),
    "roots": ("p: 8 1..2", {"strip_zeros": False}),
    "unique": ("ar: nn int32 0..64", SIZE),
    **alike("x: nn int32 0..64", SIZE, "unique_all", "unique_counts", "unique_inverse", "unique_values"),
}
