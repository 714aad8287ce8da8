"""One package for each framework, imported only inside a child, with the same files in each.

`threads.configure` runs before the framework is imported, `load_runtime` imports it.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from opperf.child.backends.common.threads import set_variables
from opperf.domain.backend import Unsupported
from opperf.domain.registry import BEST_DEVICE

if TYPE_CHECKING:
    from opperf.domain.backend import Backend
    from opperf.domain.plan import Side

#: The oldest version of frameworks of which older ones were tried and do not run.
OLDEST = {"jax": (0, 4, 30)}

__all__ = [
    "OLDEST",
    "check_age",
    "configurations",
    "load_plugin",
    "load_runtime",
    "model_file",
    "problem_tools",
    "profiler_clock",
    "ranges",
    "start",
    "start_from",
]


def start(side: Side) -> Backend:
    """Import the framework of a side, and return its backend."""
    return _started(load_runtime(side), side)


def load_runtime(side: Side) -> ModuleType:
    """Set what must stand before the framework of a side is imported, import it, and return what starts its backend.

    Variables of the side itself (`env.OMP_NUM_THREADS`) come last, so that they win.
    """
    check_age(side.framework)
    set_variables(side.threads)
    package = f"opperf.child.backends.{side.framework.partition(':')[0]}"
    own = f"{package}.threads"
    if find_spec(own) is not None:
        import_module(own).configure(side)
    runtime = "reference.runtime" if side.is_reference else "runtime"
    return _import(f"{package}.{runtime}", side)


def check_age(framework: str) -> None:
    """Raise `Unsupported` for a version of a framework that is older than what can be measured."""
    oldest = OLDEST.get(framework)
    if oldest is None:
        return
    from importlib.metadata import PackageNotFoundError, version  # 20 ms that no other framework waits for

    with suppress(PackageNotFoundError):
        installed = version(framework)
        if tuple(map(int, re.findall(r"\d+", installed)[: len(oldest)])) < oldest:
            least = ".".join(map(str, oldest))
            raise Unsupported(
                f"{framework} {installed} is older than {least}, the oldest version that opperf measures",
                slug="too_old",
                hint="name a newer one with `--environment`",
            )


def start_from(module: str, side: Side) -> Backend:
    """Return the backend that a module starts, which may be a plugin's."""
    return _started(_import(module, side), side)


def _started(runtime: ModuleType, side: Side) -> Backend:
    """Return the backend that a module starts, on its best device where that is asked for."""
    if side.device == BEST_DEVICE:
        best = getattr(runtime, "best_device", lambda _: "cpu")
        side = replace(side, device=best(side))
    backend: Backend = runtime.start(side)
    return backend


def _import(module: str, side: Side) -> ModuleType:
    os.environ.update(side.variables)
    return import_module(module)


def load_plugin(path: Path) -> ModuleType:
    """Return the module that a file of the user's is, loaded once; raises whatever it raises."""
    name = f"opperf_plugin_{path.stem}"
    if name in sys.modules and getattr(sys.modules[name], "__file__", None) == str(path):
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"no Python file at {path}")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def profiler_clock(framework: str) -> Any:
    """Return the module that measures by a framework's own profiler; raises `Unsupported` where there is none."""
    message = f"opperf cannot read operator times from the profiler of {framework}"
    reason = Unsupported(message, slug="no_profiler_clock", hint="leave out `--clock profiler`")
    return _part(framework, "profiler_clock", reason)


def ranges(framework: str) -> Any:
    """Return the module that marks ranges for a tool that watches; raises `Unsupported` where there is none."""
    message = f"opperf marks no ranges in {framework}, so no tool can tell which operator a kernel belongs to"
    return _part(framework, "ranges", Unsupported(message, slug="no_ranges"))


def model_file(framework: str) -> Any:
    """Return the module that reads a framework's models from files; raises `Unsupported` where there is none."""
    return _part(framework, "model_file", Unsupported(f"opperf cannot read models of {framework}", slug="no_capture"))


def configurations(framework: str) -> Any:
    """Return the module that builds models by their configurations; raises `Unsupported` where there is none."""
    message = f"models are built by their configurations in torch, not in {framework}"
    return _part(framework, "configurations", Unsupported(message, slug="no_capture", hint="`--framework torch`"))


def problem_tools(framework: str) -> Any:
    """Return the module that problems in the formats of others need; raises `Unsupported` where there is none."""
    message = f"problems of this format are for PyTorch, not for {framework}"
    return _part(framework, "problems", Unsupported(message, slug="no_problems", hint="`--framework torch`"))


def _part(framework: str, part: str, missing: Unsupported) -> Any:
    """Return a module that not every backend has; raises `missing`."""
    name = f"opperf.child.backends.{framework.partition(':')[0]}.{part}"
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        # Of a plugin's framework there is no package here at all.
        if error.name not in (name, name.rpartition(".")[0]):
            raise
        raise missing from error
