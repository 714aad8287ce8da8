"""Measure operators with shapes, dtypes and values of your own: one case for each entry of `inputs`."""

from __future__ import annotations

import opperf

widths = (16, 256, 4096)
by_shape = opperf.run(
    "softmax", framework="numpy", direction="forward", runs=10, inputs=[{"data": (64, width)} for width in widths]
)
for width, record in zip(widths, by_shape, strict=True):
    if record.time is not None:
        print(f"softmax of 64x{width}: {record.time.median * 1e6:.1f} us")

# Where values matter, say which: lookups that hit only 100 rows of a large table.
few_rows = opperf.TensorSpec((10_000,), "int64", range=(0, 100))
table = opperf.TensorSpec((50_000, 64))
hot_rows = opperf.run(
    "embedding", framework="numpy", direction="forward", runs=10, inputs={"indices": few_rows, "weight": table}
)
print(hot_rows)
