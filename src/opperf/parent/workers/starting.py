"""How the child of a side is started: by which Python, in how much memory, and with which variables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from opperf.domain.errors import InputError
from opperf.domain.plan import ReadSide, Side
from opperf.parent.workers.compiled_code import compiler_variables
from opperf.parent.workers.interpreters import interpreter
from opperf.parent.workers.machine import available_memory
from opperf.parent.workers.package import package_folder
from opperf.parent.workers.passwords import environment_of
from opperf.parent.workers.process import PLAIN, Launch, Worker

#: Share of the memory that is free when a child starts that it may take beyond what its framework holds.
MEMORY_SHARE = 0.8


def start(
    side: Side,
    launch: Launch = PLAIN,
    *,
    progress: Callable[[str], None],
    sharing: int = 1,
    greet: bool = True,
    compile_cache: str | None = None,
) -> tuple[Worker, Path]:
    """Return a child that has said hello, and its Python; raises what keeps it from starting.

    `launch` says how, but for what follows from the side's environment. `sharing` is the number of children that live
    at a time: they share the machine's memory. A child serves every implementation that its trials name, so its own
    side names none. Nothing is started for a side that data names. Who does not `greet` here does so later: the child
    imports its framework meanwhile. Without a `compile_cache` compilers do as they do without opperf.
    """
    if isinstance(side, ReadSide):
        raise InputError("only a file names this side", hint="name it yourself", slug="code_in_file")
    spec = environment_of(side.environment)
    python = interpreter(spec, framework=side.framework, progress=progress)
    compilers = {} if compile_cache is None else compiler_variables(compile_cache, side, spec, python)
    launch = replace(
        launch,
        memory=int(available_memory() * MEMORY_SHARE / sharing),
        own_path=spec.kind == "current",
        bytecode=spec.kind in ("preset", "requirement"),
        variables={**compilers, **launch.variables},
        note=progress,
    )
    worker = Worker(python, package_folder(), replace(side, implementation=None), launch)
    try:
        if greet:
            worker.greet()
    except BaseException:
        worker.kill()
        raise
    return worker, python
