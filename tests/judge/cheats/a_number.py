"""Return a number, which a comparison stretches over all elements."""

#: 37


def f(x):
    return 1 / x.shape[-1]
