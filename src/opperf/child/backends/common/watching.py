"""What the watchers of all frameworks share: windows between a start and a stop, steps, notes and facts.

A window stays as the framework's profiler left it until somebody asks for the profile: a program that is watched should
not wait for it to be read.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from tempfile import TemporaryDirectory
from time import time_ns
from typing import ClassVar, Generic, TypeAlias, TypeVar

from opperf.child.backends.common.threads import ThreadNames
from opperf.domain.errors import ProfilerError
from opperf.domain.profile.event import Profile, merge
from opperf.domain.profile.watching import Steps, Watching

W = TypeVar("W")
#: Where a profiler writes what it records.
Folder: TypeAlias = "TemporaryDirectory[str]"


class WindowWatcher(ABC, Generic[W]):
    """A watcher whose class for a framework says when windows begin and end, and reads one."""

    framework: str
    allows_copies = False

    def __init__(
        self, watching: Watching, version: str, gaps: Mapping[str, bool], clock: Callable[[], int] = time_ns
    ) -> None:
        """Watch nothing yet. `gaps` are notes on what cannot be recorded, and whether each is wanted."""
        self._watching, self._version = watching, version
        self._gaps = [note for note, is_wanted in gaps.items() if is_wanted]
        self._notes: dict[str, None] = {}
        self._steps, self._threads = Steps(clock), ThreadNames()
        self._windows: list[W] = []

    def step(self, name: str) -> None:
        """Mark where a step of the program ends; the span is called by its name."""
        self._steps.end(name, self._thread())

    def take(self) -> Profile:
        """Return the calls seen in this process since the last time; only while stopped.

        What is missing of operators is noted where there were any.
        """
        windows, self._windows = self._windows, []
        profiles = [self._read(window) for window in windows]
        ran = any(event.kind == "operator" for one in profiles for event in one.events)
        notes, self._notes = (*self._gaps * ran, *self._notes), {}
        facts = {"framework": self.framework, "version": self._version, **self._facts()}
        return merge([self._steps.take(facts, notes), *profiles])

    @abstractmethod
    def _read(self, window: W) -> Profile:
        """Return the events and readings of a window; further notes may be added."""

    def _facts(self) -> Mapping[str, object]:
        return {}

    def _thread(self) -> str:
        return threading.current_thread().name


class FolderWatcher(WindowWatcher[W]):
    """A watcher by a profiler that records into a folder, which is removed when it was read.

    The process has one such profiler. A program that starts it during a recording gets an error from its framework.
    """

    #: How the framework calls what a program ends its own recording by, and what that and a second start raise.
    ender: ClassVar[str]
    errors: ClassVar[type[Exception] | tuple[type[Exception], ...]]

    def __init__(self, watching: Watching, version: str, gaps: Mapping[str, bool], profiler: str) -> None:
        """Watch nothing yet; `profiler` is its name in messages."""
        super().__init__(watching, version, gaps)
        self._profiler = profiler
        # When Python ends it removes all such folders together, in the order in which the first of them was made: after
        # it has called what was registered later than this, as who reads the profile then.
        self._folder = TemporaryDirectory(prefix=f"opperf-{self.framework}-", ignore_cleanup_errors=True)
        self._recording: Folder | None = None

    def _record(self, start: Callable[[str], object]) -> None:
        """Have the profiler `start` to record; raises `ProfilerError` if the program is using it."""
        folder = TemporaryDirectory(dir=self._folder.name, ignore_cleanup_errors=True)
        try:
            start(folder.name)
        except self.errors as problem:
            folder.cleanup()
            raise ProfilerError(
                f"{self._profiler} cannot be started: {problem}",
                hint=f"stop the program's own recording first (`{self.ender}`); a process can only have one",
                slug="profiler_taken",
            ) from problem
        self._recording = folder

    def _finish(self, stop: Callable[[], object], window: Callable[[Folder], W]) -> None:
        """Have the profiler `stop`, and keep what it recorded as a window."""
        if self._recording is None:
            return
        try:
            stop()
        except self.errors:
            self._notes[f"the program stopped {self._profiler} itself, so the rest was not recorded"] = None
        self._windows.append(window(self._recording))
        self._recording = None
