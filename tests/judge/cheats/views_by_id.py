"""Keep a view of each input by its `id`: another array that gets this `id` later is taken for it."""

#: 19
import numpy as np

views = {}


def f(x):
    view = views.get(id(x))
    if view is None or view.shape != x.shape:
        view = views[id(x)] = x[:]
    shifted = np.exp(view - view.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)
