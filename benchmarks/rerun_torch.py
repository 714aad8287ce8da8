"""Run in PyTorch's environment: capture functions, run every case again, and print how it does.

python rerun_torch.py FOLDER FILE:FUNCTION...
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from unittest.mock import patch

import torch
from rerun import MEMORY, RecordedCall, look, main
from torch.utils import _pytree as pytree

from opperf.child.backends.torch import capture
from opperf.child.backends.torch.functions import Watch
from opperf.child.backends.torch.runtime import TorchBackend
from opperf.domain.backend import HostValue
from opperf.domain.plan import Side

backend = TorchBackend(Side("torch"))


class Keeping(Watch):
    """Keeps what the captured calls took and returned."""

    def __init__(self, taken: list[RecordedCall], seen: Any) -> None:
        super().__init__(seen)
        self._taken = taken

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Tell, call, and keep."""
        assert isinstance(self._note, capture.Recorder)
        captured = len(self._note.calls)
        leaves = [leaf for leaf in pytree.tree_leaves((args, kwargs or {})) if isinstance(leaf, torch.Tensor)]
        given = numbers(leaves)
        result = super().__torch_dispatch__(func, types, args, kwargs)
        if len(self._note.calls) > captured:
            answer = backend.leaves(result)
            looks, left = [look(backend, one) for one in answer], numbers(leaves)
            call = self._note.calls[captured]
            self._taken.append(RecordedCall(call, given, looks, numbers(answer), left, undecided=undecided(func)))
        return result


def numbers(result: Sequence[torch.Tensor]) -> list[HostValue]:
    """Return the elements of tensors."""
    return [backend.to_host(tensor) for tensor in backend.leaves(result)]


def undecided(func: Any) -> str:
    """Return why the inputs of an operator do not decide its numbers; empty where they do."""
    if torch.Tag.nondeterministic_seeded in func.tags:
        return "drawn"
    return MEMORY if "empty" in str(func) else ""


def kept(function: Callable[[], Any]) -> list[RecordedCall]:
    """Call a function, and return every operator that it runs."""
    taken: list[RecordedCall] = []
    with patch.object(capture, "Watch", partial(Keeping, taken)):
        calls = capture.of_call(function)
    assert [one.call for one in taken] == calls
    return taken


if __name__ == "__main__":
    main(backend, kept)
