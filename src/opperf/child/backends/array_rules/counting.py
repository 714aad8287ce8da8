"""Inputs of functions that sum, count and describe many values."""

from __future__ import annotations

from collections.abc import Mapping

from opperf.child.backends.notation import Rule, alike

RULES: Mapping[str, Rule] = {
    "average": ("a: n,n", {"axis": 0}),
    **alike("a: nn | v: n", {}, "convolve", "correlate"),
    "cross": ("a: nn,3 | b: nn,3", {}),
    "linalg.cross": ("x1: nn,3 | x2: nn,3", {}),
    **alike("x: nn", {}, "cumulative_sum", "cumulative_prod"),
    "gradient": ("f: n,n", {}),
    "histogram_bin_edges": ("a: nn", {"bins": 16}),
    "histogram2d": ("x: nn | y: nn", {"bins": 16}),
    "histogramdd": ("sample: nn,2", {"bins": 16}),
    **alike("a: n,n", {"q": 25.0}, "percentile", "nanpercentile"),
    "unwrap": ("p: n,n -10..10", {}),
}
