"""Benchmarks of asv that tell a number of their own: asv's own library runs each in a Python that is started for it.

What a process holds at its peak, or has imported, depends on all that it did before; so none of it is done here. In
that Python a copy of the process runs the benchmark, as asv has it: at the start of a program the kernel takes over
the peak of whoever started it, and a copy has none before its own.
"""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from opperf.child.worker.suites.asv_folders import Folders
from opperf.domain.backend import Unsupported
from opperf.domain.measurement import Quantity
from opperf.domain.stats.order import median

#: How asv says that a benchmark is left out, on a line of its own.
SKIPPED = "asv: skipped: "
#: What the other Python runs: a module of asv's library and its function, with a list of words.
PROGRAM = """
import ctypes, importlib, json, os, signal, sys
library, module, function, timeout, words = json.loads(sys.argv[1])
if library is not None:
    sys.path.append(library)
run = getattr(importlib.import_module(module), function)
importlib.import_module("asv_runner.discovery").get_benchmark_from_name(*words[:2])  # imports its file
copy = os.fork()
if copy == 0:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it ends with whoever started it
    signal.alarm(timeout)
    run(words)
    sys.exit()
code = os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1])
os._exit(code if code >= 0 else 128 - code)
"""
#: How often asv times a statement of `timeraw_` in one process: from and to so many times, or for so many seconds.
RAW = {"repeat": [3, 10, 1.0], "rounds": 1, "warmup_time": 0}
#: Characters of what a benchmark wrote that stand in the reason of its failure.
MOST_OF_ERRORS = 400


class Alone:
    """Runs benchmarks of a folder; `library` is that of asv where this Python has none of its own."""

    def __init__(self, root: Path, library: str | None, folders: Folders) -> None:
        self._root, self._library, self._folders = root, library, folders

    def number(self, benchmark: Any, name: str, metric: str) -> Quantity:
        """Run a benchmark and return the number that it tells; its `name` ends with the place of its parameters.

        Raises `Unsupported` where it is left out, with asv's own reason, and `RuntimeError` where it fails.
        """
        folder = self._prepared(benchmark.setup_cache_key, name)
        settings = RAW if metric == "time_raw" else {}
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            words = [str(self._root), name, json.dumps(settings), "None", file.name]
            printed = self._run("asv_runner.run", "_run", words, folder, math.ceil(benchmark.timeout or 0))
            result = json.loads(Path(file.name).read_text())
        if isinstance(result, dict):
            result = median([sample / result["number"] for sample in result["samples"]])
        if not isinstance(result, (int, float)):
            raise RuntimeError(f"it returned {str(result)[:80]!r}, expected a number")
        if math.isnan(result):
            lines = [line.strip() for line in printed.splitlines() if line.startswith(SKIPPED)]
            raise Unsupported(
                lines[-1] if lines else f"{SKIPPED}by its `skip_params`, or by `SkipNotImplemented`",
                slug="skipped_by_suite",
            )
        return Quantity(float(result), unit=str(benchmark.unit) if metric == "tracked" else None)

    def _prepared(self, key: str | None, name: str) -> Path:
        """Return the folder in which a benchmark runs; where it has a `setup_cache`, with its result, made once."""
        folder = self._folders.path(key)
        if key is not None:
            with self._folders.cache(key) as file:
                if not file.exists():
                    self._run("asv_runner.setup_cache", "_setup_cache", [str(self._root), name, "{}"], folder)
        return folder

    def _run(self, module: str, function: str, words: list[str], folder: Path, timeout: int = 0) -> str:
        """Run a function of asv's library, and return what it printed; raises `RuntimeError`, `TimeoutError`."""
        command = [sys.executable, "-c", PROGRAM, json.dumps([self._library, module, function, timeout, words])]
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode == 128 + signal.SIGALRM:
            raise TimeoutError(f"it is not over after its own `timeout` of {timeout} s")
        if done.returncode != 0:
            errors = done.stderr.decode(errors="replace").strip().splitlines() or [f"it ended with {done.returncode}"]
            raise RuntimeError(errors[-1][:MOST_OF_ERRORS])
        return done.stdout.decode(errors="replace")
