"""Creation of arrays: constants, random numbers and initial weights in MXNet."""

from __future__ import annotations

from typing import Any

import mxnet as mx

from opperf.child.backends.binding import Binding, Call, Missing, call
from opperf.child.backends.mxnet.spelling import composition
from opperf.domain.backend import Unsupported

# MXNet's tensors of known values.

_CREATION: dict[str, Binding] = {
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


# MXNet's random numbers.


def shares(data: Any) -> Any:
    """Return rows that add up to one, as MXNet wants them."""
    return data / data.sum(axis=1, keepdims=True)


_RANDOM: dict[str, Binding] = {
    "random_uniform": call("nd.random.uniform", "low, high", "shape=shape, dtype=dtype"),
    "random_normal": call("nd.random.normal", "loc=mean, scale=std", "shape=shape, dtype=dtype"),
    "random_integers": call("nd.random.randint", "low, high", "shape=shape, dtype=dtype"),
    "random_bernoulli": call("npx.random.bernoulli", "", "prob=probability, size=shape, dtype=dtype"),
    "random_poisson": call("nd.random.poisson", "lam=rate", "shape=shape, dtype=dtype"),
    "random_exponential": call("nd.random.exponential", "scale", "shape=shape, dtype=dtype"),
    "random_gamma": call("nd.random.gamma", "alpha, beta=scale", "shape=shape, dtype=dtype"),
    "random_negative_binomial": call(
        "nd.random.negative_binomial", "k=successes, p=probability", "shape=shape, dtype=dtype"
    ),
    "random_categorical": call("nd.random.multinomial", "data", "shape=count", adapt={"data": shares}),
    "shuffle": call("nd.random.shuffle", "data"),
}


# Weights in MXNet: a new array, filled by an initializer that is made before anything is timed.

NAME = mx.init.InitDesc("weight")


def _fill(name: str, initializer: Any, own: str) -> Call:
    def fill(F: Any, shape: Any, dtype: Any) -> Any:
        if F is mx.sym:
            raise Unsupported("MXNet's initializers fill arrays, and have no symbolic form", slug="no_compiled_form")
        weights = F.empty(shape, dtype=dtype)
        initializer(NAME, weights)
        return weights

    fill.__name__ = name
    return composition(fill, "shape, dtype", note=f"nd.empty and mx.init.{own}")


_INITIALIZER: dict[str, Binding] = {
    "xavier_uniform": _fill("xavier_uniform", mx.init.Xavier("uniform", "avg", 3), "Xavier"),
    "xavier_normal": _fill("xavier_normal", mx.init.Xavier("gaussian", "avg", 1), "Xavier"),
    "kaiming_uniform": _fill("kaiming_uniform", mx.init.Xavier("uniform", "in", 6), "Xavier"),
    "kaiming_normal": _fill("kaiming_normal", mx.init.MSRAPrelu("in", 0), "MSRAPrelu"),
    "truncated_normal": Missing("MXNet has no truncated normal initializer"),
    "orthogonal": _fill("orthogonal", mx.init.Orthogonal(1.0), "Orthogonal (numpy.linalg.svd)"),
}


BINDINGS: dict[str, Binding] = {**_CREATION, **_RANDOM, **_INITIALIZER}
