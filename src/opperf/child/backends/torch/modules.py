"""Which module of a model is being called: its path below the one that was called first (`LeNet.conv1`)."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch._C._profiler import _RecordFunctionFast
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

#: What stands before a module's path in the name of its range.
RANGE = "opperf module: "
#: Where `torch.compile` keeps the module that it compiles; what is around it has no name of its own.
COMPILED = "_orig_mod"
#: What `torch.compile` says to whoever has hooks on all modules: it calls those once more, for what is around a module.
TWICE = "Using `torch.compile\\(module\\)` when there are global hooks"
#: How many modules that a program called are remembered, for those that a backward calls again.
MOST_RECENT = 1000


def backward_node() -> Any:
    """Return the node of the graph that a backward is computing in this thread; None outside of a backward."""
    return torch._C._current_autograd_node()


class Paths:
    """The paths of modules below those that a program calls, whatever thread calls them."""

    def __init__(self) -> None:
        self._below: WeakKeyDictionary[torch.nn.Module, Mapping[torch.nn.Module, str]] = WeakKeyDictionary()
        self._recent: dict[int, Mapping[torch.nn.Module, str]] = {}

    def below(self, top: torch.nn.Module) -> Mapping[torch.nn.Module, str]:
        """Return the paths below a module that is called; cached: walking a large model takes longer than a call."""
        if top not in self._below:
            name = type(getattr(top, COMPILED, top)).__name__
            self._below[top] = WeakKeyDictionary(
                {
                    one: f"{name}.{path.removeprefix(COMPILED).lstrip('.')}".rstrip(".")
                    for path, one in top.named_modules()
                }
            )
        self._recent.pop(id(top), None)
        self._recent[id(top)] = self._below[top]
        if len(self._recent) > MOST_RECENT:
            self._recent.pop(next(iter(self._recent)), None)
        return self._below[top]

    def again(self, module: torch.nn.Module) -> Mapping[torch.nn.Module, str]:
        """Return the paths below the module within which one was called the last time."""
        recent = reversed(list(self._recent.values()))
        return next((paths for paths in recent if module in paths), None) or self.below(module)

    def parameters(self) -> dict[str, int]:
        """Return how many trainable numbers each module of those that were called has for itself, each once."""
        counts: dict[str, int] = {}
        counted: set[int] = set()
        for paths in list(self._below.values()):
            for module, path in paths.items():
                own = [one for one in module._parameters.values() if one is not None and one.requires_grad]
                new = {id(one): one.numel() for one in own if id(one) not in counted}
                counted.update(new)
                if new:
                    counts[path] = counts.get(path, 0) + sum(new.values())
        return counts


class Modules:
    """The modules that are being called, by their paths below the one that was called first.

    A backward that recomputes calls modules by themselves, which keep the paths that they had.
    """

    def __init__(self, paths: Paths | None = None) -> None:
        self._inside: list[str] = []
        self._names: Mapping[torch.nn.Module, str] = {}
        self._paths = paths or Paths()

    @property
    def here(self) -> str:
        """The path of the innermost module; empty outside of every module."""
        return self._inside[-1] if self._inside else ""

    def enter(self, module: torch.nn.Module, inputs: Any) -> None:
        """Note that a module is called."""
        if not self._inside:
            self._names = self._paths.again(module) if backward_node() is not None else self._paths.below(module)
        self._inside.append(self._names.get(module, f"{self.here}.{type(module).__name__}".lstrip(".")))

    def leave(self, module: torch.nn.Module, inputs: Any, output: Any) -> None:
        """Note that a module returns or raises."""
        self._inside.pop()


class _Here(threading.local):
    """Where one thread is: its modules, and the ranges of them that are open."""

    def __init__(self, paths: Paths) -> None:
        self.modules = Modules(paths)
        self.open: list[tuple[torch.nn.Module, Any]] = []


class Ranges:
    """Marks in PyTorch's profiler where modules begin and end, in every thread; `calls` counts them."""

    def __init__(self) -> None:
        warnings.filterwarnings("ignore", TWICE)  # the hooks are opperf's, not the script's
        self.calls = 0
        self._paths = Paths()
        self._here = _Here(self._paths)
        self._hooks = ExitStack()
        self._hooks.callback(register_module_forward_pre_hook(self._enter).remove)
        self._hooks.callback(register_module_forward_hook(self._leave, always_call=True).remove)

    def parameters(self) -> dict[str, int]:
        """Return how many trainable numbers each module has for itself that was called."""
        return self._paths.parameters()

    def close(self) -> None:
        """Mark no more, and end the ranges of this thread: one that outlives its profiler would write where it was."""
        self._hooks.close()
        while self._here.open:
            self._here.open.pop()[1].__exit__(None, None, None)

    def _enter(self, module: torch.nn.Module, inputs: Any) -> None:
        if torch.compiler.is_compiling():  # a mark would become part of what is compiled
            return
        self.calls += 1
        self._here.modules.enter(module, inputs)
        mark = _RecordFunctionFast(RANGE + self._here.modules.here)
        mark.__enter__()
        self._here.open.append((module, mark))

    def _leave(self, module: torch.nn.Module, inputs: Any, output: Any) -> None:
        # A module that was called before the profiler started has no range.
        if torch.compiler.is_compiling() or not self._here.open or self._here.open[-1][0] is not module:
            return
        self._here.open.pop()[1].__exit__(None, None, None)
        self._here.modules.leave(module, inputs, output)
