"""Start the child of a side: its interpreter found or built, its private folder made, its hello awaited."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from opperf.domain.environment import EnvironmentSpec
from opperf.domain.plan import Side
from opperf.parent.workers.interpreters import interpreter
from opperf.parent.workers.machine import available_memory
from opperf.parent.workers.package import package_folder
from opperf.parent.workers.process import Worker

#: Share of the memory that is free when a child starts that it may take beyond what its framework holds.
MEMORY_SHARE = 0.8


def start(
    side: Side,
    *,
    cpus: tuple[int, ...] | None,
    progress: Callable[[str], None],
    sharing: int = 1,
    plugins: Sequence[Path] = (),
) -> tuple[Worker, Path]:
    """Return a child that has said hello, and its Python; raises what keeps it from starting.

    `sharing` is the number of children that live at a time: they share the memory. A child serves every implementation
    that its trials name, so its own side names none. `plugins` have the user's own iterators and generators.
    """
    worker, python = launch(side, cpus=cpus, progress=progress, sharing=sharing, plugins=plugins)
    try:
        worker.greet()
    except BaseException:
        worker.kill()
        raise
    return worker, python


def launch(
    side: Side,
    *,
    cpus: tuple[int, ...] | None,
    progress: Callable[[str], None],
    sharing: int = 1,
    plugins: Sequence[Path] = (),
) -> tuple[Worker, Path]:
    """Return a child that imports its framework, and its Python: it can be asked once it was greeted."""
    side = replace(side, implementation=None)
    spec = EnvironmentSpec.parse(side.environment)
    python = interpreter(spec, framework=side.framework, progress=progress)
    worker = Worker(
        python,
        package_folder(),
        side,
        cpus=cpus,
        memory=int(available_memory() * MEMORY_SHARE / sharing),
        own_path=spec.kind == "current",
        bytecode=spec.kind in ("preset", "requirement"),
        plugins=plugins,
    )
    return worker, python
