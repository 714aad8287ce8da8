"""Colors in PyTorch: a few functions for each."""

from __future__ import annotations

from typing import Any

import torch

from opperf.child.backends.call import Binding
from opperf.child.backends.colors import CHANGES, change


def _like(data: Any, numbers: Any) -> Any:
    return torch.tensor(numbers, dtype=data.dtype, device=data.device)


BINDINGS: dict[str, Binding] = {name: change(name, _like) for name in CHANGES}
