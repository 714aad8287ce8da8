"""Prepare and measure an operator that PyTorch's own counter counts, in a Python that has PyTorch.

Prints the facts, and which modules that only a compiler needs were imported meanwhile, as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from opperf.child.backends.torch.runtime import start
from opperf.child.measure.disturbance import ProcessCounters
from opperf.child.worker.handler import Handler
from opperf.domain.case import Case
from opperf.domain.message.requests import Measure, Prepare
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.tensor import TensorSpec

inputs = {"input": TensorSpec((8, 16)), "mat2": TensorSpec((16, 4))}
trial = Trial(Case("torch:torch.mm", inputs), Side("torch", implementation="torch.mm"), "forward")
backend = start(Side("torch"))
before = set(sys.modules)
handler = Handler(backend, ProcessCounters(), Path.cwd())
prepared = handler.answer(Prepare(trial))
handler.answer(Measure(prepared.handle, Settings(warmup=1, runs=3)))
homes = {name.partition(".")[0] for name in set(sys.modules) - before}
print(json.dumps({"flops": prepared.facts["flops"], "compiler": sorted(homes & {"sympy", "mpmath"})}))
