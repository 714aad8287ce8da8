"""What a device did for a call: kernels, copies and fills, and how long it was busy with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from opperf.domain.codec import Exact
from opperf.domain.dataclass import dataclass
from opperf.domain.files.json_text import JsonObject
from opperf.domain.measurement import Measurement, Samples
from opperf.domain.plan import PROFILER, Settings
from opperf.domain.reason import Warning

#: What decides a comparison of sides that both show their kernels, as `wall` and `cpu` do elsewhere.
KERNELS = "kernels"
#: The metrics that a pass for kernels takes.
DEVICE_METRICS = ("device", "device_cold")
#: `copy` moves bytes to, from or on the device, `set` fills them.
KINDS = ("kernel", "copy", "set")


@dataclass(frozen=True)
class Activity:
    """Something that ran on a device, in nanoseconds of the host's clock; `launch` links it to what launched it."""

    name: str
    kind: str
    begin: int
    end: int
    launch: int = 0


@dataclass(frozen=True)
class CallActivity:
    """What a device did for one call, and how long that call took with its wait, in nanoseconds."""

    wall_ns: int
    activities: tuple[Activity, ...]

    @property
    def busy_ns(self) -> int:
        """How long the device was busy: what ran at the same time on several streams counts once.

        >>> CallActivity(90, (Activity("a", "kernel", 0, 30), Activity("b", "kernel", 20, 50))).busy_ns
        50
        """
        return busy(self.activities)


def busy(activities: Iterable[Activity]) -> int:
    """Return the length of the union of their spans."""
    total, until = 0, 0
    for one in sorted(activities, key=lambda one: one.begin):
        total += max(0, one.end - max(one.begin, until))
        until = max(until, one.end)
    return total


@dataclass(frozen=True)
class KernelTimes(Exact):
    """What a pass for kernels says of a trial: samples of `DEVICE_METRICS`, facts that name the kernels, and doubts.

    `seconds` is what the pass took.
    """

    metrics: Mapping[str, Samples]
    facts: JsonObject
    warnings: tuple[Warning, ...]
    seconds: float

    def added_to(self, measurement: Measurement) -> Measurement:
        """Return a measurement with them."""
        return replace(
            measurement,
            metrics={**measurement.metrics, **self.metrics},
            facts={**measurement.facts, **self.facts},
            warnings=(*measurement.warnings, *self.warnings),
            spent={**measurement.spent, "kernels": self.seconds},
        )


def wants_kernels(settings: Settings) -> bool:
    """Whether a run looks at what a device does: who wants another metric alone goes without."""
    return settings.clock != PROFILER and (settings.latency or settings.metric in ("time", *DEVICE_METRICS))


def unseen_kernels(why: str) -> KernelTimes:
    """Return no times but the doubt that the pass failed: the metrics that were measured before do not need it."""
    text = f"the pass for kernels failed: {why}"
    return KernelTimes({}, {}, (Warning("no_kernels_seen", text, "the other metrics do not need it"),), 0.0)
