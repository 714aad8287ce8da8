"""How NumPy spells the neutral operators, family by family."""

import numpy as np

from opperf.child.backends.binding import OwnNames

OWN_NAMES = OwnNames({"numpy": np}, "x=data", "x1=lhs, x2=rhs")
