"""Run in PyTorch's environment: capture functions, call every case by itself, and print where results look different.

python captured.py FOLDER FILE:FUNCTION...
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

from opperf.backends.torch import capture
from opperf.backends.torch.described import tensors
from opperf.backends.torch.reached import Watch
from opperf.backends.torch.runtime import TorchBackend
from opperf.child import arguments, code
from opperf.plan import Side

#: What each captured call returned, in order.
returned: list[Any] = []


class Keeping(Watch):
    """Keeps what the tensors that a captured call returned look like."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Tell, call, and keep."""
        assert isinstance(self._seen, capture.Recorder)
        captured = len(self._seen.calls)
        result = super().__torch_dispatch__(func, types, args, kwargs)
        if len(self._seen.calls) > captured:
            returned.append(look(result))
        return result


def look(result: Any) -> list[Any]:
    """Return shape, strides and element type of each tensor."""
    return [[list(one.shape), list(one.stride()), str(one.dtype)] for one in tensors(result)]


def main(folder: Path, path: str) -> dict[str, Any]:
    """Return how many calls there were, and those that no case holds or whose results look different."""
    backend = TorchBackend(Side("torch"))
    function = code.load(path, folder)
    returned.clear()
    calls = capture.of_call(function)
    assert len(returned) == len(calls)
    unlike: list[Any] = []
    for call, expected in zip(calls, returned):
        if call.case is None:
            unlike.append([call.name, call.why])
            continue
        bound = arguments.bind(call.case, arguments.call_of(call.case, call.name), None, backend, 0)
        with torch.no_grad():
            found = look(bound.function(*bound.arguments, **bound.keywords))
        if found != expected:
            unlike.append([call.name, found, expected])
    return {"calls": len(calls), "unlike": unlike}


if __name__ == "__main__":
    with patch.object(capture, "Watch", Keeping):
        print(json.dumps([main(Path(sys.argv[1]), path) for path in sys.argv[2:]]))
