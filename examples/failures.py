"""Operators that crash, hang or run out of memory are records with reasons, and the run goes on.

The null framework has operators that really do so.
"""

from __future__ import annotations

import opperf

results = opperf.run(["null:crash", "null:hang", "null:leak", "null:steady"], runs=5, timeout=2.0)
for record in results:
    why = "" if record.reason is None else f"{record.reason.slug}: {record.reason.message}"
    print(f"{record.trial.case.operator:12} {record.status:7} {why}".rstrip())
