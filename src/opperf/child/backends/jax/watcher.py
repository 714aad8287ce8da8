"""JAX's profiler as opperf watches a program with it.

* It records into a folder, from which it is read and which is removed. Python is not traced: that would slow the
  program down, and records no operators.
* JAX looks for devices when it is first used, and a program may choose them until then. The profiler needs them. So
  where none was looked for, the recording begins with the first program that is compiled, before it runs.
* The process has one profiler. A program that starts it during a recording gets an error from JAX.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jax
import jax.monitoring
from jax._src import xla_bridge

from opperf.child.backends.common.threads import ThreadNames
from opperf.child.backends.jax import hlo, outstanding
from opperf.child.backends.jax.modules import NnxScopes
from opperf.child.backends.jax.planes import Instruction, Reader
from opperf.domain.errors import ProfilerError
from opperf.domain.profile.event import Event, Profile, merge
from opperf.domain.profile.watching import Steps, Watching

Folder = TemporaryDirectory[str]

#: The event that JAX sends to its listeners when a program has been compiled.
COMPILED = "/jax/core/compile/backend_compile_duration"
#: Notes on what cannot be recorded.
MEMORY = "JAX's profiler does not report the memory of single operators"
STACKS = "JAX's profiler does not report the Python lines of operators"
SHAPES = "shapes come from programs that still exist; a function compiled for several shapes has none"
#: What was found.
NAMES = "operators are instructions of compiled programs, as XLA names them; a `fusion` is what XLA runs as one"
PROFILER_STOPPED = "the program stopped JAX's profiler itself, so the rest was not recorded"


class Watcher:
    """JAX's profiler."""

    framework = "jax"
    allows_copies = False  # JAX's threads are not copied, and it warns of every fork

    def __init__(self, watching: Watching) -> None:
        self._watching = watching
        # When Python ends it removes all such folders together, in the order in which the first of them was made: after
        # it has called what was registered later than this, as who reads the profile then.
        self._folder = TemporaryDirectory(prefix="opperf-jax-", ignore_cleanup_errors=True)
        self._threads = ThreadNames()
        self._steps = Steps()
        self._recording: Folder | None = None
        self._recorded: list[tuple[Folder, Mapping[tuple[str, str], Instruction]]] = []
        self._awaiting = self._listening = self._naming = False
        self._scopes = NnxScopes()
        self._notes: dict[str, None] = {}
        gaps = {MEMORY: watching.memory, STACKS: watching.stacks, SHAPES: watching.shapes}
        self._untold = tuple(note for note, is_on in gaps.items() if is_on)
        if watching.modules:  # programs of calls that are not recorded yet are those of the calls that will be
            self._listen()
            self._name_scopes()

    def start(self) -> None:
        """Start recording, after earlier asynchronous work has finished.

        Raises `ProfilerError` if the program is using the profiler.
        """
        self._steps.begin()
        there = xla_bridge.backends_are_initialized()
        self._awaiting = not there
        if self._awaiting:
            self._listen()
        if self._watching.modules:
            self._name_scopes()
        if there:
            self._record()

    def stop(self) -> None:
        """Wait for outstanding work, then stop recording."""
        self._awaiting = self._naming = False
        self._steps.close()
        self._scopes.close()
        if self._recording is None:  # nothing was ever compiled
            return
        outstanding.settle()
        try:
            jax.profiler.stop_trace()
        except RuntimeError:
            self._notes[PROFILER_STOPPED] = None
        self._recorded.append((self._recording, _instructions(self._watching)))
        self._recording = None

    def take(self) -> Profile:
        """Return what was seen since the last time, of this process; only while stopped."""
        calls, self._recorded = self._recorded, []
        events: list[Event] = []
        for recording, instructions in calls:
            reader = Reader(os.getpid(), self._threads, instructions, self._watching.api)
            with recording as folder:
                for file in sorted(Path(folder).rglob("*.xplane.pb")):
                    events.extend(reader.spans(jax.profiler.ProfileData.from_file(str(file)).planes))
        ran = any(event.kind == "operator" for event in events)
        notes, self._notes = (*self._untold * ran, *self._notes, *[NAMES] * ran), {}
        facts = {"framework": self.framework, "version": jax.__version__}
        return merge([Profile(tuple(events)), self._steps.take(facts, notes)])

    def step(self, name: str) -> None:
        """Mark where a step of the program ends; the span is called by its name."""
        self._steps.end(name, threading.current_thread().name)

    def _listen(self) -> None:
        if not self._listening:
            jax.monitoring.register_event_duration_secs_listener(self._compiled)
            self._listening = True

    def _name_scopes(self) -> None:
        self._naming = True
        self._scopes.open()

    def _compiled(self, event: str, duration: float, **details: Any) -> None:
        """Begin with the first program, as JAX's listener; it is the program's own call, so that nothing is raised.

        Programs traced later must know the modules that were defined since.
        """
        if event == COMPILED and self._naming:
            self._scopes.open()
        if event == COMPILED and self._awaiting:
            self._awaiting = False
            try:
                self._record()
            except ProfilerError as problem:
                self._notes[problem.message] = None

    def _record(self) -> None:
        outstanding.settle()
        folder = TemporaryDirectory(dir=self._folder.name, ignore_cleanup_errors=True)
        options = jax.profiler.ProfileOptions()
        options.python_tracer_level = 0
        options.enable_hlo_proto = False
        try:
            jax.profiler.start_trace(folder.name, profiler_options=options)
        except RuntimeError as problem:
            folder.cleanup()
            raise ProfilerError(
                f"JAX's profiler cannot be started: {problem}",
                hint="stop the program's own recording first (`jax.profiler.stop_trace`); a process can only have one",
                slug="profiler_taken",
            ) from problem
        self._recording = folder


def _instructions(watching: Watching) -> dict[tuple[str, str], Instruction]:
    """Return what is asked for of instructions, by program and instruction; not where programs of one name differ."""
    instructions: dict[tuple[str, str], Instruction] = {}
    if not (watching.shapes or watching.modules) or not xla_bridge.backends_are_initialized():
        return instructions
    for executable in xla_bridge.get_backend().live_executables():
        with suppress(outstanding.RUNTIME_ERROR):  # of some devices, programs cannot be read
            for module in executable.hlo_modules():
                text = module.to_string()
                shapes = hlo.shapes(text) if watching.shapes else {}
                scopes = hlo.scopes(text) if watching.modules else {}
                for name in shapes.keys() | scopes.keys():
                    new = Instruction(shapes.get(name, ()), *scopes.get(name, ("", False)))
                    old = instructions.get((module.name, name), new)
                    instructions[module.name, name] = Instruction(
                        new.shapes if old.shapes == new.shapes else (),
                        *((new.scope, new.backward) if (old.scope, old.backward) == (new.scope, new.backward) else ()),
                    )
    return instructions
