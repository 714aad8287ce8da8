"""Layers of experts in PyTorch."""

from __future__ import annotations

from typing import Any

import torch

from opperf.child.backends.call import Binding, composed


def grouped_matmul(data: Any, weight: Any) -> Any:
    """Return each group of rows times its matrix."""
    return torch.bmm(data.view(weight.shape[0], -1, weight.shape[1]), weight).view(data.shape[0], -1)


def moe_gather(data: Any, experts: Any) -> Any:
    """Return the rows of tokens, sorted by expert."""
    order = torch.argsort(experts.reshape(-1), stable=True)
    return torch.index_select(data, 0, order // experts.shape[1])


def moe_scatter(data: Any, tokens: Any, weights: Any, count: int) -> Any:
    """Return the weighted rows, summed at the places of their tokens."""
    return data.new_zeros(count, data.shape[1]).index_add(0, tokens, data * weights[:, None])


def top_k_routing(logits: Any, k: int) -> Any:
    """Return the greatest weights, which add to one, and whose they are."""
    weights, experts = torch.topk(torch.softmax(logits, -1), k, -1)
    return weights / weights.sum(-1, keepdim=True), experts


BINDINGS: dict[str, Binding] = {
    "grouped_matmul": composed(grouped_matmul, "data, weight", note="torch.bmm between views"),
    "moe_gather": composed(moe_gather, "data, experts", note="torch.argsort, a division and torch.index_select"),
    "moe_scatter": composed(
        moe_scatter, "data, tokens, weights, count", note="zeros, a product and torch.Tensor.index_add"
    ),
    "top_k_routing": composed(top_k_routing, "logits, k", note="torch.softmax, torch.topk, a sum and a division"),
}
