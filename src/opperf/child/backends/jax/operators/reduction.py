"""Reductions and running sums in JAX."""

from __future__ import annotations

from opperf.child.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    **{
        name: call(f"jax.numpy.{own}", "data", "axis=axis, keepdims=keepdims")
        for name, own in {
            "sum": "sum",
            "mean": "mean",
            "max": "max",
            "min": "min",
            "prod": "prod",
            "variance": "var",
            "std": "std",
            "argmax": "argmax",
            "argmin": "argmin",
            "all": "all",
            "any": "any",
            "nansum": "nansum",
            "nanprod": "nanprod",
        }.items()
    },
    "norm": call(
        "jax.numpy.linalg.vector_norm",  # `norm` takes at most two axes
        "data",
        "axis=axis, keepdims=keepdims",
        also=("jax.numpy.linalg.norm",),
    ),
    "logsumexp": call("jax.scipy.special.logsumexp", "data", "axis=axis, keepdims=keepdims"),
    "cumsum": call("jax.numpy.cumsum", "data", "axis=axis"),
    "cumprod": call("jax.numpy.cumprod", "data", "axis=axis"),
}
