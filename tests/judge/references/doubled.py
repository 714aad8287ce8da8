"""Twice each element, in place: this is declared."""

import opperf


@opperf.operator(framework="numpy", mutates=("x",))
def f(x):
    x *= 2
    return x
