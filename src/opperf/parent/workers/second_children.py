"""The children beside the one that times the trials of a side: one counts instructions, one watches what a device does.

Both are slow where they look, and what a framework's profiler has watched launches more slowly from then on. So neither
is the process whose calls are timed. They start with the first trial that needs them, and end with the side's child.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from opperf.domain.errors import OperatorFailure, OpperfError
from opperf.domain.kernels import KernelTimes, unseen_kernels
from opperf.domain.measurement import Measurement
from opperf.domain.message.requests import Prepare, WatchKernels
from opperf.domain.plan import INSTRUCTIONS, UNCHECKED, Settings, Side, Trial
from opperf.parent.workers.instructions import Counter, with_instructions
from opperf.parent.workers.process import Launch, Worker
from opperf.parent.workers.starting import start

#: How a trial ends that has too little memory, beside a child that keeps what its trials had.
NO_MEMORY = ("short_of_memory", "out_of_memory")


class KernelWatcher:
    """A child that watches trials of a side which another child has timed."""

    def __init__(
        self, side: Side, settings: Settings, progress: Callable[[str], None], plugins: Sequence[Path]
    ) -> None:
        """Start it; raises what keeps it from starting."""
        self._settings = settings
        self.worker, _ = start(
            side,
            Launch(settings.cpus, plugins=plugins),
            progress=progress,
            sharing=2,
            compile_cache=settings.compile_cache,
        )

    def kernels(self, trial: Trial) -> KernelTimes:
        """Watch calls of a trial; raises `OperatorFailure` and `WorkerFailure`."""
        settings, timeout = self._settings, self._settings.timeout
        request = Prepare(trial, settings.seed, UNCHECKED, memory_limit=settings.memory_limit)
        with self.worker.prepared(request, timeout) as preparation:
            return self.worker.ask(WatchKernels(preparation.handle, settings.runs), timeout)


class SecondChildren:
    """Those of a pool, for the side whose child is in use."""

    def __init__(self, settings: Settings, progress: Callable[[str], None], plugins: Sequence[Path] = ()) -> None:
        """Start none yet."""
        self._settings, self._progress, self._plugins = settings, progress, plugins
        self._side: Side | None = None
        self._counter: Counter | None = None
        self._watcher: KernelWatcher | None = None

    @property
    def workers(self) -> Sequence[Worker]:
        """Those that live."""
        return [child.worker for child in (self._counter, self._watcher) if child is not None]

    def with_instructions(self, trial: Trial, measurement: Measurement) -> Measurement:
        """Return a measurement with the instructions of a call, where the settings ask for them."""
        if self._settings.clock != INSTRUCTIONS:
            return measurement
        return with_instructions(measurement, self._settings, lambda: self._living_counter(trial.side).count(trial))

    def kernels(self, trial: Trial, make_room: Callable[[], None]) -> KernelTimes:
        """Watch a trial; where memory is short, `make_room` ends the child that has timed it."""

        def watch() -> KernelTimes:
            try:
                return self._living_watcher(trial.side).kernels(trial)
            except OperatorFailure as failure:
                if failure.reason.slug not in NO_MEMORY:
                    raise
                make_room()
                return self._living_watcher(trial.side).kernels(trial)

        return kernels_seen(watch)

    def _serve(self, side: Side) -> None:
        """End those of another side, whose own child may have ended before them."""
        if self._side is None or self._side.process != side.process:
            self.close()
        self._side = side

    def _living_counter(self, side: Side) -> Counter:
        self._serve(side)
        if self._counter is None or not self._counter.alive:
            if self._counter is not None:
                self._counter.close()
            self._counter = Counter(side, self._settings, self._progress, self._plugins)
        return self._counter

    def _living_watcher(self, side: Side) -> KernelWatcher:
        self._serve(side)
        if self._watcher is None or not self._watcher.worker.alive:
            self._watcher = KernelWatcher(side, self._settings, self._progress, self._plugins)
        return self._watcher

    def close(self) -> None:
        """End them."""
        if self._counter is not None:
            self._counter.close()
        if self._watcher is not None:
            self._watcher.worker.close()
        self._counter = self._watcher = None


def kernels_seen(watch: Callable[[], KernelTimes]) -> KernelTimes:
    """Return the times of a pass, or why it shows nothing: the trial has been timed by then."""
    try:
        return watch()
    except OpperfError as error:
        return unseen_kernels(error.message)
