"""What serving a language model needs, in PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.nn import functional as F

from opperf.child.backends.arrays.compositions import rotation
from opperf.child.backends.binding import Binding, call, composition, compositions

ATTENTION = "torch.nn.functional.scaled_dot_product_attention"
PROJECTED = "input=data, linear_weight=weight, target=labels"
rotate = rotation(torch.chunk, torch.cat)


def paged_attention(query: Any, key_cache: Any, value_cache: Any, page_table: Any, lengths: Any) -> Any:
    """Return the attention to the pages that belong to each sequence."""
    keys, values = (cache[page_table].flatten(1, 2).transpose(1, 2) for cache in (key_cache, value_cache))
    within = torch.arange(keys.shape[2], device=lengths.device) < lengths[:, None]
    return F.scaled_dot_product_attention(
        query[:, :, None], keys, values, attn_mask=within[:, None, None], enable_gqa=True
    )[:, :, 0]


def variable_length_attention(query: Any, key: Any, value: Any, lengths: tuple[int, ...]) -> Any:
    """Return the attention of one sequence after the other: nested tensors have no causal attention on a CPU."""
    parts = zip(*(tensor.transpose(0, 1).split(lengths, 1) for tensor in (query, key, value)))
    shares = {"enable_gqa": True} if query.shape[1] != key.shape[1] else {}
    results = [
        F.scaled_dot_product_attention(*(part[None] for part in each), is_causal=True, **shares)[0] for each in parts
    ]
    return torch.cat(results, 1).transpose(0, 1)


def sliding_window_attention(query: Any, key: Any, value: Any, mask: Any) -> Any:
    """Return the attention to what the mask lets through."""
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)


def window_mask(arguments: Mapping[str, Any]) -> Any:
    """Return which keys each query sees: a model makes this once for all layers and steps."""
    query, window = arguments["query"], arguments["window"]
    every = torch.ones(query.shape[-2], query.shape[-2], dtype=torch.bool, device=query.device)
    return every.tril().triu(1 - window)


def latent_attention(
    query: Any, query_turned: Any, latent: Any, key_turned: Any, key_weight: Any, value_weight: Any
) -> Any:
    """Return the attention of one query a head; keys and values are never made of the latent."""
    scale = (query.shape[-1] + query_turned.shape[-1]) ** -0.5
    absorbed = torch.bmm(query.transpose(0, 1), key_weight).transpose(0, 1)
    scores = torch.bmm(absorbed, latent.mT) + torch.bmm(query_turned, key_turned.mT)
    context = torch.bmm(torch.softmax(scores * scale, -1), latent)
    return torch.bmm(context.transpose(0, 1), value_weight).transpose(0, 1)


def cache_append(cache: Any, update: Any, positions: Any) -> Any:
    """Write the update into its places."""
    return cache.index_copy_(2, positions, update)


def update_places(arguments: Mapping[str, Any]) -> Any:
    """Return the places of new tokens, which a model is given beside them."""
    start, update = arguments["position"], arguments["update"]
    return torch.arange(start, start + update.shape[2], device=update.device)


def rotary_qk_norm(
    query: Any, key: Any, query_weight: Any, key_weight: Any, cosine: Any, sine: Any, epsilon: float
) -> Any:
    """Return queries and keys as attention wants them."""
    normal = (F.rms_norm(one, (one.shape[-1],), weight, epsilon)
              for one, weight in ((query, query_weight), (key, key_weight)))  # fmt: skip
    return tuple(rotate(one, cosine, sine) for one in normal)


def top_p_sampling(logits: Any, draws: Any, p: float) -> Any:
    """Return the token whose share of what the likely ones have together a draw falls into."""
    shares, order = torch.sort(torch.softmax(logits, -1), descending=True)
    totals = torch.cumsum(shares, -1)
    whole = torch.where(totals - shares < p, totals, 0).amax(-1)
    places = (totals <= (draws * whole)[:, None]).sum(-1, keepdim=True)
    return order.gather(-1, places)[:, 0]


def repetition_penalty(logits: Any, tokens: Any, penalty: float) -> Any:
    """Return logits in which tokens that were there are less likely."""
    scores = torch.gather(logits, 1, tokens)
    return logits.scatter(1, tokens, torch.where(scores < 0, scores * penalty, scores / penalty))


def linear_cross_entropy(data: Any, weight: Any, labels: Any) -> Any:
    """Return the loss of the last layer's logits."""
    return F.cross_entropy(F.linear(data, weight), labels)


BINDINGS: dict[str, Binding] = {
    "sliding_window_attention": composition(
        sliding_window_attention, derive={"mask": window_mask}, note=f"{ATTENTION} with a precomputed mask"
    ),
    "cache_append": composition(
        cache_append,
        "cache, update, positions",
        derive={"positions": update_places},
        note="torch.Tensor.index_copy_, with precomputed places",
    ),
    # Of versions that do not have it, models write the two.
    "linear_cross_entropy": call("torch.nn.functional.linear_cross_entropy", PROJECTED)
    if hasattr(F, "linear_cross_entropy")
    else composition(linear_cross_entropy, note="torch.nn.functional.linear and torch.nn.functional.cross_entropy"),
    **compositions(
        paged_attention=(paged_attention, f"indexing of pages, a mask, and {ATTENTION}"),
        variable_length_attention=(variable_length_attention, f"{ATTENTION} of each sequence, and torch.cat"),
        multi_head_latent_attention=(latent_attention, "five torch.bmm around torch.softmax"),
        rotary_qk_norm=(
            rotary_qk_norm,
            "torch.nn.functional.rms_norm, products, sums, and torch.cat of the exchanged halves, of both",
        ),
        top_p_sampling=(
            top_p_sampling,
            "torch.softmax, torch.sort, torch.cumsum, comparisons, sums and torch.gather",
        ),
        repetition_penalty=(repetition_penalty, "torch.gather, torch.where and torch.scatter"),
    ),
}
