"""The scan of state-space models as `transformers` computes it without kernels of their own: a loop of a step a word.

All steps but the first and the last run the same operators with the same shapes, so by shapes alone three steps are
walked, and the middle one is counted for all between. The first begins with a state of zeros, and no gradient comes to
the last from a later one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from types import ModuleType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from opperf.child.backends.torch.capture import repeated

#: What the modules of `transformers` call the loop.
SCAN = "mamba_selective_scan"
#: Steps that are walked.
WALKED = 3


@contextmanager
def shortened(model: torch.nn.Module, note: Callable[[str], None]) -> Iterator[None]:
    """Let the scans of a model walk few of their steps for a while, and note how many there are."""
    with ExitStack() as stack:
        for name in {type(part).__module__ for part in model.modules()}:
            module = sys.modules[name]
            scan = getattr(module, SCAN, None)
            if callable(scan):
                stack.enter_context(_global(module, SCAN, _shorter(scan, module, note)))
        yield


def _shorter(scan: Callable[..., Any], module: ModuleType, note: Callable[[str], None]) -> Callable[..., Any]:
    """Return the scan with a `range` in its module of which most turns are left out."""

    @wraps(scan)
    def shorter(*args: Any, **kwargs: Any) -> Any:
        with _Steps() as steps, _global(module, "range", steps.walk):
            result = scan(*args, **kwargs)
        if steps.total > WALKED:
            note(
                f"{steps.total:,} steps of a scan run one after the other, as without kernels of its own: {WALKED} are "
                "walked, and the others counted"
            )
        return result

    return shorter


@contextmanager
def _global(module: ModuleType, name: str, value: object) -> Iterator[None]:
    """Give a module another global for a while; it stands before a built-in of that name."""
    before = vars(module).copy()
    setattr(module, name, value)
    try:
        yield
    finally:
        vars(module).pop(name)
        vars(module).update({name: before[name]} if name in before else {})


class _Steps(TorchFunctionMode):  # type: ignore[misc]
    """Walks few turns of a loop, and stacks their results as if there were all."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    def walk(self, *bounds: int) -> Iterator[int]:
        """Yield the first turn, one of those between, and the last."""
        turns = range(*bounds)
        if len(turns) <= WALKED:
            yield from turns
            return
        self.total = len(turns)
        yield turns[0]
        with repeated(len(turns) - 2):
            yield turns[1]
        yield turns[-1]

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Stack as many results as there are turns: those not walked look like the last, and want no gradient."""
        if func is torch.stack and self.total and len(args[0]) == WALKED:
            results = args[0]
            with repeated(0):
                rest = [results[-1].detach()] * (self.total - WALKED)
            args = ([*results[:-1], *rest, results[-1]], *args[1:])
        return func(*args, **(kwargs or {}))
