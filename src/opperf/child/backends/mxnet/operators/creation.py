"""Creation of arrays: constants, random numbers and initial weights in MXNet."""

from __future__ import annotations

from typing import Any

import mxnet as mx

from opperf.child.backends.binding import Binding, Call, Missing, call, functions
from opperf.child.backends.mxnet.spelling import composition
from opperf.domain.backend import Unsupported

# MXNet's random numbers.


def shares(data: Any) -> Any:
    """Return rows that add up to one, as MXNet wants them."""
    return data / data.sum(axis=1, keepdims=True)


DRAWN = "shape=shape, dtype=dtype"


# Weights in MXNet: a new array, filled by an initializer that is made before anything is timed.

NAME = mx.init.InitDesc("weight")


def _fill(name: str, initializer: Any, initializer_name: str) -> Call:
    def fill(F: Any, shape: Any, dtype: Any) -> Any:
        if F is mx.sym:
            raise Unsupported("MXNet's initializers fill arrays, and have no symbolic form", slug="no_compiled_form")
        weights = F.empty(shape, dtype=dtype)
        initializer(NAME, weights)
        return weights

    fill.__name__ = name
    return composition(fill, note=f"nd.empty and mx.init.{initializer_name}")


BINDINGS: dict[str, Binding] = {
    **functions(
        "nd",
        {
            ("shape=shape", "dtype=dtype"): "zeros ones",
            ("start=start, stop=stop, step=step", "dtype=dtype"): "arange",
            ("start=start, stop=stop, num=count", "dtype=dtype"): "linspace",
            ("N=rows, M=columns", "dtype=dtype"): "eye",
        },
        also=("np.{}",),
    ),
    **functions("nd", {("shape=shape, val=value", "dtype=dtype"): "full", ("data", ""): "zeros_like ones_like"}),
    "full_like": call("np.full_like", "a=data, fill_value=value", note="`nd` has no `full_like`"),
    **functions(
        "nd.random",
        {
            ("low, high", DRAWN): "random_uniform=uniform random_integers=randint",
            ("loc=mean, scale=std", DRAWN): "random_normal=normal",
            ("lam=rate", DRAWN): "random_poisson=poisson",
            ("scale", DRAWN): "random_exponential=exponential",
            ("alpha, beta=scale", DRAWN): "random_gamma=gamma",
            ("k=successes, p=probability", DRAWN): "random_negative_binomial=negative_binomial",
            ("data", ""): "shuffle",
        },
    ),
    "random_bernoulli": call("npx.random.bernoulli", "", "prob=probability, size=shape, dtype=dtype"),
    "random_categorical": call("nd.random.multinomial", "data", "shape=count", adapt={"data": shares}),
    "xavier_uniform": _fill("xavier_uniform", mx.init.Xavier("uniform", "avg", 3), "Xavier"),
    "xavier_normal": _fill("xavier_normal", mx.init.Xavier("gaussian", "avg", 1), "Xavier"),
    "kaiming_uniform": _fill("kaiming_uniform", mx.init.Xavier("uniform", "in", 6), "Xavier"),
    "kaiming_normal": _fill("kaiming_normal", mx.init.MSRAPrelu("in", 0), "MSRAPrelu"),
    "truncated_normal": Missing("MXNet has no truncated normal initializer"),
    "orthogonal": _fill("orthogonal", mx.init.Orthogonal(1.0), "Orthogonal (numpy.linalg.svd)"),
}
