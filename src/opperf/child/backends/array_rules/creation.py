"""What functions are given that make arrays of nothing but numbers."""

from __future__ import annotations

from collections.abc import Mapping

from opperf.child.backends.notation import Rule, alike

RULES: Mapping[str, Rule] = {
    "geomspace": ("", {"start": 1.0, "stop": 100.0, "num": lambda side: side * side}),
    "logspace": ("", {"start": 0.0, "stop": 1.0, "num": lambda side: side * side}),
    **alike("", {"n": lambda side: side}, "diag_indices", "identity", "tril_indices", "triu_indices"),
    **alike("arr: n,n", {}, "diag_indices_from", "tril_indices_from", "triu_indices_from"),
}
