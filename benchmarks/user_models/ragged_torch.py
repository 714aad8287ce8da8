"""Models with sparse gradients, nested tensors, and operators of their own: what no case can hold is among them."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from sizes import size
from torch import nn

#: Of the recommender: the rows of a table, their width, the width of a layer, and the batch.
ROWS, WIDTH, INNER, BATCH = size(1000, 100_000), size(16, 64), size(64, 512), size(32, 4096)


@torch.library.custom_op("users::squash", mutates_args=())  # type: ignore[untyped-decorator]
def squash(data: torch.Tensor) -> torch.Tensor:
    """Return numbers between -1 and 1."""
    return data / (1 + data.abs())


@squash.register_fake  # type: ignore[untyped-decorator]
def _(data: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(data)


@cache
def _recommender() -> tuple[Any, ...]:
    torch.manual_seed(0)
    tables = nn.ModuleList(nn.EmbeddingBag(ROWS, WIDTH, mode="sum", sparse=True) for _ in range(3))
    dense = nn.Sequential(nn.Linear(13, INNER), nn.ReLU(), nn.Linear(INNER, WIDTH))
    top = nn.Sequential(nn.Linear(WIDTH + 6, INNER), nn.ReLU(), nn.Linear(INNER, 1))
    optimizers = (
        torch.optim.SGD(tables.parameters(), 0.1),
        torch.optim.Adagrad([*dense.parameters(), *top.parameters()]),
    )
    return tables, dense, top, optimizers


def recommender() -> None:
    """Train a small DLRM: bags of embeddings with sparse gradients, and products of all pairs."""
    tables, dense, top, optimizers = _recommender()
    for optimizer in optimizers:
        optimizer.zero_grad()
    drawn = torch.Generator().manual_seed(0)
    offsets = torch.arange(0, 3 * BATCH, 3)
    vectors = [dense(torch.rand(BATCH, 13, generator=drawn).log1p())]
    vectors += [table(torch.randint(0, ROWS, (3 * BATCH,), generator=drawn), offsets) for table in tables]
    stacked = torch.stack(vectors, 1)
    pairs = stacked @ stacked.mT
    above = torch.triu_indices(4, 4, 1)
    scores = top(torch.cat([vectors[0], pairs[:, above[0], above[1]]], 1)).squeeze(1)
    clicks = torch.randint(0, 2, (BATCH,), generator=drawn).float()
    nn.functional.binary_cross_entropy(scores.sigmoid(), clicks).backward()
    for optimizer in optimizers:
        optimizer.step()


@cache
def _encoder() -> Any:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(32, 2, 64, batch_first=True)
    return nn.TransformerEncoder(layer, 2).eval()


def nested_encoder() -> None:
    """Infer with PyTorch's encoder, whose fast path makes nested tensors of padded rows."""
    padded = torch.zeros(3, 10, dtype=torch.bool)
    padded[1, 6:] = padded[2, 3:] = True
    with torch.no_grad():
        _encoder()(torch.randn(3, 10, 32), src_key_padding_mask=padded)


@cache
def _policy() -> tuple[Any, Any]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 4))
    return model, torch.optim.Adam(model.parameters(), fused=True)


def policy() -> None:
    """Train a policy under autocast, with an operator of its own: draws, logarithms, roots, a factorization."""
    model, optimizer = _policy()
    optimizer.zero_grad()
    states = torch.rand(16, 8)
    with torch.autocast("cpu", torch.bfloat16):
        scores = model(states)
    chances = scores.float().softmax(1)
    with torch.no_grad():
        actions = torch.multinomial(chances, 1)
        squashed = squash(states)
        rewards = (
            squashed.var(1).sqrt() + torch.linalg.cholesky(squashed.mT @ squashed + torch.eye(8)).diagonal().log().sum()
        )
    loss = -(chances.gather(1, actions).squeeze(1).log() * rewards).mean() + (chances.pow(0.5)).mean()
    loss.backward()
    optimizer.step()
