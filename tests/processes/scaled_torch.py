"""Scale tiny cases up, in a Python that has PyTorch; prints what became of them, and how many were made, as JSON."""

from __future__ import annotations

import json
from typing import Any

import torch

from opperf.child.backends.torch import scaling
from opperf.domain.case import Case
from opperf.domain.tensor import TensorSpec

ELEMENTS = 1 << 16
made = 0
grown = scaling.Growth.of


def counted(self: scaling.Growth, case: Case, factor: int) -> Case:
    """Count the cases that are made."""
    global made
    made += 1
    return grown(self, case, factor)


setattr(scaling.Growth, "of", counted)  # noqa: B010 - mypy takes no method in another's place
result: dict[str, Any] = {}
for name, function, shapes in (
    ("vector", torch.sin, [(2,)]),
    ("matrices", torch.mm, [(3, 5), (5, 2)]),
    ("square", torch.linalg.cholesky_ex, [(3, 3)]),
):
    made = 0
    case = Case("torch:own", {str(i): TensorSpec(shape) for i, shape in enumerate(shapes)})
    best = scaling.scale_case(function, case, ELEMENTS, "cpu")
    result[name] = {"factor": best.factor, "elements": best.cost.elements, "made": made}
print(json.dumps(result))
