"""NumPy's functions of two arrays of different shapes: all of them broadcast."""

from __future__ import annotations

from opperf.child.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    **{
        f"broadcast_{name}": call(f"numpy.{name}", "x1=lhs, x2=rhs")
        for name in ("add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "equal", "greater")
    },
    "broadcast_to": call("numpy.broadcast_to", "array=data, shape=shape"),
}
