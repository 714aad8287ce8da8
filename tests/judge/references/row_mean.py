"""The mean over the last axis."""


def f(x):
    return x.mean(axis=-1)
