"""How close a measurement comes to the limits of its machine."""

from __future__ import annotations

from opperf.peaks import Limit, Peaks
from opperf.record import Quantity, Record


def limit_of(record: Record, peaks: Peaks) -> Limit | None:
    """Return the least time that the work of a record takes here; None where its work or the limits are not known."""
    counts = [record.metrics.get(name) for name in ("flops", "bytes")]
    flops, moved = (count.value if isinstance(count, Quantity) else None for count in counts)
    tensor = next(record.trial.case.tensors(), None)
    if moved is None or tensor is None:
        return None
    return peaks.limit(flops=flops or 0.0, moved=moved, dtype=tensor.dtype)
