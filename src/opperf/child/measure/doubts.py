"""What makes a measurement doubtful, looked for in its samples: each doubt is a warning with a remedy."""

from __future__ import annotations

import resource
from collections.abc import Mapping, Sequence
from itertools import pairwise

from opperf.domain.measurement import Sample, Samples
from opperf.domain.reason import Warning
from opperf.domain.stats.order import median
from opperf.domain.units import format_seconds, plural

#: A trial whose last third differs this much from its first third has drifted.
DRIFT = 0.05
#: Fewer samples than this say nothing of drift or of modes.
ENOUGH = 20
#: Two modes: a gap of this share of the median, with at least a fifth of the samples on each side.
GAP = 0.10
#: Page faults beyond this share of the output's pages mean that fresh memory was mapped within the call.
FAULTS = 0.10
#: CPU over wall time of a matrix product, relative to the threads asked for. Honest runtimes stay below 1.05.
MOST_OVER = 1.3
#: Events and the host's clock tell of the same work: after the end event the host takes some 20 us to return. Beyond
#: this share of the host's time, and this time, there is work that the events do not see.
MOST_UNSEEN, LEAST_UNSEEN_NS = 0.25, 200_000
#: Variables that change what every call takes, and how.
SLOW_SETTINGS = {
    "CUDA_LAUNCH_BLOCKING": "each launch waits for its kernel",
    "PYTORCH_NO_CUDA_MEMORY_CACHING": "each result is allocated and freed by the driver",
    "PYTORCH_NO_HIP_MEMORY_CACHING": "each result is allocated and freed by the driver",
}


def doubts(samples: Samples, output_bytes: int) -> list[Warning]:
    """Return the warnings that the samples of a trial call for."""
    times = samples.seconds()
    result = [*_drift(times), *_modes(times)]
    clean_samples = [sample for sample in samples.samples if sample.clean] or list(samples.samples)
    return [*result, *_faults(clean_samples, output_bytes)]


def thread_doubts(threads: int, count: float | None, cpus: int) -> list[Warning]:
    """Return the warnings for a framework whose threads were seen: more than requested, or than there are CPUs."""
    if count is None:
        return []
    result = []
    if count > MOST_OVER * threads:
        text = f"{plural(threads, 'thread')} requested, but {count:.1f} CPUs seen at work in a matrix product"
        result.append(Warning("threads_not_honoured", text, "pin the process with `--cpus`"))
    if threads > cpus:
        text = f"{threads} threads take turns on {plural(cpus, 'CPU')}"
        result.append(Warning("too_many_threads", text, f"use `--threads {cpus}` at most"))
    return result


def believed(samples: Samples) -> tuple[Samples, list[Warning]]:
    """Return samples, by the host's time where it waited for more than the device's own clock saw, with a warning.

    Events see the stream that they are recorded in. What they do not see is missing in each sample; a host that other
    programs keep from returning is late in most, but not in all.
    """
    samples_taken = [sample for sample in samples.samples if sample.clean] or list(samples.samples)
    if any(sample.device_ns is None for sample in samples_taken):
        return samples, []
    gaps = [sample.wall_ns - (sample.device_ns or 0) for sample in samples_taken]
    shares = [gap / sample.wall_ns for gap, sample in zip(gaps, samples_taken)]
    if min(gaps) < LEAST_UNSEEN_NS or min(shares) < MOST_UNSEEN:
        return samples, []
    text = "the host waited for more than the device's own events saw; times are the host's"
    return samples.by_the_host(), [Warning("unseen_work", text, "the calls launch on streams of their own")]


def device_doubts(device: str, variables: Mapping[str, str]) -> list[Warning]:
    """Return the warnings for variables that change what every call on a GPU takes.

    >>> [one.slug for one in device_doubts("cuda:0", {"CUDA_LAUNCH_BLOCKING": "1"})], device_doubts("cpu", {"A": "1"})
    (['slow_setting'], [])
    """
    if device == "cpu":
        return []
    settings = [(name, words) for name, words in SLOW_SETTINGS.items() if variables.get(name, "0") != "0"]
    return [Warning("slow_setting", f"`{name}` is set: {words}", f"`unset {name}`") for name, words in settings]


def _drift(times: Sequence[float]) -> list[Warning]:
    if len(times) < ENOUGH:
        return []
    third = len(times) // 3
    first, last = median(times[:third]), median(times[-third:])
    if first <= 0 or abs(last / first - 1) <= DRIFT:
        return []
    text = f"the last third of the samples took {last / first:.2f} times as long as the first"
    if last < first:
        return [Warning("getting_faster", f"{text}: the warm-up was too short", "increase `--warmup`")]
    return [Warning("drifting", text, "increase `--warmup`, or check whether the machine heats up or runs other work")]


def _modes(times: Sequence[float]) -> list[Warning]:
    if len(times) < ENOUGH:
        return []
    ordered = sorted(times)
    fifth = len(ordered) // 5
    inner = ordered[fifth - 1 : -fifth + 1] if fifth > 1 else ordered[fifth:-fifth]
    gap, lower, upper = max((above - below, below, above) for below, above in pairwise(inner))
    if gap <= GAP * median(ordered):
        return []
    return [
        Warning(
            "two_modes",
            f"the times fall into two groups, below {format_seconds(lower)} and above {format_seconds(upper)}",
            "the median represents neither; `--processes 5` shows whether the groups are different processes",
        )
    ]


def _faults(samples: Sequence[Sample], output_bytes: int) -> list[Warning]:
    pages = output_bytes / resource.getpagesize()
    if pages < 1 or not samples:
        return []
    faults = median([sample.faults / sample.calls for sample in samples])
    if faults < 1 or faults <= FAULTS * pages:
        return []
    return [
        Warning(
            "page_faults",
            f"each call took {faults:.0f} page faults: the time includes mapping its output again",
            "outputs over 32 MiB are always mapped by glibc; compare like cases only, or preload another allocator",
        )
    ]
