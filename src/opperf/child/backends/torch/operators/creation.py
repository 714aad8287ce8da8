"""PyTorch's tensors of known values."""

from __future__ import annotations

from opperf.child.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    "zeros": call("torch.zeros", "shape", "dtype=dtype"),
    "ones": call("torch.ones", "shape", "dtype=dtype"),
    "full": call("torch.full", "size=shape, fill_value=value", "dtype=dtype"),
    "zeros_like": call("torch.zeros_like", "input=data"),
    "ones_like": call("torch.ones_like", "input=data"),
    "full_like": call("torch.full_like", "input=data, fill_value=value"),
    "arange": call("torch.arange", "start=start, end=stop, step=step", "dtype=dtype"),
    "linspace": call("torch.linspace", "start=start, end=stop, steps=count", "dtype=dtype"),
    "eye": call("torch.eye", "n=rows, m=columns", "dtype=dtype"),
}
