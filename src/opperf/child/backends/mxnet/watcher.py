"""MXNet's profiler as opperf watches a program with it.

* The process has one profiler. Whoever starts it configures it anew, and so does this; a script that starts it while it
  is watched gets it, and what it recorded is read (`handover.py`).
* The threaded engine runs several operators as one bulk, which does not tell their names. While MXNet adds up its own
  summary it runs them one by one. So the summary is on only where nothing is run in bulks anyway: being watched changes
  nothing. `MXNET_EXEC_BULK_EXEC_INFERENCE=0` with `MXNET_EXEC_BULK_EXEC_TRAIN=0` has every operator run by itself.
* The naive engine tells of an operator of a compiled graph twice when both kinds are asked for: as one that it was
  given and as one of a graph. It is asked for the first alone, which has all.
* The threaded engine tells of compiled graphs whether that is asked for or not.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import mxnet as mx

from opperf.child.backends.common.watching import WindowWatcher
from opperf.child.backends.mxnet.allocations import Change, changes
from opperf.child.backends.mxnet.calls import of_blocks, of_operators
from opperf.child.backends.mxnet.handover import Handover
from opperf.child.backends.mxnet.planning import PLANNED, PlannedGraphs
from opperf.child.backends.mxnet.profile import SWITCHES, configure, original, scratch_file
from opperf.child.backends.mxnet.spans import readings, spans, with_memory, with_modules, with_shapes
from opperf.child.backends.mxnet.thread_hash import of_thread
from opperf.child.backends.mxnet.threads import ENGINES
from opperf.domain.dataclass import dataclass
from opperf.domain.profile.event import Event, Profile, Reading
from opperf.domain.profile.mxnet_names import FUSION_PREFIXES
from opperf.domain.profile.watching import ONE_BY_ONE, Watching

#: MXNet's switches of bulks, on unless they are 0.
BULKS = tuple(ONE_BY_ONE)
#: Notes on what cannot be recorded.
STACKS = "MXNet's profiler does not report Python lines"
SHAPES = "shapes are known for operators called one by one, not in a compiled graph or a backward pass"
ELSEWHERE = (
    "shapes, and which block called an operator, are known only where operators run in the calling thread: "
    "set MXNET_ENGINE_TYPE=NaiveEngine"
)
#: What was found.
BULK_NOTE = (
    "MXNet ran several operators as one (`ImperativeBulk`, and names with commas): "
    "set MXNET_EXEC_BULK_EXEC_INFERENCE=0 and MXNET_EXEC_BULK_EXEC_TRAIN=0 to have each by itself"
)


@dataclass(frozen=True)
class Window:
    """The events between a start and a stop, to be read on demand.

    `began` is in microseconds since 1970; `threads` has the names of Python's, by what MXNet calls them.
    """

    began: int
    text: str
    changed: Sequence[Change]
    modules: Sequence[Event]
    calls: Sequence[Event]
    threads: Mapping[str, str]


class Watcher(WindowWatcher[Window]):
    """MXNet's profiler."""

    framework = "mxnet"

    def __init__(self, watching: Watching) -> None:
        naive = os.environ.get("MXNET_ENGINE_TYPE") == ENGINES["naive"]
        gaps = {
            STACKS: watching.stacks,
            SHAPES: watching.shapes and naive,
            ELSEWHERE: (watching.shapes or watching.modules) and not naive,
        }
        super().__init__(watching, mx.__version__, gaps)
        # MXNet starts its engine anew in a copy of the process; a driver of GPUs does not survive that.
        self.allows_copies = not mx.runtime.Features().is_enabled("CUDA")
        self._engine = "naive" if naive else "threaded"
        self._file = scratch_file()
        self._settings: dict[str, Any] = {
            **SWITCHES,
            "filename": str(self._file),
            "profile_imperative": watching.imperative,
            "profile_symbolic": watching.symbolic and not (naive and watching.imperative),
            "profile_memory": watching.memory,
            "profile_api": watching.api,
            "aggregate_stats": naive or all(os.environ.get(name) == "0" for name in BULKS),
        }
        self._blocks = of_blocks() if watching.modules and naive else None
        self._calls = of_operators() if watching.shapes and naive else None
        self._graphs = PlannedGraphs() if watching.memory else None
        self._handover = Handover(self._settings, self._give_up, self._follow)
        self._began = 0
        self._text = ""

    def start(self) -> None:
        """Start recording, after earlier asynchronous work has finished."""
        mx.nd.waitall()
        for calls in (self._blocks, self._calls):
            if calls:
                calls.start()
        if self._graphs:
            self._graphs.start()
        if not self._handover.is_done:
            configure(self._settings)
            self._began = time.time_ns()
            self._steps.begin()
            original.set_state("run")
        self._handover.stand_in()

    def stop(self) -> None:
        """Wait for outstanding work, then stop recording.

        Errors of that work are raised once the profile is safe: MXNet reports them only once.
        """
        try:
            mx.nd.waitall()
        finally:
            self._handover.step_back()
            if not self._handover.is_done:
                self._give_up()
            self._steps.close()
            if self._graphs:
                self._graphs.stop()
            modules, function_calls = (calls.stop() if calls else [] for calls in (self._blocks, self._calls))
            text, self._text = self._text, ""
            thread_names = {
                str(of_thread(thread.ident)): thread.name for thread in threading.enumerate() if thread.ident
            }
            # The profiler's clock has whole microseconds.
            window = Window(self._began // 1000, "", (), modules, function_calls, thread_names)
            self._windows.append(self._with_text(window, text))

    def take(self) -> Profile:
        """Return the calls seen in this process since the last time; only while stopped."""
        if self._handover.is_done and self._windows:
            self._windows[-1] = self._with_text(self._windows[-1], self._handover.take())
            self._notes[self._handover.note] = None
        return super().take()

    def _facts(self) -> Mapping[str, object]:
        return {"engine": self._engine}

    def _thread(self) -> str:
        here = threading.current_thread()
        return self._threads.of(str(of_thread(here.ident or 0)), here.name)

    def _give_up(self) -> None:
        """End the recording, and have its text."""
        # Others may have configured it; where events were written in between, more are written after another start.
        configure(self._settings)
        for state in ("run", "stop"):
            original.set_state(state)
        earlier = self._text_of_file()
        original.dump(finished=False)
        self._text += earlier + self._text_of_file()
        self._steps.close()

    def _follow(self, is_running: bool) -> None:
        """Note when the script's own recording begins and ends."""
        if is_running:
            self._steps.begin()
        else:
            self._steps.close()

    def _text_of_file(self) -> str:
        """Return the text that the profiler has written, and remove it."""
        if not self._file.exists():
            return ""
        text = self._file.read_text(errors="replace")
        self._file.unlink()
        return text

    def _with_text(self, window: Window, text: str) -> Window:
        """Return a window with further events.

        Memory is read at once: what others read of the counter depends on what was read before.
        """
        changed = [*window.changed, *(changes(text) if self._graphs else [])]
        return replace(window, text=window.text + text, changed=changed)

    def _read(self, window: Window) -> Profile:
        """Read the profiler's events within the window: others may have used it before."""
        process = os.getpid()
        events = [event for event in spans(window.text, process) if event.begin // 1000 >= window.began]
        memory: list[Reading] = []
        if self._graphs:
            allocations = [change for change in window.changed if change.time >= window.began]
            measured = with_memory(events, allocations)
            events = self._graphs.without_memory(measured)
            if events != measured:
                self._notes[PLANNED] = None
            memory = readings(allocations, window.began * 1000, process)
        if window.modules:
            events = with_modules(events, window.modules)
        if window.calls:
            events = with_shapes(events, window.calls)
        if any(event.fused and not event.name.startswith(FUSION_PREFIXES) for event in events):
            self._notes[BULK_NOTE] = None
        records = (
            replace(event, thread=self._threads.of(event.thread, window.threads.get(event.thread, "thread")))
            for event in (*window.modules, *events)
        )
        return Profile(tuple(records), tuple(memory))
