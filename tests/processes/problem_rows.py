"""A problem in KernelBench's format, with parameters, buffers and a tensor that its constructor draws."""

ROWS = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, features, steps=2):
        super().__init__()
        self.rows = nn.Linear(features, 3)
        self.norm = nn.BatchNorm1d(3)
        self.start = torch.randn(batch, 1)

    def forward(self, x, factor):
        return self.norm(self.rows(x)) * factor + self.start

batch, features = 64 * 128, 5

def get_inputs():
    return [torch.randn(batch, features), 0.5]

def get_init_inputs():
    return [features]
"""
