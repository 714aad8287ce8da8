"""JAX's profiler as opperf watches a program with it.

* Python is not traced: that would slow the program down, and records no operators.
* JAX looks for devices when it is first used, and a program may choose them until then. The profiler needs them. So
  where none was looked for, the recording begins with the first program that is compiled, before it runs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import jax
import jax.monitoring
from jax._src import xla_bridge

from opperf.child.backends.common.watching import Folder, FolderWatcher
from opperf.child.backends.jax import hlo, outstanding
from opperf.child.backends.jax.modules import NnxScopes
from opperf.child.backends.jax.planes import Instruction, Reader
from opperf.domain.errors import ProfilerError
from opperf.domain.profile.event import Event, Profile
from opperf.domain.profile.watching import Watching

#: The event that JAX sends to its listeners when a program has been compiled.
COMPILED = "/jax/core/compile/backend_compile_duration"
#: Notes on what cannot be recorded.
MEMORY = "JAX's profiler does not report the memory of single operators"
STACKS = "JAX's profiler does not report the Python lines of operators"
SHAPES = "shapes come from programs that still exist; a function compiled for several shapes has none"
#: What was found.
NAMES = "operators are instructions of compiled programs, as XLA names them; a `fusion` is what XLA runs as one"

#: The folder of a recording, and what is known of the instructions of its programs.
Window: TypeAlias = "tuple[Folder, Mapping[tuple[str, str], Instruction]]"


class Watcher(FolderWatcher[Window]):
    """JAX's profiler."""

    framework = "jax"
    allows_copies = False  # JAX's threads are not copied, and it warns of every fork
    ender, errors = "jax.profiler.stop_trace", RuntimeError

    def __init__(self, watching: Watching) -> None:
        gaps = {MEMORY: watching.memory, STACKS: watching.stacks, SHAPES: watching.shapes}
        super().__init__(watching, jax.__version__, gaps, "JAX's profiler")
        self._awaiting = self._listening = self._naming = False
        self._scopes = NnxScopes()
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
            self._begin()

    def stop(self) -> None:
        """Wait for outstanding work, then stop recording."""
        self._awaiting = self._naming = False
        self._steps.close()
        self._scopes.close()
        if self._recording is not None:  # else nothing was ever compiled
            outstanding.settle()
            self._finish(jax.profiler.stop_trace, lambda folder: (folder, _instructions(self._watching)))

    def _read(self, window: Window) -> Profile:
        recording, instructions = window
        reader = Reader(os.getpid(), self._threads, instructions, self._watching.api)
        events: list[Event] = []
        with recording as folder:
            for file in sorted(Path(folder).rglob("*.xplane.pb")):
                events.extend(reader.spans(jax.profiler.ProfileData.from_file(str(file)).planes))
        if any(event.kind == "operator" for event in events):
            self._notes[NAMES] = None
        return Profile(tuple(events))

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
                self._begin()
            except ProfilerError as problem:
                self._notes[problem.message] = None

    def _begin(self) -> None:
        outstanding.settle()
        options = jax.profiler.ProfileOptions()
        options.python_tracer_level = 0
        options.enable_hlo_proto = False
        self._record(lambda folder: jax.profiler.start_trace(folder, profiler_options=options))


def _instructions(watching: Watching) -> dict[tuple[str, str], Instruction]:
    """Return the answers about instructions, by program and instruction; none where programs of one name differ."""
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
