"""NumPy's brackets and layouts."""

from __future__ import annotations

import operator

from opperf.backends.call import Binding, Missing, call, composed

BINDINGS: dict[str, Binding] = {
    "get_item": composed(operator.getitem, "data, index", note="`data[index]`, a view"),
    "contiguous": call("numpy.ascontiguousarray", "a=data"),
    "to_numpy": Missing("NumPy's arrays are what this makes of those of other frameworks"),
}
