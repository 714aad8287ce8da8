"""A problem of the KernelBench kind: layers whose number and width come from outside, and a norm with weights."""

import torch
from torch import nn

batch = 64
width = 256
layers = 6


class Model(nn.Module):
    """Linear layers beside a short cut, weighed little at first as in many networks, then a normalization."""

    def __init__(self, width, layers):
        super().__init__()
        self.layers = nn.Sequential(*(nn.Linear(width, width) for _ in range(layers)))
        self.weight = nn.Parameter(torch.full((width,), 1e-3))
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return self.norm(x + self.weight * torch.relu(self.layers(x)))


def get_inputs():
    return [torch.rand(batch, width)]


def get_init_inputs():
    return [width, layers]
