"""MXNet's profiler with its results as JSON; `from opperf import profiler` is all that a script changes.

    profiler.set_config(profile_all=True)
    profiler.set_state("run")
    ...
    profiler.set_state("stop")
    print(profiler.get_summary())

Everything that MXNet's profiler has is here too. Standard library and MXNet only.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import Any

import mxnet as mx

from opperf.backends.mxnet.allocations import steps
from opperf.backends.mxnet.profile import configure, holds
from opperf.profiling.summary import Ledger, summary

_settings: dict[str, Any] = {}
_ledger = Ledger()


def set_config(**settings: Any) -> None:
    """Configure the profiler as `mxnet.profiler.set_config` does, with what a summary needs.

    Without `filename`, its events go to a file that is removed with the process.
    """
    global _settings, _ledger
    if "filename" not in settings:
        folder = tempfile.mkdtemp(prefix="opperf-mxnet-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        settings["filename"] = str(Path(folder) / "profile.json")
    settings["filename"] = str(Path(settings["filename"]).absolute())
    _settings = settings
    configure(_settings)
    _ledger = Ledger()


def set_state(state: str = "stop", profile_process: str = "worker") -> None:
    """Start (`run`) or stop the profiler; the configuration made here holds whatever used the profiler in between."""
    if state == "run":
        _configure()
    mx.profiler.set_state(state, profile_process)


def get_summary(reset: bool = False) -> str:
    """Return as JSON text what the profiler saw since the last reset: operators' times, and memory by device.

    `Time` is as the profiler tells it, in milliseconds. `Memory` holds for each device the number of allocations, the
    bytes of all of them and the most that they held together; it is null where the profiler was not configured here.
    With `reset`, the next summary begins anew.
    """
    global _ledger
    _configure()
    told = mx.profiler.dumps(reset=reset, format="json")  # this also has the file written
    _ledger.add(_changes())
    found = summary(told, _ledger)
    if reset:
        _ledger = Ledger()
    return found


def _configure() -> None:
    """Have the configuration hold that was made here; opperf's own measurements make others."""
    if _settings and not holds(_settings):
        configure(_settings)


def _changes() -> dict[str, list[int]] | None:
    """Return allocations and releases since the last reading; None where the file that has them is not known."""
    if not _settings:
        return None
    file = Path(_settings["filename"])
    return steps(file.read_text(errors="replace")) if file.exists() else {}


def reset() -> None:
    """Forget what was seen until now."""
    get_summary(reset=True)


def __getattr__(name: str) -> Any:
    return getattr(mx.profiler, name)
