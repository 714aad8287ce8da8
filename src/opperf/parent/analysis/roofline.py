"""How close a measurement comes to the limits of its machine."""

from __future__ import annotations

from opperf.domain.measurement import Quantity
from opperf.domain.peaks import Limit, Peaks
from opperf.domain.reason import Warning
from opperf.domain.record import Record


def limit_of(record: Record, peaks: Peaks) -> Limit | None:
    """Return the least time that the work of a record takes here; None where its work or the limits are not known."""
    counts = [record.metrics.get(name) for name in ("flops", "bytes")]
    flops, moved = (count.value if isinstance(count, Quantity) else None for count in counts)
    tensor = next(record.trial.case.tensors(), None)
    if moved is None or tensor is None:
        return None
    return peaks.limit(flops=flops or 0.0, moved=moved, dtype=tensor.dtype)


def doubts(record: Record, limit: Limit) -> tuple[Warning, ...]:
    """Return what is to be doubted of a record that is faster than the limits of its machine."""
    if record.time is None or not 0 < record.time.median < limit.seconds:
        return ()
    share = limit.seconds / record.time.median
    text = (
        f"{share:.0%} of the machine's limit by {limit.bound}, which nothing can exceed: the limit was measured on a "
        "busier machine, or the operator does less than is counted, as where a nearer cache holds what it reads"
    )
    return (Warning("above_peak", text, "measure the limits again on an idle machine: `opperf doctor --peaks`"),)
