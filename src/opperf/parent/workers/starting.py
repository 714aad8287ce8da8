"""How the child of a side is started: by which Python, in how much memory, and with which variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from opperf.domain.errors import InputError
from opperf.domain.plan import ReadSide, Side
from opperf.parent.workers.compiled_code import compiler_variables
from opperf.parent.workers.interpreters import interpreter
from opperf.parent.workers.machine import available_memory
from opperf.parent.workers.package import package_folder
from opperf.parent.workers.passwords import environment_of
from opperf.parent.workers.process import NO_VARIABLES, Worker
from opperf.parent.workers.source import Source

#: Share of the memory that is free when a child starts that it may take beyond what its framework holds.
MEMORY_SHARE = 0.8


def start(
    side: Side,
    *,
    cpus: tuple[int, ...] | None,
    progress: Callable[[str], None],
    sharing: int = 1,
    sharers: int = 1,
    plugins: Sequence[Path] = (),
    greet: bool = True,
    variables: Mapping[str, str] = NO_VARIABLES,
    compile_cache: str | None = None,
    under: Sequence[str] = (),
    files: Sequence[int] = (),
    source: Source | None = None,
) -> tuple[Worker, Path]:
    """Return a child that has said hello, and its Python; raises what keeps it from starting.

    `sharing` is the number of children that live at a time: they share the machine's memory, and `sharers` of them that
    of the side's device. A child serves every implementation that its trials name, so its own side names none. Nothing
    is started for a side that data names. `plugins` have the user's own iterators and generators. Who does not `greet`
    here does so later: the child imports its framework meanwhile. `variables`, `under`, `files` and `source` are a
    `Worker`'s. Without a `compile_cache` compilers do as they do without opperf.
    """
    if isinstance(side, ReadSide):
        raise InputError("only a file names this side", hint="name it yourself", slug="code_in_file")
    spec = environment_of(side.environment)
    python = interpreter(spec, framework=side.framework, progress=progress)
    if compile_cache is not None:
        variables = {**compiler_variables(compile_cache, side, spec, python), **variables}
    worker = Worker(
        python,
        package_folder(),
        replace(side, implementation=None),
        cpus=cpus,
        memory=int(available_memory() * MEMORY_SHARE / sharing),
        own_path=spec.kind == "current",
        bytecode=spec.kind in ("preset", "requirement"),
        plugins=plugins,
        variables=variables,
        under=under,
        files=files,
        note=progress,
        source=source,
        sharers=sharers,
    )
    try:
        if greet:
            worker.greet()
    except BaseException:
        worker.kill()
        raise
    return worker, python
