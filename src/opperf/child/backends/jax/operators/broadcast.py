"""JAX's functions of two arrays broadcast like NumPy's, so they are those of `elementwise_binary`."""

from __future__ import annotations

from opperf.child.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    **{
        f"broadcast_{name}": call(f"jax.numpy.{name}", "lhs, rhs")
        for name in ("add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "equal", "greater")
    },
    "broadcast_to": call("jax.numpy.broadcast_to", "data, shape"),
}
