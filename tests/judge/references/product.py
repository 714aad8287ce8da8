"""The product of two matrices."""


def f(a, b):
    return a @ b
