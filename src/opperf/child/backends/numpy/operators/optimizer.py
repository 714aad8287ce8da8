"""Steps of optimizers in NumPy: the weight and the states change in place, and the weight is returned."""

from __future__ import annotations

import numpy as np

from opperf.child.backends.call import Binding
from opperf.child.backends.updates import MADE_OF, Updates

UPDATES = Updates(np, immutable=False)

BINDINGS: dict[str, Binding] = {name: UPDATES.binding(name) for name in MADE_OF}
