"""Show why an interval needs several processes: beside the interval stands what each process alone would claim."""

from __future__ import annotations

import opperf
from opperf.domain.measurement import Samples
from opperf.domain.stats.order import median, median_interval

results = opperf.run("exp", framework="numpy", direction="forward", processes=3, runs=30)
record = results[0]
if record.time is None or record.time.interval is None:
    raise SystemExit(f"no interval: {record.reason}")

for number, columns in enumerate(record.samples["time"]):
    times = Samples.from_json(columns).seconds()
    own = median_interval(times)
    if own is not None:
        print(
            f"process {number}: {median(times) * 1e6:.1f} us, would claim [{own[0] * 1e6:.1f}, {own[1] * 1e6:.1f}] us"
        )
low, high = record.time.interval
print(f"over processes: [{low * 1e6:.1f}, {high * 1e6:.1f}] us")
