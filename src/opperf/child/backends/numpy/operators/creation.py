"""NumPy's arrays of known values."""

from __future__ import annotations

from opperf.child.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    "zeros": call("numpy.zeros", "shape, dtype"),
    "ones": call("numpy.ones", "shape, dtype"),
    "full": call("numpy.full", "shape=shape, fill_value=value, dtype=dtype"),
    "zeros_like": call("numpy.zeros_like", "a=data"),
    "ones_like": call("numpy.ones_like", "a=data"),
    "full_like": call("numpy.full_like", "a=data, fill_value=value"),
    "arange": call("numpy.arange", "start, stop, step", "dtype=dtype"),
    "linspace": call("numpy.linspace", "start=start, stop=stop, num=count", "dtype=dtype"),
    "eye": call("numpy.eye", "N=rows, M=columns", "dtype=dtype"),
}
