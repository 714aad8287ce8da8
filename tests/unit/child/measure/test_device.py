"""A device with a queue on a virtual clock: launches, waits, events, and a clock rate that follows its load."""

from __future__ import annotations

from contextlib import nullcontext
from statistics import median
from typing import Any

import pytest

from opperf.child.backends.null.runtime import NullBackend
from opperf.child.measure.disturbance import NoCounters
from opperf.child.measure.doubts import believed
from opperf.child.measure.engine import Engine
from opperf.child.measure.lengths import IN_FLIGHT_BYTES, Lengths
from opperf.domain.call import Work
from opperf.domain.measurement import Sample, Samples
from opperf.domain.plan import Settings, Side

#: What launching, waiting and marking take the host, and a kernel the device, in nanoseconds.
LAUNCH_NS, WAIT_NS, MARK_NS, KERNEL_NS = 5_000, 10_000, 2_000, 20_000
#: How long the device needs to reach its full rate, and at what share of it it begins.
RAMP_NS, AT_REST = 10_000_000, 0.5
SETTINGS = Settings(latency=False, memory=False)


class Queue(NullBackend):
    """A device behind a queue; `has_events` tells whether it has a clock of its own, `ramps` whether its rate does."""

    def __init__(self, *, has_events: bool = True, ramps: bool = False) -> None:
        super().__init__(Side("null", device="queue:0"))
        self.done, self.busy_ns, self._has_events, self._ramps = 0, 0, has_events, ramps

    def launch(self, *_: Any) -> None:
        """Put a kernel behind all others."""
        self.clock.advance(LAUNCH_NS)
        now = self.clock.wall()
        if self.done < now:  # it rested, and forgets as fast as it learns
            self.busy_ns = max(0, self.busy_ns - (now - self.done))
        share = 1.0 if not self._ramps else min(1.0, AT_REST + (1 - AT_REST) * self.busy_ns / RAMP_NS)
        took = round(KERNEL_NS / share)
        self.busy_ns = min(RAMP_NS, self.busy_ns + took)
        self.done = max(self.done, now) + took

    def wait(self, outputs: Any) -> None:
        self.clock.advance(max(0, self.done - self.clock.wall()) + WAIT_NS)

    def device_timer(self) -> Events | None:
        return Events(self) if self._has_events else None

    def work(self) -> Work:
        return Work(self.launch, (), {}, nullcontext)


class Events:
    """Two moments of the queue."""

    def __init__(self, device: Queue) -> None:
        self._device, self._marks = device, [0, 0]

    def _mark(self, place: int) -> None:
        self._device.clock.advance(MARK_NS)
        self._marks[place] = max(self._device.done, self._device.clock.wall())

    def start(self) -> None:
        self._mark(0)

    def stop(self) -> None:
        self._mark(1)

    def elapsed(self) -> int:
        return self._marks[1] - self._marks[0]


def time_of(device: Queue) -> float:
    return median(Engine(device, NoCounters()).measure(device.work(), SETTINGS, output_bytes=0).time.seconds())


def test_a_devices_clock_and_the_hosts_agree_within_two_per_cent() -> None:
    by_events, by_host = time_of(Queue()), time_of(Queue(has_events=False))
    assert by_events == pytest.approx(KERNEL_NS / 1e9, rel=0.02)
    assert by_host == pytest.approx(by_events, rel=0.02)


def test_no_sample_is_taken_before_a_devices_clock_has_followed_its_load() -> None:
    # Its blocks were found at rest, and are half as long: the launch of the first kernel is 2 % of them.
    assert time_of(Queue(ramps=True)) == pytest.approx(KERNEL_NS / 1e9, rel=0.03)


def test_a_side_that_waited_takes_its_turn_at_full_rate_and_leaves_nothing_in_the_queue() -> None:
    device = Queue(ramps=True)
    engine = Engine(device, NoCounters())
    block = engine.block(device.work())
    for _ in range(3):
        device.clock.advance(10 * RAMP_NS)  # the other side's turn
        turn = engine.turn(block, 5, output_bytes=0)
        assert turn.seconds() == pytest.approx([KERNEL_NS / 1e9] * 5, rel=0.1)
        assert device.done <= device.clock.wall()


def test_results_that_are_held_may_take_a_share_of_what_is_free_on_the_device() -> None:
    lengths = Lengths.of(Queue())  # 4 GB are free
    assert lengths.in_flight == 500_000_000
    assert lengths.calls(60_000, output_bytes=IN_FLIGHT_BYTES, holds=True) == 7


def test_times_are_the_hosts_where_it_waits_for_work_that_the_events_do_not_see() -> None:
    seen = Samples(tuple(Sample(1, 5_100_000, 0, device_ns=5_000_000) for _ in range(9)))
    assert believed(seen) == (seen, [])
    beside = Samples(tuple(Sample(1, 5_100_000, 0, device_ns=20_000) for _ in range(9)))
    samples, (warning,) = believed(beside)
    assert samples.seconds() == [5.1e-3] * 9
    assert warning.slug == "unseen_work"
    # A host that was kept from returning, but once, has waited for nothing else.
    late = Samples((*beside.samples, Sample(1, 21_000, 0, device_ns=20_000)))
    assert believed(late) == (late, [])
