"""Start the profiler with Python: a copy of this file is next to the package in the folder for PYTHONPATH.

Python imports the first `sitecustomize` of its path before any program.

* The next one of the path runs first, as if this one were not there.
* Without OPPERF_PROFILER_AUTOSTART=1 nothing of opperf is imported.
* The program runs whether the profiler starts or not.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder

NAME = "sitecustomize"


def chain() -> None:
    """Run the `sitecustomize` that Python would have found without this folder."""
    here = os.path.realpath(os.path.dirname(__file__))
    spec = PathFinder.find_spec(NAME, [entry for entry in sys.path if os.path.realpath(entry) != here])
    if spec is None or spec.loader is None:
        return
    from importlib.util import module_from_spec  # where there is no other one, Python starts without it

    module = sys.modules[NAME]
    sys.modules[NAME] = other = module_from_spec(spec)
    try:
        spec.loader.exec_module(other)
    except BaseException:
        sys.modules[NAME] = module
        raise


def start() -> None:
    """Start the profiler; what keeps it from that is a line on stderr."""
    try:
        from opperf.profiler import autostart

        autostart()
    except Exception as problem:  # whatever it is, the program is not to blame
        text = f"{type(problem).__name__}: {problem}".splitlines()[0]
        sys.stderr.write(f"opperf: the profiler did not start: {text}\n")


if __name__ == NAME:
    try:
        chain()
    finally:
        # The folder of another version may stand further on, and have started it.
        if os.environ.get("OPPERF_PROFILER_AUTOSTART") == "1" and "opperf.profiler" not in sys.modules:
            start()
