"""How long a device is busy with a call: a pass of its own, since a profiler slows every launch from then on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opperf.domain.backend import KernelWatch, Unsupported
from opperf.domain.call import Work
from opperf.domain.explanation import Event, Explanation, typical
from opperf.domain.kernels import CallActivity, KernelTimes, unseen_kernels
from opperf.domain.measurement import Sample, Samples
from opperf.domain.reason import Warning

#: Calls that are looked at, unless `--runs` says otherwise.
CALLS = 20
#: Kernels that a record names: a composition may launch hundreds.
MOST_NAMES = 20


def measure(
    watch: KernelWatch,
    work: Work,
    calls: int,
    make_sweep: Callable[[], Callable[[], None] | None],
    wall: Callable[[], int],
) -> KernelTimes:
    """Return the samples of `device`, and with a sweep of `device_cold`; facts that name the kernels; and doubts.

    Whatever goes wrong is a doubt: the other metrics do without.
    """
    began = wall()
    try:
        hot = watch(work, calls)
        sweep = make_sweep()
        cold = None if sweep is None else watch(work, calls, sweep)
    except Unsupported as unsupported:
        return KernelTimes({}, {}, (Warning(unsupported.slug, str(unsupported), unsupported.hint),), 0.0)
    except Exception as error:
        return unseen_kernels(f"{type(error).__name__}: {error}")
    metrics = {"device": samples(hot)} if any(one.activities for one in hot) else {}
    if metrics and cold is not None:
        metrics["device_cold"] = samples(cold)
    return KernelTimes(metrics, {"kernels": evidence(hot)}, (), (wall() - began) / 1e9)


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
