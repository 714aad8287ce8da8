"""Weights in MXNet: a new array, filled by an initializer that is made before anything is timed."""

from __future__ import annotations

from typing import Any

import mxnet as mx

from opperf.child.backends.call import Binding, Call, Missing
from opperf.child.backends.mxnet.spelling import composed
from opperf.domain.backend import Unsupported

NAME = mx.init.InitDesc("weight")


def _filled(name: str, initializer: Any, own: str) -> Call:
    def fill(F: Any, shape: Any, dtype: Any) -> Any:
        if F is mx.sym:
            raise Unsupported("MXNet's initializers fill arrays at once", slug="no_compiled_form")
        weights = F.empty(shape, dtype=dtype)
        initializer(NAME, weights)
        return weights

    fill.__name__ = name
    return composed(fill, "shape, dtype", note=f"nd.empty and mx.init.{own}")


BINDINGS: dict[str, Binding] = {
    "xavier_uniform": _filled("xavier_uniform", mx.init.Xavier("uniform", "avg", 3), "Xavier"),
    "xavier_normal": _filled("xavier_normal", mx.init.Xavier("gaussian", "avg", 1), "Xavier"),
    "kaiming_uniform": _filled("kaiming_uniform", mx.init.Xavier("uniform", "in", 6), "Xavier"),
    "kaiming_normal": _filled("kaiming_normal", mx.init.MSRAPrelu("in", 0), "MSRAPrelu"),
    "truncated_normal": Missing("MXNet has no initializer that draws again what is too large"),
    "orthogonal": _filled("orthogonal", mx.init.Orthogonal(1.0), "Orthogonal (numpy.linalg.svd)"),
}
