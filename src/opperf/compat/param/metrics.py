"""The metrics of one direction of a case, by PARAM's names and in its units: in a script, and on the command line."""

from __future__ import annotations

from typing import Any

from opperf.domain.measurement import Quantity, Samples

MILLI, MEGA = 1e3, 2**20


def fields(samples: Samples, memory: Quantity | None, *, on_device: bool, discrete: bool) -> dict[str, Any]:
    """Return the fields. As PARAM has it, the memory of a CPU is zero; a device's peak is measured once."""
    peak = memory.value / MEGA if memory is not None else 0.0
    each = [peak if on_device else 0.0] * len(samples.samples) if on_device or discrete else []
    return {
        "warmup.time": [],
        "warmup.gpu.memory": [],
        "measure.time": [seconds * MILLI for seconds in samples.seconds(clean_only=False)],
        "measure.gpu.memory": each,
        "measure.clean": [sample.clean for sample in samples.samples],
        "memory_peak": None if memory is None else {"unit": "MB", "value": peak, "source": memory.source},
    }
