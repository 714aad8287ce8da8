"""What multiprocessing knows of the processes that it starts: their names, when they begin, and when they end.

Those that are copies of others leave by `os._exit`, which nothing that Python calls at its end hears of. Finalizers of
multiprocessing's own do. A copy forgets those of the process that it is of, before its work begins.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

Owner = TypeVar("Owner")


def name() -> str:
    """Return what this process is called: by multiprocessing, where that started it, else by its program."""
    module = sys.modules.get("multiprocessing.process")
    if module is not None and module.parent_process() is not None:
        return str(module.current_process().name)
    program = Path(sys.argv[0] if sys.argv else "")
    return program.parent.name if program.name == "__main__.py" else program.name


def at_beginning(owner: Owner, begin: Callable[[Owner], None]) -> None:
    """Have `begin(owner)` called where a process of multiprocessing is about to begin, this one or a copy of it."""
    module = sys.modules.get("multiprocessing.util")
    if module is not None:
        module.register_after_fork(owner, begin)


def at_end(finish: Callable[[], None]) -> None:
    """Have `finish` called where this process ends as one of multiprocessing's."""
    module = sys.modules.get("multiprocessing.util")
    if module is not None:
        module.Finalize(None, finish, exitpriority=0)
