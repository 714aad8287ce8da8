"""Which inputs MXNet's registered operators get: by operator, else by the names of their arguments.

Names are the registered ones without the prefixes of `PREFIXES`; those of areas are in `*_rules.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.child.backends.mxnet import array_rules, layer_rules, special_rules
from opperf.child.backends.notation import Rule

RULES: Mapping[str, Rule] = {**layer_rules.RULES, **array_rules.RULES, **special_rules.RULES}
#: Left off a registered name to find its rule; longer ones first.
PREFIXES = ("_npx__image_", "_npx_", "_npi_", "_np_", "_sparse_", "_contrib_", "_image_", "_linalg_", "_")

#: Arrays by their own name, where an operator has no rule.
ARRAYS: Mapping[str, str] = {
    "grad": "n,n",
    "condition": "n,n 0..2",
    "mean": "n,n",
    "var": "n,n 0..1",
    "weight": "n,n",
    "mask": "n bool",
    "length": "n int32 1..8",
    "rescale_grad": "1 ones",
}
#: Where nothing else is said.
MATRIX = "n,n"

#: Attributes by their own name, where the registry has no default for them and an operator has no rule.
ATTRIBUTES: Mapping[str, Any] = {
    "dtype": "float32",
    "lr": 0.01,
    "wd": 0.0,
    "eta": 0.001,
    "eps": 1e-8,
    "axis": 0,
    "t": 1,
    "start": 0,
    "stop": 100,
    "N": lambda side: side,
    "shape": lambda side: (side, side),
    "size": lambda side: (side, side),
    "ctx": "cpu",
    "a_min": -0.5,
    "a_max": 0.5,
    "act_type": "relu",
    "repeats": 2,
    "reps": (2, 1),
    "begin": (0, 0),
    "end": lambda side: (side // 2, side // 2),
    "newshape": (-1,),
    "value": 1.0,
    "fill_value": 1.0,
    "low": 0,
    "high": 10,
    "scale": 1.0,
    "loc": 0.0,
    "scalar": 2.0,
    "min_factor": 0.5,
    "max_factor": 1.5,
    "stype": "default",
    "indices": (4,),
    "num": 100,
    "depth": 16,
    "num_outputs": 2,
    "block_size": 2,
}
#: Attributes that have a default with which an operator without arrays would do next to nothing.
SPOKEN: Mapping[str, Any] = {"shape": lambda side: (side, side)}
