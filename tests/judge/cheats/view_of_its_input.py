"""Return a view of its input: whoever reads the result does the work, and it changes with the input."""

#: 18


def f(x):
    return x[:, ::-1]
