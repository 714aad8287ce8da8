"""Profile a whole script that knows nothing of it, as environment variables say.

* `OPPERF_PROFILER_OPTIONS`: what is to be seen, a JSON object of `Options`;
* `OPPERF_PROFILER_OUTPUT`: the folder for `opperf_profile_<pid>.json`, by default the current one;
* `OPPERF_PROFILER_QUIET`: when set, the line that names the file is not printed.

The profiler starts right after the script has imported a framework, and the file is written when the script ends: also
by an exception, by Ctrl-C, or by SIGTERM where the script does not handle that itself. Whatever goes wrong here costs
the profile, never the script.

A copy of the process that multiprocessing makes is profiled by itself from its beginning on, where the frameworks allow
a copy to go on with them. The profiler is paused while the process is copied: the copy has none of the threads that
could open a lock. Other copies are left alone; most become another program at once.

Ranges that name operators to a tool that watches the process from outside: NVTX for NVIDIA's, ITT for Intel's.
PyTorch emits them in a mode of its own profiler, which has one mode at a time: they are entered instead of its
watcher. MXNet emits them while its profiler runs, so beside its watcher, and XLA by itself.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import fields, replace
from functools import partial
from pathlib import Path

from opperf.child import backends
from opperf.child.measure.host import fix_allocator, free_bytes
from opperf.child.profiling.hook import Calls, Imports, when_bound
from opperf.child.profiling.recording import Recording, at_beginning, at_end, loaded_frameworks, watcher
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, OpperfError, check_known
from opperf.domain.profile.chrome import save
from opperf.domain.profile.event import Profile
from opperf.domain.profile.watching import (
    ALLOCATOR,
    GRANULARITY,
    ONE_BY_ONE,
    WATCHED,
    WATCHER,
    Watcher,
    Watching,
)
from opperf.domain.registry import FRAMEWORK, FRAMEWORKS, Framework, register

MAIN = "__main__"
#: The default share of free memory that a profile may take.
MEMORY_SHARE = 2


@dataclass(frozen=True)
class Options:
    """What to record of a script.

    `function` (`module:name`) has nothing seen but its calls: `calls` of them, all without a number, after the first
    `skip`. A function of the script itself is `__main__:name`. `granularity` is `operator` or `bulk`. `ranges` has
    operators named for a tool outside, by `nvtx` or `itt`; `record` has their arguments written beside the profile. An
    `allocator` that is `fixed` holds on to memory as the one of a measured operator does. The profile of a process may
    take `memory_limit` bytes, by default half of what is free when it begins. `plugins` are files of the user's
    own that bring a framework with its `Watcher`.
    """

    framework: str | None = None
    memory: bool = False
    shapes: bool = False
    stacks: bool = False
    modules: bool = False
    api: bool = False
    granularity: str = GRANULARITY
    function: str | None = None
    skip: int = 0
    calls: int | None = None
    ranges: str | None = None
    record: bool = False
    allocator: str = ALLOCATOR
    memory_limit: int | None = None
    plugins: Sequence[str] = ()

    @classmethod
    def read(cls, text: str) -> Options:
        """Read what the environment says; raises `InputError`."""
        try:
            document = json.loads(text)
        except ValueError as problem:
            raise InputError(f"OPPERF_PROFILER_OPTIONS is not JSON ({problem})", slug="input") from problem
        names = [field.name for field in fields(cls)]
        for name in document:
            check_known("option", name, names)
        options = cls(**document)
        if options.function is not None and not all(options.function.partition(":")):
            raise InputError(
                f"`{options.function}` names no function", hint="write `module:name`", slug="unknown_function"
            )
        return options

    @property
    def watching(self) -> Watching:
        """The settings of watchers."""
        limit = default_limit() if self.memory_limit is None else self.memory_limit
        return Watching(self.memory, self.shapes, self.stacks, self.modules, self.api, memory_limit=limit)

    def recording(self, folder: Path) -> str:
        """Return the file for the arguments of this process's operators; empty unless asked for."""
        return str(folder / f"operators_{os.getpid()}.json") if self.record else ""


def autostart() -> None:
    """Arm the profiler for the frameworks that the script is going to import, or has imported."""
    _try(_arm)


def _arm() -> None:
    options = Options.read(os.environ.get("OPPERF_PROFILER_OPTIONS") or "{}")
    if options.allocator == "fixed":
        fix_allocator()
    AutoProfiler(options, Path(os.environ.get("OPPERF_PROFILER_OUTPUT") or ".").absolute()).arm()


class AutoProfiler:
    """Waits for frameworks, profiles, and writes what was seen into a folder when the process ends."""

    def __init__(self, options: Options, folder: Path) -> None:
        self._options = options
        self._folder = folder
        self._own_watchers = own_watchers(options.plugins)
        self._recording = self._new_recording()
        self._frameworks = {FRAMEWORKS[name].module: name for name in _names(options.framework, self._own_watchers)}
        self._module, _, name = (options.function or "").partition(":")
        self._function = name
        self._calls = Calls(name, options.skip, options.calls, self._begin, self._end)
        self._process = os.getpid()
        self._done = self._finishing = False
        self._signal = 0  # the one that ends the process
        self._copied = ""  # the state of the recording when a copy of the process is made that is profiled, too
        self._is_copy = False

    def _new_recording(self) -> Recording:
        watching = replace(self._options.watching, record=self._options.recording(self._folder))
        return Recording(watching, self._create, gives_way=True)

    def arm(self) -> None:
        """Wait for the modules that matter, unless they are imported already."""
        if self._options.granularity == "operator":
            os.environ.update(ONE_BY_ONE)
        modules = {*self._frameworks, *([self._module] if self._module not in ("", MAIN) else [])}
        there = [name for name in modules if name in sys.modules]
        sys.meta_path.insert(0, Imports(modules.difference(there), self._on_import))
        if self._module == MAIN:
            first = self._function.partition(".")[0]
            when_bound(vars(sys.modules[MAIN]), first, lambda: self._on_import(MAIN))
        for name in there:
            self._on_import(name)
        os.register_at_fork(before=self._before_copy, after_in_parent=self._after_copy, after_in_child=self._in_copy)

    def _on_import(self, module: str) -> None:
        if module in self._frameworks:
            _try(lambda: self._watch(self._frameworks[module]))
        if module == self._module:
            _try(lambda: self._calls.put_around(sys.modules[module]))

    def _watch(self, framework: str) -> None:
        if self._recording.state == "stopped":
            self._recording.start(paused=bool(self._module))
        self._recording.include(framework)
        # What is registered last runs first: frameworks take themselves down when Python ends.
        atexit.unregister(self._finish)
        atexit.register(self._finish)
        at_end(self._finish)
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._on_terminate)

    def _create(self, framework: str, watching: Watching) -> Watcher:
        kind = self._options.ranges
        if kind is None:
            return self._own_watchers.get(framework, partial(watcher, framework))(watching)
        ranges = partial(emitting, kind, framework)
        ranges()  # raises where the framework has none
        return Marking(framework, ranges) if framework == "torch" else watcher(framework, watching)

    def _begin(self) -> bool:
        return self._recording.state == "paused" and _try(self._recording.resume)

    def _end(self, name: str) -> None:
        if self._recording.state == "running":  # else the process is being ended within the call
            _try(lambda: self._recording.step(name))
            _try(self._recording.pause if self._calls.are_over else self._recording.rest)

    def _before_copy(self) -> None:
        """Pause where a copy of the process can be profiled."""
        state = self._recording.state
        main = threading.current_thread() is threading.main_thread()  # else the profiler may not be stopped from here
        allowed = main and not self._done and self._recording.allows_copies and state != "waiting"
        self._copied = state if allowed else ""
        if self._copied == "running":
            _try(self._recording.pause)
        elif self._copied == "paused":
            _try(self._recording.settle)

    def _after_copy(self) -> None:
        if self._copied == "running":
            _try(self._recording.resume)

    def _in_copy(self) -> None:
        if self._copied:
            at_beginning(self, AutoProfiler._begin_as_copy)

    def _begin_as_copy(self) -> None:
        """Profile this copy: what was seen before it was made is the other one's."""
        if os.getpid() == self._process:
            return
        self._process, self._is_copy = os.getpid(), True
        if self._copied != "stopped":
            _try(self._begin_anew)
        if self._recording.state != "stopped":
            at_end(self._finish)

    def _begin_anew(self) -> None:
        self._recording.stop()
        frameworks = self._recording.frameworks
        self._recording = self._new_recording()
        self._recording.include(*frameworks)
        self._recording.start(paused=self._copied == "paused")

    def _on_terminate(self, number: int, frame: object) -> None:
        """Save, and leave as the script would have."""
        self._signal = number
        if not self._finishing:  # else the process leaves once it has saved
            self._finish()
            self._leave()

    def _leave(self) -> None:
        signal.signal(self._signal, signal.SIG_DFL)
        os.kill(os.getpid(), self._signal)

    def _finish(self) -> None:
        if self._done or os.getpid() != self._process:  # a copy that is not profiled has what the other one saw
            return
        self._done = self._finishing = True
        try:
            _try(self._recording.stop)
            _try(self._save)
        finally:
            self._finishing = False
        if self._signal:
            self._leave()

    def _save(self) -> None:
        profile = self._recording.profile()
        if not profile.processes:  # a tool outside has it all
            return
        if self._is_copy and not profile.events:  # copies are made for much that calls no operator
            return
        path = self._folder / f"opperf_profile_{self._process}.json"
        self._folder.mkdir(parents=True, exist_ok=True)
        save(self._with_notes(profile), path)
        if not os.environ.get("OPPERF_PROFILER_QUIET"):
            print(f"opperf: profile written to {path}", file=sys.stderr)

    def _with_notes(self, profile: Profile) -> Profile:
        if not self._module or self._calls.count > self._options.skip:
            return profile
        if self._calls.has_function:
            text = f"was called {self._calls.count} times, and {self._options.skip} were skipped"
        else:
            text = "was not found: the script neither defines nor imports it"
        return replace(profile, notes=(*profile.notes, f"`{self._options.function}` {text}"))


class Marking:
    """Has operators named for a tool outside in place of watching them: PyTorch's profiler does one at a time."""

    allows_copies = False

    def __init__(self, framework: str, ranges: Callable[[], AbstractContextManager[object]]) -> None:
        self.framework = framework
        self._ranges = ranges
        self._entered = ExitStack()

    def start(self) -> None:
        """Name operators."""
        self._entered.enter_context(self._ranges())

    def stop(self) -> None:
        """Name them no more."""
        self._entered.close()

    def step(self, name: str) -> None:
        """Let it be: tools have no steps."""

    def take(self) -> Profile:
        """Return nothing."""
        return Profile()


def default_limit() -> int | None:
    """Return the default limit of a profile's bytes; None where the system does not report free memory."""
    free = free_bytes()
    return None if free is None else max(0, free) // MEMORY_SHARE


def own_watchers(plugins: Sequence[str]) -> dict[str, Callable[[Watching], Watcher]]:
    """Load plugins, make their frameworks known, and return the watcher of each by the framework's name."""
    result = {}
    for path in plugins:
        module = backends.load_plugin(Path(path))
        own: Framework = getattr(module, FRAMEWORK)
        register(own)
        result[own.name] = getattr(module, WATCHER)
    return result


def _names(framework: str | None, watched: Collection[str]) -> tuple[str, ...]:
    if framework is None:
        return (*WATCHED, *watched)
    return (framework,) if framework in watched else loaded_frameworks(framework)


def _try(action: Callable[[], object]) -> bool:
    """Do something, or print in one line why it failed: nothing is raised, because the script must go on."""
    try:
        action()
    except Exception as problem:
        text = problem.message if isinstance(problem, OpperfError) else f"{type(problem).__name__}: {problem}"
        print(f"opperf: not profiled: {text.splitlines()[0]}", file=sys.stderr)
        return False
    return True


#: Frameworks that name their operators without being asked, in builds that can.
BY_ITSELF = {"nvtx": ("jax", "mxnet"), "itt": ("mxnet",)}


def emitting(kind: str, framework: str) -> AbstractContextManager[object]:
    """Return a context in which operators are named by ranges, `nvtx` or `itt`.

    Raises `Unsupported` where the framework, or its build, has no such ranges.
    """
    if framework in BY_ITSELF[kind]:
        return nullcontext()
    context: AbstractContextManager[object] = backends.ranges(framework).emitting(kind)
    return context
