"""The same operator with a hot and with a cold CPU cache.

Calls with a cold cache are timed one by one, so they are held against the latency of hot ones.
"""

from __future__ import annotations

import opperf

hot, cold = (
    opperf.run("add", framework="numpy", direction="forward", runs=3, warmup=1, cache=cache, memory=False)[0]
    for cache in ("hot", "cold")
)
one_by_one = hot.metrics["latency"]
if cold.time is None or not isinstance(one_by_one, type(cold.time)):
    raise SystemExit(f"no measurement: {hot.reason or cold.reason}")
print(f"hot:  {one_by_one.median * 1e6:.0f} us, sync {one_by_one.sync}")
print(f"cold: {cold.time.median * 1e6:.0f} us, sync {cold.time.sync}")
