"""The sum over the last axis."""


def f(x):
    return x.sum(axis=-1)
