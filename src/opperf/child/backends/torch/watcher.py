"""PyTorch's profiler as opperf's: windows are kept as they are until they are read.

It sees the operators of all threads. Of memory PyTorch reports to the thread that started the profiler and to those
that belong to it, as autograd's: with `memory` other threads are not seen.

Which lines of Python called them opperf follows by itself: PyTorch's own recorder keeps kilobytes of every call of
Python, and a program that imported a large library ran out of memory with it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from dataclasses import field
from typing import Any

import torch
from torch._C._profiler import _ExperimentalConfig
from torch.profiler import ExecutionTraceObserver

from opperf.child.backends.common.python_stacks import PROFILE_FUNCTION_SET, PythonCalls, Stacks
from opperf.child.backends.common.watching import WindowWatcher
from opperf.child.backends.torch.accelerator import WATCHED, in_use, wait_for_all
from opperf.child.backends.torch.compiled_graphs import CompiledGraphs
from opperf.child.backends.torch.memory_guard import MemoryGuard
from opperf.child.backends.torch.modules import Ranges
from opperf.child.backends.torch.spans import profile_of
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import ProfilerError
from opperf.domain.profile.compilation import COMPILED
from opperf.domain.profile.event import Profile
from opperf.domain.profile.module_tree import PARAMETERS
from opperf.domain.profile.watching import Watching
from opperf.domain.units import format_bytes

MEMORY_NOTE = "torch: memory is counted from the start of the profile, in the thread that started the profiler only"
ENDED_NOTE = "torch: the script started PyTorch's profiler itself, which ended this one; its data is lost"
TAKEN_NOTE = f"torch: {PROFILE_FUNCTION_SET}"
UNSEEN_NOTE = (
    "torch: of `{}` devices only launches are seen, and what the host waits for; no profiler shows what runs there"
)
#: From this share of the time, a note says that recording Python calls slowed the script down.
SLOW = 0.2
#: Above every level of Kineto's messages: it would print a line at each start and stop.
SILENT = "6"


@dataclass
class Window:
    """One run of PyTorch's profiler, and the threads that lived at its end.

    What it recorded in `gaps`, from one time to another, does not count.
    """

    session: Any
    marks: Ranges | None
    gaps: list[tuple[int, int]] = field(default_factory=list)
    thread: int = field(default_factory=threading.get_ident)
    threads: dict[int, str] = field(default_factory=dict)


class Watcher(WindowWatcher[Window]):
    """Sees operators, kernels on devices, memory and modules."""

    framework = "torch"

    def __init__(self, watching: Watching) -> None:
        super().__init__(watching, str(torch.__version__), {MEMORY_NOTE: watching.memory})
        self._open: Window | None = None
        self._stacks: Stacks | None = None
        self._calls = PythonCalls() if watching.stacks else None
        self._guard = self._guard_of(watching.memory_limit)
        self._since = self._passed = 0.0
        self._began = self._stopped = 0  # when the first window began, and when there was no room for more
        self._left = 0  # when it was stopped or began to rest
        self._gap: float | None = None  # the last seconds between two times that were watched
        self._rests = False
        self._parameters: dict[str, int] = {}  # how many each module has for itself
        self._graphs = CompiledGraphs()
        self._observer = _observer(watching.record)
        self.allows_copies = False

    def start(self) -> None:
        """Start recording, or go on; raises `ProfilerError` while PyTorch's profiler is in use."""
        self._gap = (time.time_ns() - self._left) / 1e9 if self._left else None
        if self._rests and not torch.autograd.profiler._is_profiler_enabled:  # other code stopped it
            self.stop()
        if self._rests and self._open is not None:
            self._rests = False
            self._open.gaps.append((self._left, time.time_ns()))
            self._enter()
            return
        if torch.autograd.profiler._is_profiler_enabled:
            raise ProfilerError(
                "PyTorch's own profiler is running, and a process can only have one",
                hint="end its `torch.profiler.profile` block first",
                slug="profiler_taken",
            )
        wait_for_all()
        if not torch.cuda.is_available():  # where there is a GPU, Kineto may have to say why it sees nothing of it
            os.environ.setdefault("KINETO_LOG_LEVEL", SILENT)
        # A driver of GPUs does not survive a copy of its process, and a file of arguments is open in both. Before the
        # first start nobody may ask for GPUs, since that by itself keeps copies from using them.
        self.allows_copies = self._observer is None and not torch.cuda.is_available()
        self._began = self._began or time.time_ns()
        if self._stopped or not (self._guard is None or self._guard.start()):
            self._stopped = self._stopped or time.time_ns()
            return
        session = self._session()
        session.__enter__()
        self._open = Window(session, Ranges() if self._watching.modules else None)
        self._enter()

    def _enter(self) -> None:
        self._graphs.start()
        self._since = time.perf_counter()
        self._steps.begin()
        if self._observer is not None:
            self._observer.start()
        if self._calls is not None:
            self._calls.start()

    def _leave(self) -> None:
        self._graphs.stop()
        if self._calls is not None:
            self._calls.stop()
        self._passed += time.perf_counter() - self._since
        wait_for_all()
        self._steps.close()
        if self._observer is not None:
            self._observer.stop()
        self._left = time.time_ns()

    def rest(self) -> None:
        """Let nothing count until the next start, which is expected soon; else stop.

        To stop, PyTorch's profiler needs about as long as what it saw took; in a short gap, to record on costs less. It
        stops where memory is counted, since what was allocated in a gap would be missing, and where kernels run on.
        """
        length = time.perf_counter() - self._since
        is_short = self._gap is not None and self._gap <= length
        if self._open is None or not is_short or self._watching.memory or torch.cuda.is_available():
            self.stop()
            return
        self._leave()
        self._rests = True

    def stop(self) -> None:
        """Wait for every device, then watch no more; raises `ProfilerError` in a thread that cannot."""
        window = self._open
        if window is None:
            return
        if self._watching.memory and threading.get_ident() != window.thread:
            raise ProfilerError(
                "PyTorch's profiler was started in another thread, and with memory it can only be stopped there",
                hint="start and stop it in one thread, or leave memory out",
                slug="profiler_thread",
            )
        if self._guard is not None:
            self._guard.pause()
        if self._rests:
            window.gaps.append((self._left, time.time_ns()))
            self._rests = False
        else:
            self._leave()
        if window.marks is not None:
            self._parameters.update(window.marks.parameters())
            window.marks.close()
            window.marks = None
        self._open = None
        if not torch.autograd.profiler._is_profiler_enabled:  # other code stopped it
            self._notes[ENDED_NOTE] = None
            return
        window.threads = {one.native_id or 0: one.name for one in threading.enumerate()}
        window.session.__exit__(None, None, None)
        self._windows.append(window)

    def take(self) -> Profile:
        """Return the calls seen since the last time; a recording of arguments is whole then, and ends."""
        if self._observer is not None:
            self._observer.unregister_callback()
            self._observer = None
        slowdown = self._of_stacks()
        self._stacks = None if self._calls is None else self._calls.take()
        has_rival = self._calls is not None and self._calls.has_rival
        unseen = (UNSEEN_NOTE.format(kind) for kind in in_use() if kind not in WATCHED)
        self._notes |= dict.fromkeys((*[TAKEN_NOTE] * has_rival, *self._of_limit(), *slowdown, *unseen))
        profile = super().take()
        self._stacks = None
        return profile

    def _facts(self) -> Mapping[str, object]:
        return {
            "threads": torch.get_num_threads(),
            **({PARAMETERS: dict(self._parameters)} if self._parameters else {}),
            **({COMPILED: graphs} if (graphs := self._graphs.facts()) else {}),
        }

    def _thread(self) -> str:
        return self._threads.of(threading.get_native_id(), threading.current_thread().name)

    def _guard_of(self, limit: int | None) -> MemoryGuard | None:
        """Return a guard that ends the recording once it takes more than this many bytes."""
        calls = self._calls
        if limit is None:
            return None
        return MemoryGuard(limit, lambda: 0 if calls is None else calls.size, self._modules_called, self._fill)

    def _modules_called(self) -> int:
        window = self._open
        return 0 if window is None or window.marks is None else window.marks.calls

    def _fill(self) -> None:
        """Record no more: there is no room to read it."""
        self.stop()
        self._stopped = time.time_ns()

    def _of_stacks(self) -> tuple[str, ...]:
        """Return the note on a script that was slowed down by recording its Python calls."""
        duration, self._passed = self._passed, 0.0
        overhead = 0.0 if self._calls is None else self._calls.spent
        if not overhead or overhead < SLOW * duration:
            return ()
        note = (
            f"torch: recording Python calls took at least {overhead:.3g} of {duration:.3g} s: the code "
            "between operators runs faster without `--stacks`"
        )
        return (note,)

    def _of_limit(self) -> tuple[str, ...]:
        """Return the note on a recording that ended before the script."""
        if self._guard is None or not self._stopped:
            return ()
        until, rest = (self._stopped - self._began) / 1e9, (time.time_ns() - self._stopped) / 1e9
        note = (
            f"torch: recording stopped after {until:.1f} s: more might take over "
            f"{format_bytes(self._guard.limit)} (`--memory-limit`); the last {rest:.1f} s of the script are missing"
        )
        return (note,)

    def _read(self, window: Window) -> Profile:
        def thread(number: int) -> str:
            return self._threads.of(number, window.threads.get(number, "thread"))

        return profile_of(window.session.kineto_results, self._watching, thread, self._stacks, window.gaps)

    def _session(self) -> Any:
        return torch.autograd.profiler.profile(
            use_device=next((kind for kind in WATCHED if getattr(torch, kind).is_available()), None),
            use_kineto=True,
            record_shapes=self._watching.shapes,
            with_flops=self._watching.shapes,  # counted from the shapes
            profile_memory=self._watching.memory,
            experimental_config=_configuration(profile_all_threads=not self._watching.memory),
        )


def _configuration(**settings: bool) -> Any:
    """Return the settings that PyTorch has not made public; an older one does not know all threads."""
    try:
        return _ExperimentalConfig(**settings)
    except TypeError:
        return _ExperimentalConfig()


def _observer(file: str) -> ExecutionTraceObserver | None:
    """Return an observer that records arguments of operators as an execution trace; None unless asked for."""
    if not file:
        return None
    os.environ.setdefault("ENABLE_PYTORCH_EXECUTION_TRACE_SAVE_INTEGRAL_TENSOR_RANGE", "1")
    return ExecutionTraceObserver().register_callback(file)
