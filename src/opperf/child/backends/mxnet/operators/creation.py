"""MXNet's tensors of known values."""

from __future__ import annotations

from opperf.child.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    "zeros": call("nd.zeros", "shape=shape", "dtype=dtype", also=("np.zeros",)),
    "ones": call("nd.ones", "shape=shape", "dtype=dtype", also=("np.ones",)),
    "full": call("nd.full", "shape=shape, val=value", "dtype=dtype"),
    "zeros_like": call("nd.zeros_like", "data"),
    "ones_like": call("nd.ones_like", "data"),
    "full_like": call("np.full_like", "a=data, fill_value=value", note="`nd` has no `full_like`"),
    "arange": call("nd.arange", "start=start, stop=stop, step=step", "dtype=dtype", also=("np.arange",)),
    "linspace": call("nd.linspace", "start=start, stop=stop, num=count", "dtype=dtype", also=("np.linspace",)),
    "eye": call("nd.eye", "N=rows, M=columns", "dtype=dtype", also=("np.eye",)),
}
