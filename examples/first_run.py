"""Measure one operator from Python and read its record."""

from __future__ import annotations

import opperf

results = opperf.run("add", framework="numpy", direction="forward", runs=20)
print(results)

record = results[0]
time = record.time
if time is None:
    raise SystemExit(f"no measurement: {record.reason}")
print(f"{record.trial.case.operator} takes {time.median * 1e6:.1f} us, from {time.samples} samples")
print(f"{time.discarded} samples were left out because the machine disturbed them")
for warning in record.warnings:
    print(f"doubt: {warning.message}; {warning.hint}")
