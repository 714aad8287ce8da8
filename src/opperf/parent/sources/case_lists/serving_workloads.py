"""Workloads of FlashInfer-Bench of which more than the shapes decides: attention to a cache, and sampling.

How long each sequence is stands in files of values, which are not read. A line has how many tokens or pages there are
together, so sequences of equal length are assumed, and the origin of each case says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from opperf.domain.case import Case
from opperf.domain.tensor import MOST_LITERAL, TensorSpec

#: Tensors of a workload by the names of its definition.
Tensors: TypeAlias = Mapping[str, TensorSpec]
#: A case with what was assumed of it, or the reason why there is none.
Answer: TypeAlias = "tuple[Case, str] | str"
EQUAL = "sequences of equal length"
#: The share of the most likely tokens, which stands in a file of values.
TOP_P = 0.9
SEVERAL = "several queries for each sequence to pages of a cache: no operator of opperf is that"

TOO_MANY = f"over {MOST_LITERAL:,} sequences, of which no case holds the lengths"


def case_of(kind: object, names: frozenset[str], tensors: Tensors) -> Answer | None:
    """Return the case of a workload of this type with these inputs; None for one that is not known here."""
    make = MEANINGS.get((str(kind), names - {"sm_scale"}))
    return None if make is None else make(tensors)


def _grouped_paged(tensors: Tensors) -> Answer:
    return _paged(tensors, tensors["q"], tensors["k_cache"], tensors["v_cache"])


def _latent_paged(tensors: Tensors) -> Answer:
    """Return attention of all heads to one: its keys are latents and what is turned, its values the latents."""
    query, latents = tensors["q_nope"], tensors["ckv_cache"]
    width = latents.shape[-1] + tensors["kpe_cache"].shape[-1]
    cache = replace(latents, shape=(*latents.shape[:-1], 1, latents.shape[-1]))
    answer = _paged(
        tensors,
        replace(query, shape=(*query.shape[:-1], width)),
        replace(cache, shape=(*cache.shape[:-1], width)),
        cache,
    )
    return answer if isinstance(answer, str) else (answer[0], f"{answer[1]}, values apart from keys")


def _paged(tensors: Tensors, query: TensorSpec, keys: TensorSpec, values: TensorSpec) -> Answer:
    sequences = tensors["kv_indptr"].shape[0] - 1
    if query.shape[0] != sequences:
        return SEVERAL
    if sequences > MOST_LITERAL:
        return TOO_MANY
    pages = max(1, -(-tensors["kv_indices"].shape[0] // max(1, sequences)))
    length = pages * keys.shape[1]
    return Case(
        "paged_attention",
        {
            "query": query,
            "key_cache": keys,
            "value_cache": values,
            "page_table": TensorSpec((sequences, pages), "int64", range=(0, keys.shape[0])),
            "lengths": TensorSpec((sequences,), "int64", range=(1, length), literal=(length,) * sequences),
        },
    ), EQUAL


def _ragged(tensors: Tensors) -> Answer:
    query, key = tensors["q"], tensors["k"]
    sequences, tokens = tensors["qo_indptr"].shape[0] - 1, query.shape[0]
    if key.shape[0] != tokens:
        return "more keys than queries of a sequence: no operator of opperf is that"
    if not 1 <= sequences <= tokens:
        return f"{sequences} sequences of {tokens} tokens together"
    if sequences > MOST_LITERAL:
        return TOO_MANY
    lengths = tuple(tokens // sequences + (place < tokens % sequences) for place in range(sequences))
    inputs = {"query": query, "key": key, "value": tensors["v"]}
    return Case("variable_length_attention", inputs, {"lengths": lengths}), EQUAL


def _top_p(tensors: Tensors) -> Answer:
    shares = tensors["probs"]
    inputs = {
        "logits": replace(shares, range=(-8.0, 8.0)),
        "draws": TensorSpec(shares.shape[:-1], shares.dtype, range=(0.0, 1.0)),
    }
    return Case("top_p_sampling", inputs, {"p": TOP_P}), f"from logits, with a p of {TOP_P}"


_LATENT = frozenset({"q_nope", "q_pe", "ckv_cache", "kpe_cache", "kv_indptr", "kv_indices"})
_GROUPED = frozenset({"q", "k_cache", "v_cache", "kv_indptr", "kv_indices"})
#: By the type of a definition and the names of its inputs.
MEANINGS: Mapping[tuple[str, frozenset[str]], Callable[[Tensors], Answer]] = {
    ("gqa_paged", _GROUPED): _grouped_paged,
    ("gqa_paged", _GROUPED | {"qo_indptr"}): _grouped_paged,
    ("gqa_ragged", frozenset({"q", "k", "v", "qo_indptr", "kv_indptr"})): _ragged,
    ("mla_paged", _LATENT): _latent_paged,
    ("mla_paged", _LATENT | {"qo_indptr"}): _latent_paged,
    ("sampling", frozenset({"probs", "top_p"})): _top_p,
}
