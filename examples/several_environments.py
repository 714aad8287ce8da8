"""Measure two versions of one framework side by side, each in an environment of its own.

opperf builds the environments once. `python=PATH` in their place takes an interpreter of your own.
"""

from __future__ import annotations

import sys

import opperf

environments = sys.argv[1:] or ["numpy==1.26.4", "numpy==2.4.6"]
results = opperf.run(
    ["add", "sort"], environment=environments, direction="forward", size="small", processes=3, runs=10, latency=False
)
for record in results:
    if record.time is None or record.time.interval is None:
        raise SystemExit(f"no interval: {record.reason}")
    low, high = (bound * 1e6 for bound in record.time.interval)
    print(f"{record.trial.case.operator:6} NumPy {record.facts['version']:8} [{low:.2f}, {high:.2f}] us")
