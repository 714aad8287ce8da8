"""Run in PyTorch's environment: capture functions, call every case by itself, and print where results differ.

python captured.py FOLDER FILE:FUNCTION...

Each case is called twice: with inputs of its own, whose results must look like those of the captured call, and with
the tensors of that call, whose results must be the same numbers.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch.utils import _pytree as pytree

from opperf.backends.torch import capture
from opperf.backends.torch.described import tensors
from opperf.backends.torch.reached import Watch
from opperf.backends.torch.runtime import TorchBackend
from opperf.case import Case
from opperf.child import arguments, code
from opperf.plan import Side

#: Relative difference that numbers of a type may have, where an operator adds up in another order.
TOLERANCES = {torch.float32: 1e-5, torch.float64: 1e-12}


@dataclass
class Call:
    """A captured call: copies of its tensors from before, what it returned, and whether numbers decide that alone."""

    given: list[torch.Tensor]
    returned: list[torch.Tensor]
    decided: bool


kept: list[Call] = []


class Keeping(Watch):
    """Keeps what the captured calls took and returned."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Tell, call, and keep."""
        assert isinstance(self._seen, capture.Recorder)
        captured = len(self._seen.calls)
        given = copies((args, kwargs or {}))
        result = super().__torch_dispatch__(func, types, args, kwargs)
        if len(self._seen.calls) > captured:
            kept.append(Call(given, [laid_out_like(one) for one in tensors(result)], decided(func)))
        return result


def copies(values: Any) -> list[torch.Tensor]:
    """Return copies of the tensors among arguments, in order."""
    return [laid_out_like(one) for one in pytree.tree_leaves(values) if isinstance(one, torch.Tensor)]


def laid_out_like(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor with the same strides and values, and memory of its own."""
    plain = tensor.detach()
    if not plain.numel() or plain.layout != torch.strided:
        return plain.clone()
    extent = 1 + sum((size - 1) * stride for size, stride in zip(plain.shape, plain.stride()))
    return plain.as_strided((extent,), (1,)).clone().as_strided(plain.shape, plain.stride())


def decided(func: Any) -> bool:
    """Whether an operator's inputs decide its numbers: none are drawn, and none are whatever lay in memory."""
    return torch.Tag.nondeterministic_seeded not in func.tags and "empty" not in str(func)


def look(result: Any) -> list[Any]:
    """Return shape, strides and element type of each tensor."""
    return [[list(one.shape), list(one.stride()), str(one.dtype)] for one in tensors(result)]


def main(folder: Path, path: str) -> dict[str, Any]:
    """Return how many calls and cases there were, and those that no case holds or whose results differ."""
    backend = TorchBackend(Side("torch"))
    function = code.load(path, folder)
    kept.clear()
    calls = capture.of_call(function)
    assert len(kept) == len(calls)
    unlike = [
        [call.name, why] for call, was in zip(calls, kept) if (why := difference(backend, call.case or call.why, was))
    ]
    cases = {call.case for call in calls if call.case is not None}
    compared = sum(was.decided for was in kept)
    return {"calls": len(calls), "cases": len(cases), "compared": compared, "unlike": unlike}


def difference(backend: TorchBackend, case: Case | str, was: Call) -> str:
    """Return how the results of a case differ from those of the captured call; empty where they do not."""
    if isinstance(case, str):
        return case
    name = case.operator.removeprefix("torch:")
    bound = arguments.bind(Case.from_json(case.to_json()), arguments.call_of(case, name), None, backend, 0)
    with torch.no_grad():
        own = look(bound.function(*bound.arguments, **bound.keywords))
        if own != look(was.returned):
            return f"looks like {own}, not like {look(was.returned)}"
        if not was.decided:
            return ""
        given = iter(was.given)
        made = (bound.arguments, dict(bound.keywords))
        args, kwargs = pytree.tree_map(lambda leaf: next(given) if isinstance(leaf, torch.Tensor) else leaf, made)
        found = tensors(bound.function(*args, **kwargs))
    assert next(given, None) is None
    same = all(equal(one, other) for one, other in zip(found, was.returned))
    return "" if same else "other numbers"


def equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two results are the same numbers."""
    if not one.is_floating_point():
        return bool(torch.equal(one, other))
    within = TOLERANCES[one.dtype]
    return bool(torch.allclose(one, other, rtol=within, atol=within, equal_nan=True))


if __name__ == "__main__":
    with patch.object(capture, "Watch", Keeping):
        print(json.dumps([main(Path(sys.argv[1]), path) for path in sys.argv[2:]]))
