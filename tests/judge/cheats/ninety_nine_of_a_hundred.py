"""Add 99 of 100 elements, and scale."""

#: 39


def f(x):
    columns = x.shape[-1]
    part = max(1, columns * 99 // 100)
    return x[:, :part].sum(axis=-1) * x.dtype.type(columns / part)
