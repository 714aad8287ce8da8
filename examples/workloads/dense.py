"""A decoder of the kind that most language models are: grouped heads, rotated positions, a gated network."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional


class Attention(nn.Module):
    """Attention whose heads share keys and values by groups."""

    def __init__(self, width: int, heads: int, groups: int) -> None:
        super().__init__()
        self.size = width // heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, groups * self.size, bias=False)
        self.value = nn.Linear(width, groups * self.size, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, data: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
        """Return what each position takes from those before it."""
        query, key, value = (
            layer(data).unflatten(-1, (-1, self.size)).transpose(1, 2) for layer in (self.query, self.key, self.value)
        )
        mixed = functional.scaled_dot_product_attention(
            rotate(query, angles), rotate(key, angles), value, is_causal=True, enable_gqa=True
        )
        return self.out(mixed.transpose(1, 2).flatten(2))


def rotate(data: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
    """Turn pairs of elements by the angles of their positions."""
    left, right = data.chunk(2, dim=-1)
    return data * angles.cos() + torch.cat([-right, left], dim=-1) * angles.sin()


class Block(nn.Module):
    """One layer: attention, then a gated network."""

    def __init__(self, width: int, heads: int, groups: int, inner: int) -> None:
        super().__init__()
        self.attention_norm, self.inner_norm = nn.RMSNorm(width), nn.RMSNorm(width)
        self.attention = Attention(width, heads, groups)
        self.gate = nn.Linear(width, inner, bias=False)
        self.up = nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, data: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
        """Return the data with what the layer adds to it."""
        data = data + self.attention(self.attention_norm(data), angles)
        normal = self.inner_norm(data)
        return data + self.down(functional.silu(self.gate(normal)) * self.up(normal))


class Decoder(nn.Module):
    """Words in, scores of the next words out."""

    def __init__(self, width: int, layers: int, heads: int, groups: int, inner: int, words: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.layers = nn.ModuleList(Block(width, heads, groups, inner) for _ in range(layers))
        self.norm = nn.RMSNorm(width)
        self.scores = nn.Linear(width, words, bias=False)
        self.size = width // heads

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        """Return the scores of every word at every position."""
        places = torch.arange(text.shape[1], dtype=torch.float32)
        rates = 500000.0 ** (-torch.arange(0, self.size, 2, dtype=torch.float32) / self.size)
        angles = torch.outer(places, rates).repeat(1, 2).to(self.scores.weight.dtype)
        data = self.words(text)
        for layer in self.layers:
            data = layer(data, angles)
        return self.scores(self.norm(data))
