"""Call each case of a replay once, and print which find no number where the recorded step had one; runs in PyTorch.

python replayed_values.py SUITE FILE:FUNCTION
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from opperf.child.backends.torch.runtime import TorchBackend
from opperf.child.backends.torch.specs import tensors
from opperf.child.worker import arguments, code
from opperf.child.worker.directions import call_once
from opperf.child.worker.failures import failure
from opperf.child.worker.names import Names
from opperf.domain.code import Code
from opperf.domain.plan import Side, Trial
from opperf.domain.suite import Suite

#: What only takes memory may find anything there.
MEMORY = "empty"


class Step(TorchDispatchMode):  # type: ignore[misc]
    """Takes the names of operators that took or found what is no number."""

    def __init__(self) -> None:
        super().__init__()
        self.without_number: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call, and look."""
        result = func(*args, **(kwargs or {}))
        if MEMORY not in str(func) and has_nan((*args, *(kwargs or {}).values(), result)):
            self.without_number.add(func.overloadpacket.__name__)
        return result


def has_nan(value: Any) -> bool:
    """Whether a tensor among values has an element that is no number."""
    return any(
        bool(torch.isnan(tensor.values() if tensor.is_nested else tensor.to_dense()).any())
        for tensor in tensors(value)
        if tensor.is_floating_point()
    )


def main() -> None:
    """Run the step, then the cases."""
    suite, program = sys.argv[1:]
    folder = Path(program).parent
    step = Step()
    with step:
        code.load(Code(program), folder)()
    backend = TorchBackend(Side("torch"))
    names = Names(backend, folder, code.Plugins(folder, ()))
    cases = [entry.case for entry in Suite.from_json(json.loads(Path(suite).read_text()), suite).cases]
    without_number, failed = set(), []
    for case in cases:
        path = case.operator.partition(":")[2]
        name = path.rpartition("::")[2].partition(".")[0]
        try:
            call = names.call(Trial(case, replace(backend.side, implementation=path), "forward"))
            bound = arguments.bind(case, call, None, backend, 0)
            given = has_nan((*bound.arguments, *bound.keywords.values()))
            if given or has_nan(call_once(backend, backend.forward(bound))):
                without_number.add(name)
        except Exception as error:  # the other cases run all the same
            failed.append([path, failure(error).reason.message])
    wrong = sorted(name for name in without_number if MEMORY not in name and name not in step.without_number)
    print(json.dumps({"cases": len(cases), "without_number": wrong, "failed": failed}))


if __name__ == "__main__":
    main()
