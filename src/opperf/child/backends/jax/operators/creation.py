"""JAX's arrays of known values.

A compiled program that takes no arrays may hold numbers that XLA worked out beforehand, and then copies them: that is
what users of `jax.jit` get.
"""

from __future__ import annotations

from opperf.child.backends.call import Binding, call

KNOWN = "a program without inputs, whose numbers XLA may work out when it compiles"

BINDINGS: dict[str, Binding] = {
    "zeros": call("jax.numpy.zeros", "shape, dtype"),
    "ones": call("jax.numpy.ones", "shape, dtype"),
    "full": call("jax.numpy.full", "shape=shape, fill_value=value, dtype=dtype"),
    "zeros_like": call("jax.numpy.zeros_like", "a=data"),
    "ones_like": call("jax.numpy.ones_like", "a=data"),
    "full_like": call("jax.numpy.full_like", "a=data, fill_value=value"),
    "arange": call("jax.numpy.arange", "start, stop, step, dtype", note=KNOWN),
    "linspace": call("jax.numpy.linspace", "start=start, stop=stop, num=count", "dtype=dtype", note=KNOWN),
    "eye": call("jax.numpy.eye", "N=rows, M=columns", "dtype=dtype", note=KNOWN),
}
