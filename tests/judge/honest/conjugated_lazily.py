"""Return a tensor that PyTorch conjugates whenever it is read."""

import torch


def f(x):
    return torch.conj(x * 2)
