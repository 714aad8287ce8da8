"""Which call made a device do what: windows of calls, launches on the host, activities on the device.

A profiler writes down each launch on the host and each activity on a device, and gives both one number. A kernel
belongs to the call in whose window it was launched, on whatever thread: a backward launches from another one. Launches
of the driver count as those of the runtime do; without them a matrix product shows no kernel
(https://github.com/flashinfer-ai/flashinfer/issues/2145).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from opperf.domain.backend import Unsupported
from opperf.domain.kernels import Activity, CallActivity

#: The name under which a call stands among what a profiler writes down.
MARK = "opperf: one call"
#: What Kineto calls activities of a device, launches on the host, and marks that a program makes.
ACTIVITIES = {"kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "set"}
LAUNCHES = ("cuda_runtime", "cuda_driver", "hip_runtime", "hip_driver")
MARKS = "user_annotation"

#: Begin and end of each call, in nanoseconds.
Windows = Sequence[tuple[int, int]]


def join(windows: Windows, launches: Mapping[int, int], activities: Sequence[Activity]) -> list[CallActivity]:
    """Return the activity of a device for the call of each window; `launches` has when each number was launched.

    An activity of which nobody wrote down the launch belongs to the window in which it began: every call is waited for
    in its own. What lies in no window belongs to no call.

    >>> first = Activity("add", "kernel", 40, 50, launch=7)
    >>> [len(one.activities) for one in join([(0, 30), (35, 60)], {7: 10}, [first])]
    [1, 0]
    """
    windows = sorted(windows)
    begins = [begin for begin, _ in windows]
    of_windows: list[list[Activity]] = [[] for _ in windows]
    for activity in activities:
        time = launches.get(activity.launch, activity.begin)
        place = bisect_right(begins, time) - 1
        if place >= 0 and time <= windows[place][1]:
            of_windows[place].append(activity)
    return [CallActivity(end - begin, tuple(several)) for (begin, end), several in zip(windows, of_windows)]


def read_kineto(document: Mapping[str, Any]) -> list[CallActivity]:
    """Return the activities of each marked call in a trace of PyTorch's profiler, in order.

    Raises `Unsupported` for a trace without a single call of CUDA: CUPTI serves one subscriber at a time.
    """
    windows: list[tuple[int, int]] = []
    launches: dict[int, int] = {}
    activities: list[Activity] = []
    for event in document["traceEvents"]:
        category = event.get("cat")
        if event.get("ph") != "X":
            continue
        begin = round(event["ts"] * 1e3)
        end = begin + round(event["dur"] * 1e3)
        launch = event.get("args", {}).get("correlation", 0)
        if category == MARKS and event["name"] == MARK:
            windows.append((begin, end))
        elif category in LAUNCHES:
            launches[launch] = begin
        elif category in ACTIVITIES:
            activities.append(Activity(event["name"], ACTIVITIES[category], begin, end, launch))
    if not launches and not activities:
        raise unseen()
    return join(windows, launches, activities)


def unseen() -> Unsupported:
    """Return the reason why a profiler saw nothing of a device that was used."""
    return Unsupported(
        "the profiler saw nothing of the device, so the kernels' own time is missing",
        slug="no_kernels_seen",
        hint="CUPTI serves one program at a time: end ncu, nsys and other profilers; drivers may also refuse users",
    )
