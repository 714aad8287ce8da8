"""How long a device is busy with a call: a pass of its own after the samples, since a profiler slows every launch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from opperf.domain.backend import KernelWatch, Unsupported
from opperf.domain.call import Work
from opperf.domain.explanation import Event, Explanation, typical
from opperf.domain.kernels import CallActivity
from opperf.domain.measurement import Sample, Samples
from opperf.domain.reason import Warning

#: Calls that are looked at, unless `--runs` says otherwise.
CALLS = 20
#: The metrics that it takes.
METRICS = ("device", "device_cold")
#: Kernels that a record names: a composition may launch hundreds.
MOST_NAMES = 20


def measure(
    watch: KernelWatch, work: Work, calls: int, make_sweep: Callable[[], Callable[[], None] | None]
) -> tuple[dict[str, Samples], dict[str, object], tuple[Warning, ...]]:
    """Return the samples of `device`, and with a sweep of `device_cold`; facts that name the kernels; and doubts.

    Whatever goes wrong is a doubt: the samples of the other metrics are taken by then.
    """
    try:
        hot = watch(work, calls)
        sweep = make_sweep()
        cold = None if sweep is None else watch(work, calls, sweep)
    except Unsupported as unsupported:
        return {}, {}, (Warning(unsupported.slug, str(unsupported), unsupported.hint),)
    except Exception as error:
        text = f"the pass for kernels failed: {type(error).__name__}: {error}"
        return {}, {}, (Warning("no_kernels_seen", text, "the other metrics do not need it"),)
    metrics = {"device": samples(hot)} if any(one.activities for one in hot) else {}
    if metrics and cold is not None:
        metrics["device_cold"] = samples(cold)
    return metrics, {"kernels": evidence(hot)}, ()


def shows(watch: KernelWatch | None, work: Work) -> bool:
    """Whether the framework's profiler sees what a call runs on the device."""
    with suppress(Unsupported):
        return watch is not None and any(one.busy_ns > 0 for one in watch(work, 1))
    return False


def samples(calls: Sequence[CallActivity]) -> Samples:
    """Return a sample for each call, whose time is that of the device."""
    return Samples(tuple(Sample(1, one.wall_ns, 0, device_ns=one.busy_ns) for one in calls))


def block_sample(calls: Sequence[CallActivity]) -> Sample:
    """Return one sample of all calls together."""
    return Sample(len(calls), sum(one.wall_ns for one in calls), 0, device_ns=sum(one.busy_ns for one in calls))


def evidence(calls: Sequence[CallActivity]) -> list[dict[str, object]]:
    """Return the kernels of a typical call: names, how often each ran and how long, in the order of their first run."""
    events = typical(
        [
            Explanation(
                tuple(Event(one.name, "kernel", 1, (one.end - one.begin) / 1e9, by=one.kind) for one in call.activities)
            )
            for call in calls
        ]
    ).events
    return [
        {"name": event.name, "kind": event.by, "calls": event.calls, "seconds": event.seconds}
        for event in events[:MOST_NAMES]
    ]
