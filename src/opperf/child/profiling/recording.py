"""A recording: when watchers are on, and what they recorded.

    stopped ── start ──► running ── pause ──► paused ── resume ──► running
       ▲                    │                    │
       └────────────────── stop ─────────────────┘

A process has one profiler of each framework, so that one recording at a time is not stopped. Only one of a whole script
gives way: it waits while a block of the script is profiled.

glibc has the system map what is large, and gives it back when it is freed, until it has learnt better: then each call
of an operator pays for the pages of its result. That depends on what the program freed before, and `opperf run` leaves
it out, so that a profile and an operator by itself differ by it.
"""

from __future__ import annotations

import resource
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TypeVar

from opperf.child.profiling.waiting import Waiting
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import ProfilerError, check_known
from opperf.domain.profile.event import Profile, merge
from opperf.domain.profile.watching import FRESH, WATCHED, Watcher, Watching
from opperf.domain.registry import FRAMEWORKS

#: Said of a recording that gave way.
GAVE_WAY = "the script profiles parts of itself, which are not in this profile"

#: The recordings that are not stopped; all but the last one wait.
_recordings: list[Recording] = []


def loaded_frameworks(framework: str | None = None) -> tuple[str, ...]:
    """Return the frameworks that the script has imported, or the one that is named.

    Raises `InputError` for a name that is not known, `ProfilerError` where nothing is imported.
    """
    if framework is not None:
        names = (*WATCHED, "null")
        check_known("framework", framework, names)
        return (framework,)
    frameworks = tuple(name for name in WATCHED if FRAMEWORKS[name].module in sys.modules)
    if not frameworks:
        raise ProfilerError(
            "no framework is imported, so there is nothing to profile",
            hint=f"import one of {', '.join(WATCHED)} first, or name it: `framework=...`",
            slug="no_framework_imported",
        )
    return frameworks


def watcher(framework: str, watching: Watching) -> Watcher:
    """Return a framework's watcher; imports the framework where the script has not."""
    result: Watcher = import_module(f"opperf.child.backends.{framework}.watcher").Watcher(watching)
    return result


class Recording:
    """Starts and stops the watchers of some frameworks together, and keeps their data until it is reset."""

    def __init__(
        self, watching: Watching, create: Callable[[str, Watching], Watcher] = watcher, *, gives_way: bool = False
    ) -> None:
        self.state = "stopped"
        self._rests = False
        self._gives_way = gives_way
        self._before = ""
        self._watching = watching
        self._create = create
        self._watchers: dict[str, Watcher] = {}
        self._profile = Profile()
        self._fresh = FreshMemory()
        self._waiting = Waiting()

    @property
    def frameworks(self) -> tuple[str, ...]:
        """The frameworks that are watched."""
        return tuple(self._watchers)

    @property
    def allows_copies(self) -> bool:
        """Whether what is watched could be watched in a copy of this process, too."""
        return all(one.allows_copies for one in self._watchers.values())

    def include(self, *frameworks: str) -> None:
        """Watch further frameworks, from now on where the recording is running."""
        for name in frameworks:
            if name not in self._watchers:
                new = self._create(name, self._watching)
                if self.state == "running":
                    new.start()
                self._watchers[name] = new

    def start(self, *, paused: bool = False) -> None:
        """Begin to watch, or only keep others from doing so until `resume`."""
        if self.state != "stopped":
            raise ProfilerError(
                f"the profiler is already {self.state}",
                hint="stop it before you start it again" if self.state == "running" else "resume it, or stop it",
                slug="profiler_running",
            )
        if _recordings:
            _recordings[-1]._wait()
        _recordings.append(self)
        self.state = "paused"
        if not paused:
            try:
                self._start_watchers()
            except BaseException:
                self._free()
                raise

    def stop(self) -> None:
        """Stop recording, once outstanding work is done."""
        self._open("stopped")
        try:
            if self.state == "running":
                self._stop_watchers()
            self.settle()
        finally:
            self._free()

    def pause(self) -> None:
        """Watch no more until `resume`."""
        self._open("paused")
        if self.state == "paused":
            raise ProfilerError("the profiler is already paused", hint="resume it first", slug="profiler_paused")
        self._stop_watchers()

    def rest(self) -> None:
        """Watch no more until `resume`, as `pause` does, but have watchers ready that take long to stop."""
        self._open("paused")
        self._stop_watchers("rest")
        self._rests = True

    def settle(self) -> None:
        """Have watchers that are ready stop, too: others need what they use."""
        if self._rests:
            self._rests = False
            for one in self._watchers.values():
                if hasattr(one, "rest"):
                    one.stop()

    def resume(self) -> None:
        """Watch again."""
        self._open("resumed")
        if self.state != "paused":
            raise ProfilerError("the profiler is not paused", hint=f"it is {self.state}", slug="profiler_running")
        self._start_watchers()

    def step(self, name: str) -> None:
        """Mark where a step of the program ends; what is paused sees none."""
        self._open("told of a step")
        if self.state == "running":
            for one in self._watchers.values():
                one.step(name)

    def collect(self) -> None:
        """Take over what was seen; raises `ProfilerError` while running."""
        self._profile = merge([self._profile, *self._take_over()])

    def discard(self) -> None:
        """Forget what was seen since the last `collect`; raises `ProfilerError` while running."""
        self._take_over()

    def profile(self) -> Profile:
        """Return the recording since the last reset; raises `ProfilerError` while running."""
        self.collect()
        program_facts = {"name": name(), "command": shlex.join(sys.argv), **self._waiting.facts()}
        processes = {number: {**program_facts, **facts} for number, facts in self._profile.processes.items()}
        notes = (*self._profile.notes, *self._fresh.notes(), *self._waiting.notes())
        return replace(self._profile, processes=processes, notes=notes, slices=self._waiting.slices())

    def reset(self) -> None:
        """Forget what was seen; raises `ProfilerError` while running."""
        self.discard()
        self._profile = Profile()
        self._fresh = FreshMemory()
        self._waiting = Waiting()

    def _take_over(self) -> list[Profile]:
        if self.state == "running":
            raise ProfilerError("the profiler is still running", hint="stop or pause it first", slug="profiler_running")
        self.settle()
        return of_active([one.take() for one in self._watchers.values()])

    def _open(self, what: str) -> None:
        if self.state == "stopped":
            raise ProfilerError(
                f"the profiler was not started, so it cannot be {what}",
                hint="start it: `with opperf.profiler.profile() as p:` or `set_state('run')`",
                slug="profiler_stopped",
            )

    def _start_watchers(self) -> None:
        with ExitStack() as stack:
            for one in self._watchers.values():
                one.start()
                stack.callback(one.stop)
            stack.pop_all()
        self._fresh.start()
        self._waiting.start()
        self.state, self._rests = "running", False

    def _stop_watchers(self, how: str = "stop") -> None:
        self.state = "paused"
        self._fresh.stop()
        self._waiting.stop()
        with ExitStack() as stack:  # each is stopped even if another raises
            for one in self._watchers.values():
                stack.callback(getattr(one, how, one.stop))

    def _free(self) -> None:
        self.state = "stopped"
        _recordings.remove(self)
        if _recordings and _recordings[-1].state == "waiting":
            _recordings[-1]._go_on()

    def _wait(self) -> None:
        """Give way to another recording; raises `ProfilerError` where this one does not."""
        if not self._gives_way:
            raise ProfilerError(
                "another profile is active in this process",
                hint="blocks of `opperf.profiler.profile` cannot be nested, nor stand between "
                "`set_state('run')` and `set_state('stop')`",
                slug="profiler_running",
            )
        self.settle()
        self._before = self.state
        if self.state == "running":
            self._stop_watchers()
        self.state = "waiting"

    def _go_on(self) -> None:
        notes = [*self._profile.notes, GAVE_WAY]
        self.state = "paused"
        if self._before == "running":
            try:
                self._start_watchers()
            except ProfilerError as problem:  # the other one ends well all the same
                notes.append(problem.message)
        self._profile = replace(self._profile, notes=tuple(dict.fromkeys(notes)))


def of_active(profiles: Sequence[Profile]) -> list[Profile]:
    """Return the recordings of the frameworks that ran something: a library may import others that it does not use.

    Every watcher marks the same steps, which count once. What a watcher says of itself stays.
    """
    frameworks = [one for one in profiles if one.processes]
    ran = (
        [one for one in frameworks if one.of_kind("operator")]
        or [one for one in frameworks if _saw_more(one)]
        or frameworks[:1]
    )
    silent = [Profile(notes=one.notes) for one in profiles if not any(one is other for other in ran)]
    others = [replace(one, events=tuple(event for event in one.events if event.kind != "step")) for one in ran[1:]]
    return [*ran[:1], *others, *silent]


def _saw_more(profile: Profile) -> bool:
    """Whether there is more than steps, of which a watcher is told."""
    return any(event.kind != "step" for event in profile.events)


Owner = TypeVar("Owner")


def name() -> str:
    """Return the name of this process: by multiprocessing, where that started it, else by its program."""
    module = sys.modules.get("multiprocessing.process")
    if module is not None and module.parent_process() is not None:
        return str(module.current_process().name)
    program = Path(sys.argv[0] if sys.argv else "")
    return program.parent.name if program.name == "__main__.py" else program.name


def at_beginning(owner: Owner, begin: Callable[[Owner], None]) -> None:
    """Call `begin(owner)` when a multiprocessing process, this one or a copy, is about to begin."""
    module = sys.modules.get("multiprocessing.util")
    if module is not None:
        module.register_after_fork(owner, begin)


def at_end(finish: Callable[[], None]) -> None:
    """Have `finish` called where this process ends as one of multiprocessing's."""
    module = sys.modules.get("multiprocessing.util")
    if module is not None:
        module.Finalize(None, finish, exitpriority=0)


#: The kernel's work is noted from this share of the time and this many pages.
SHARE, PAGES = 0.1, 10_000


@dataclass(frozen=True)
class Usage:
    """Seconds that passed and that the system worked for this process, and pages that it gave it."""

    passed: float = 0.0
    system: float = 0.0
    pages: int = 0

    @classmethod
    def now(cls) -> Usage:
        """Read the counters of this process (getrusage(2))."""
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return cls(time.perf_counter(), usage.ru_stime, usage.ru_minflt)


class FreshMemory:
    """Accumulates between alternating calls of `start` and `stop`."""

    def __init__(self) -> None:
        self._since = self._sum = Usage()

    def start(self) -> None:
        """Begin to count."""
        self._since = Usage.now()

    def stop(self) -> None:
        """Count no more."""
        now, since, total = Usage.now(), self._since, self._sum
        self._sum = Usage(
            total.passed + now.passed - since.passed,
            total.system + now.system - since.system,
            total.pages + now.pages - since.pages,
        )

    def notes(self) -> tuple[str, ...]:
        """Return a line for people where the system took much of the time, with many pages."""
        total = self._sum
        if total.system < SHARE * total.passed or total.pages < PAGES:
            return ()
        text = (
            f"the kernel worked for {total.system:.3g} of {total.passed:.3g} profiled s and handed out "
            f"{total.pages} {FRESH}: times include the cost of mapping fresh memory for results"
        )
        return (text,)
