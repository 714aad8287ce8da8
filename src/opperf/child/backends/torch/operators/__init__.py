"""How PyTorch spells the neutral operators, family by family."""

import torch

from opperf.child.backends.binding import OwnNames

OWN_NAMES = OwnNames({"torch": torch}, "input=data", "input=lhs, other=rhs")
