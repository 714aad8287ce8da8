"""Which frameworks a script has imported, and the watcher of each. Nothing here imports one before it is asked for."""

from __future__ import annotations

import sys
from importlib import import_module

from opperf.domain.errors import ProfilerError, unknown
from opperf.domain.profile.watching import WATCHED, Watcher, Watching
from opperf.domain.registry import FRAMEWORKS


def imported(framework: str | None = None) -> tuple[str, ...]:
    """Return the frameworks that the script has imported, or the one that is named.

    Raises `InputError` for a name that is not known, `ProfilerError` where nothing is imported.
    """
    if framework is not None:
        names = (*WATCHED, "null")
        if framework not in names:
            raise unknown("framework", framework, names, hint=f"known: {', '.join(names)}")
        return (framework,)
    frameworks = tuple(name for name in WATCHED if FRAMEWORKS[name].module in sys.modules)
    if not frameworks:
        raise ProfilerError(
            "no framework is imported whose operators could be seen",
            hint=f"import one of {', '.join(WATCHED)} first, or name it: `framework=...`",
            slug="no_framework_imported",
        )
    return frameworks


def watcher(framework: str, watching: Watching) -> Watcher:
    """Return a framework's watcher; imports the framework where the script has not."""
    made: Watcher = import_module(f"opperf.child.backends.{framework}.watcher").Watcher(watching)
    return made
