"""Operators of known duration, and the smallest backend that lets opperf's engine measure them in this process."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from opperf.child.measure.block import ProcessClock
from opperf.child.measure.disturbance import ProcessCounters
from opperf.child.measure.engine import Engine
from opperf.domain.backend import Backend
from opperf.domain.call import Work
from opperf.domain.measurement import Measurement
from opperf.domain.plan import Settings, Side

SOURCE = Path(__file__).with_name("spin.c")


def extension() -> Any:
    """Compile `spin.c` and import it."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise SystemExit("a C compiler is needed: the operators of known duration are written in C")
    target = Path(tempfile.mkdtemp()) / "spin.so"
    include = sysconfig.get_path("include")
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", f"-I{include}", str(SOURCE), "-o", str(target)], check=True)
    spec = importlib.util.spec_from_file_location("spin", target)
    if spec is None or spec.loader is None:
        raise SystemExit(f"cannot import {target}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Here(Backend):
    """A backend for the engine alone: real clocks, nothing to wait for."""

    name = "here"
    collects = False

    def __init__(self) -> None:
        self.side = Side("null")
        self.clock = ProcessClock()

    def wait(self, outputs: Any) -> None:
        """Everything is done when it returns."""


#: The engine makes no tensors, so it asks for nothing else of the core.
Here.__abstractmethods__ = frozenset()


def backend() -> Backend:
    """Return the backend of this process."""
    return Here()  # type: ignore[abstract]


def measure(function: Callable[..., Any], *arguments: Any, settings: Settings) -> Measurement:
    """Measure a call with opperf's engine."""
    work = Work(function, arguments, {}, nullcontext)
    return Engine(backend(), ProcessCounters()).measure(work, settings, output_bytes=0)
