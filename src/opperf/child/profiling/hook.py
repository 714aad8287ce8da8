"""Be told of a module as soon as it is there whole, before whoever imports it goes on; and of a name of the script."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import Any


class Imports(MetaPathFinder):
    """Finds modules as Python does, and tells of some of them, each once."""

    def __init__(self, names: Iterable[str], imported: Callable[[str], None]) -> None:
        self._names = set(names)
        self._imported = imported

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return what the other finders find."""
        if name not in self._names:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    self._tell_after(spec.loader, name)
                return spec
        return None

    def _tell_after(self, loader: Loader, name: str) -> None:
        """Have a loader tell once it has executed its module: it stays what it is to everybody who asks."""
        execute = loader.exec_module

        def execute_and_tell(module: ModuleType) -> None:
            del vars(loader)["exec_module"]
            execute(module)
            if name in self._names:
                self._names.discard(name)
                self._imported(name)

        vars(loader)["exec_module"] = execute_and_tell


def when_bound(space: dict[str, object], name: str, then: Callable[[], None]) -> None:
    """Call `then` as soon as the script itself has bound a name in `space`, the names of its module.

    Until then Python says for each line of the script, and for each call, where it is; a debugger has to wait.
    """

    def at_call(frame: FrameType, event: str, argument: object) -> Any:
        return at_line if frame.f_globals is space and frame.f_code.co_name == "<module>" else None

    def at_line(frame: FrameType, event: str, argument: object) -> Any:
        if name not in space:
            return at_line
        sys.settrace(None)
        then()
        return None

    sys.settrace(at_call)
