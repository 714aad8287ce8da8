"""What serving language models needs: attention and its cache, the next token, products of few bits, state spaces."""

from __future__ import annotations

from opperf.catalog import low_precision, state_space
from opperf.catalog.definition import Arguments, Operator
from opperf.catalog.formulas import each, indices, like, none, product, same, whole, wholes
from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

# Attention, counted as in `attention.py`: for each pair of a query and a key that it sees, a multiply-add for each
# element of the head to score, another to weigh the value, one to scale and five for the softmax.

#: (sequences, query heads, key heads, head width, pages for each sequence), of one new token each.
PAGED = {
    "small": (2, 4, 2, 16, 2),
    "common": (16, 32, 8, 64, 32),
    "large": (32, 32, 8, 64, 128),
    "skewed": (1, 32, 8, 64, 512),
}
#: Tokens on a page, as vLLM has them by default.
PAGE = 16
#: (heads, head width) and the lengths of the sequences, which stand one after the other.
PACKED = {
    "small": ((2, 16), (16, 8, 4, 4)),
    "common": ((8, 64), (512, 256, 128, 128)),
    "large": ((16, 64), (2048, 1024, 512, 512)),
    "skewed": ((8, 64), (64,) * 32),
}
#: (batch, heads, length, head width), and how many keys a query sees.
WINDOWS = {
    "small": ((1, 2, 16, 16), 4),
    "common": ((2, 8, 512, 64), 128),
    "large": ((2, 16, 2048, 64), 512),
    "skewed": ((1, 1, 4096, 64), 64),
}
#: (batch, heads, head width, width of the positions, width of the latent, width of a value, length); common and large
#: have a head as DeepSeek-V2 has it.
LATENT = {
    "small": (2, 4, 16, 8, 32, 16, 16),
    "common": (4, 16, 128, 64, 512, 128, 512),
    "large": (8, 32, 128, 64, 512, 128, 2048),
    "skewed": (1, 64, 128, 64, 512, 128, 4096),
}
#: (batch, heads, capacity, head width): one new token each in the middle of the cache.
CACHES = {"small": (2, 2, 16, 16), "common": (8, 8, 1024, 64), "large": (16, 8, 4096, 64), "skewed": (1, 1, 65_536, 16)}
#: (batch, query heads, key heads, length, head width)
TURNED = {
    "small": (1, 4, 2, 8, 16),
    "common": (2, 16, 4, 256, 64),
    "large": (4, 32, 8, 1024, 64),
    "skewed": (64, 32, 8, 1, 128),
}
#: (sequences, vocabulary, tokens so far)
LOGITS = {"small": (2, 64, 8), "common": (16, 32_000, 512), "large": (64, 128_256, 2048), "skewed": (1, 262_144, 4096)}
#: (tokens, width, classes)
PROJECTED = {
    "small": (8, 16, 32),
    "common": (512, 256, 8192),
    "large": (1024, 1024, 32_000),
    "skewed": (4, 64, 128_256),
}


def _pair_flops(width: int, value_width: int) -> int:
    return 2 * width + 2 * value_width + 6


def _paged(shape: tuple[int, int, int, int, int]) -> Arguments:
    sequences, heads, shared, width, pages = shape
    cache = TensorSpec((sequences * pages, PAGE, shared, width))
    return {
        "query": TensorSpec((sequences, heads, width)),
        "key_cache": cache,
        "value_cache": cache,
        "page_table": indices((sequences, pages), sequences * pages),
        "lengths": TensorSpec((sequences,), "int64", range=(1, PAGE * pages)),
    }


def _cached_tokens(case: Case) -> int:
    """Return how many tokens the sequences have together: of lengths that are drawn, as many as on average."""
    lengths = case.tensor("lengths")
    if lengths.literal is not None:
        return sum(int(length) for length in lengths.literal)
    low, high = lengths.range or lengths.default_range
    return int(lengths.elements * (low + high - 1)) // 2


def _paged_flops(case: Case) -> int:
    heads, width = case.tensor("query").shape[-2:]
    return _cached_tokens(case) * heads * _pair_flops(width, case.tensor("value_cache").shape[-1])


def _paged_rows(case: Case) -> int:
    return sum(_cached_tokens(case) * tensor.nbytes // product(tensor.shape[:2])
               for tensor in case.tensors(("key_cache", "value_cache")))  # fmt: skip


def _paged_outputs(case: Case) -> tuple[TensorSpec, ...]:
    query, key = case.tensor("query"), case.tensor("key_cache")
    if query.shape[-1] != key.shape[-1] or query.shape[-2] % key.shape[-2]:
        raise InputError(
            f"`{case.operator}`: queries of {query.shape[-2]} heads of {query.shape[-1]} cannot share "
            f"{key.shape[-2]} heads of {key.shape[-1]}",
            hint="give queries a multiple of the keys' heads, of the same width",
        )
    return (like(query, (*query.shape[:-1], case.tensor("value_cache").shape[-1])),)


def _sequences(head: tuple[int, int], lengths: tuple[int, ...]) -> Arguments:
    tensor = TensorSpec((sum(lengths), *head))
    return {"query": tensor, "key": tensor, "value": tensor, "lengths": lengths}


def _packed_outputs(case: Case) -> tuple[TensorSpec, ...]:
    query, lengths = case.tensor("query"), wholes(case, "lengths")
    if sum(lengths) != query.shape[0] or min(lengths, default=0) < 1:
        raise InputError(
            f"`lengths` of `{case.operator}` add up to {sum(lengths)}, and there are {query.shape[0]} tokens",
            hint="give each sequence a length of at least 1, all together the first dimension of the query",
        )
    return (like(query, (*query.shape[:-1], case.tensor("value").shape[-1])),)


def _packed_flops(case: Case) -> int:
    _, heads, width = case.tensor("query").shape
    pairs = sum(length * (length + 1) // 2 for length in wholes(case, "lengths"))
    return pairs * heads * _pair_flops(width, case.tensor("value").shape[-1])


def _window(shape: tuple[int, int, int, int], window: int) -> Arguments:
    return {**{role: TensorSpec(shape) for role in ("query", "key", "value")}, "window": window}


def _window_flops(case: Case) -> int:
    *batch, length, width = case.tensor("query").shape
    window = whole(case, "window")
    if window < 1:
        raise InputError(f"`window` of `{case.operator}` is {window}, expected at least 1")
    pairs = sum(min(place + 1, window) for place in range(length))
    return product(tuple(batch)) * pairs * _pair_flops(width, case.tensor("value").shape[-1])


def _latent(shape: tuple[int, int, int, int, int, int, int]) -> Arguments:
    batch, heads, width, turned, rank, value_width, length = shape
    return {
        "query": TensorSpec((batch, heads, width)),
        "query_turned": TensorSpec((batch, heads, turned)),
        "latent": TensorSpec((batch, length, rank)),
        "key_turned": TensorSpec((batch, length, turned)),
        "key_weight": TensorSpec((heads, width, rank), range=(-0.1, 0.1)),
        "value_weight": TensorSpec((heads, rank, value_width), range=(-0.1, 0.1)),
    }


def _latent_outputs(case: Case) -> tuple[TensorSpec, ...]:
    query, value_weight = case.tensor("query"), case.tensor("value_weight")
    return (like(query, (*query.shape[:-1], value_weight.shape[-1])),)


def _latent_flops(case: Case) -> int:
    batch, heads, width = case.tensor("query").shape
    _, length, rank = case.tensor("latent").shape
    turned, value_width = case.tensor("query_turned").shape[-1], case.tensor("value_weight").shape[-1]
    pairs = length * _pair_flops(rank + turned, rank)
    return batch * heads * (2 * rank * (width + value_width) + pairs)


def _cache(shape: tuple[int, int, int, int]) -> Arguments:
    batch, heads, capacity, width = shape
    return {
        "cache": TensorSpec(shape),
        "update": TensorSpec((batch, heads, 1, width)),
        "position": capacity // 2,
    }


def _cache_outputs(case: Case) -> tuple[TensorSpec, ...]:
    cache, update, position = case.tensor("cache"), case.tensor("update"), whole(case, "position")
    if not 0 <= position <= cache.shape[2] - update.shape[2]:
        raise InputError(
            f"`position` of `{case.operator}` is {position}: an update of length {update.shape[2]} does not fit into a "
            f"cache of length {cache.shape[2]} there",
            hint="count from 0, and leave room for the update",
        )
    return (like(cache),)


def _turn(shape: tuple[int, int, int, int, int]) -> Arguments:
    batch, heads, shared, length, width = shape
    angles, weight = TensorSpec((length, width)), TensorSpec((width,), range=(0.5, 1.5))
    return {
        "query": TensorSpec((batch, heads, length, width)),
        "key": TensorSpec((batch, shared, length, width)),
        "query_weight": weight,
        "key_weight": weight,
        "cosine": angles,
        "sine": angles,
        "epsilon": 1e-6,
    }


def _turned(case: Case) -> tuple[TensorSpec, ...]:
    return like(case.tensor("query")), like(case.tensor("key"))


#: The category that attention and its cache are in, and that of what makes a token of logits.
SERVING, SAMPLING = "serving", "sampling"

_ATTENTION = (
    Operator(
        "paged_attention",
        SERVING,
        "one query for each sequence against keys and values on the pages of a cache, as far as it is long",
        sizes={size: _paged(shape) for size, shape in PAGED.items()},
        outputs=_paged_outputs,
        flops=_paged_flops,
        reads=("query", "page_table", "lengths"),
        picks=_paged_rows,
    ),
    Operator(
        "variable_length_attention",
        SERVING,
        "causal attention within sequences of several lengths, one after the other; (tokens, heads, width)",
        sizes={size: _sequences(*arguments) for size, arguments in PACKED.items()},
        outputs=_packed_outputs,
        flops=_packed_flops,
        differentiable=("query", "key", "value"),
        backward_flops=2,
        aliases=("varlen_attention",),
    ),
    Operator(
        "sliding_window_attention",
        SERVING,
        "causal attention in which each query sees the last `window` keys, its own among them",
        sizes={size: _window(*arguments) for size, arguments in WINDOWS.items()},
        outputs=same("query"),
        flops=_window_flops,
        differentiable=("query", "key", "value"),
        backward_flops=2,
    ),
    Operator(
        "multi_head_latent_attention",
        SERVING,
        "one query for each sequence against a latent cache that all heads share, the projections absorbed",
        sizes={size: _latent(shape) for size, shape in LATENT.items()},
        outputs=_latent_outputs,
        flops=_latent_flops,
        aliases=("mla",),
    ),
    Operator(
        "cache_append",
        SERVING,
        "the keys or values of new tokens written into a cache at `position`; (batch, heads, length, width)",
        sizes={size: _cache(shape) for size, shape in CACHES.items()},
        outputs=_cache_outputs,
        flops=none,
        mutates=("cache",),
        moves=lambda case: 2 * case.tensor("update").nbytes,
    ),
    # Four of `rms_norm` and three of `rotary_embedding` for each element.
    Operator(
        "rotary_qk_norm",
        SERVING,
        "queries and keys divided by their root mean square, weighted, and turned by angles of their places",
        sizes={size: _turn(shape) for size, shape in TURNED.items()},
        outputs=_turned,
        flops=lambda case: 7 * (case.tensor("query").elements + case.tensor("key").elements),
        differentiable=("query", "key", "query_weight", "key_weight"),
    ),
)


# From logits to a token. Operations: five for each element of a softmax and one for its running sum; one for each
# logit that is penalized. Sorting is none.


def _tokens(case: Case) -> tuple[TensorSpec, ...]:
    return (TensorSpec(case.tensor("logits").shape[:-1], "int64"),)


def _logits(sequences: int, vocabulary: int) -> TensorSpec:
    return TensorSpec((sequences, vocabulary), range=(-8.0, 8.0))


_SAMPLING = (
    Operator(
        "top_p_sampling",
        SAMPLING,
        "the token that a draw in [0, 1) picks among the most likely ones, which have a share of `p` together",
        sizes={
            size: {
                "logits": _logits(sequences, vocabulary),
                "draws": TensorSpec((sequences,), range=(0.0, 1.0)),
                "p": 0.9,
            }
            for size, (sequences, vocabulary, _) in LOGITS.items()
        },
        outputs=_tokens,
        flops=each(6, "logits"),
        rough=True,
        aliases=("nucleus_sampling",),
    ),
    Operator(
        "repetition_penalty",
        SAMPLING,
        "the logits of tokens that were there, divided by the `penalty` if positive, else multiplied by it",
        sizes={
            size: {
                "logits": _logits(sequences, vocabulary),
                "tokens": indices((sequences, length), vocabulary),
                "penalty": 1.25,
            }
            for size, (sequences, vocabulary, length) in LOGITS.items()
        },
        outputs=same("logits"),
        flops=each(1, "tokens"),
    ),
)


def _project(tokens: int, width: int, classes: int) -> Arguments:
    return {
        "data": TensorSpec((tokens, width)),
        "weight": TensorSpec((classes, width), range=(-0.1, 0.1)),
        "labels": indices((tokens,), classes),
    }


def _loss(case: Case) -> tuple[TensorSpec, ...]:
    data, weight = case.tensor("data"), case.tensor("weight")
    if data.shape[-1] != weight.shape[-1]:
        raise InputError(f"`{case.operator}`: the data has {data.shape[-1]} features, the weight {weight.shape[-1]}")
    return (like(data, ()),)


def _loss_flops(case: Case) -> int:
    tokens, width = case.tensor("data").shape
    return tokens * (case.tensor("weight").shape[0] * (2 * width + 5) + 1)


_LOSS = (
    Operator(
        "linear_cross_entropy",
        "fused_loss",
        "the mean cross entropy of a model's last layer, whose logits no one else needs",
        sizes={size: _project(*shape) for size, shape in PROJECTED.items()},
        outputs=_loss,
        flops=_loss_flops,
        differentiable=("data", "weight"),
        backward_flops=2,
        aliases=("fused_linear_cross_entropy",),
    ),
)


OPERATORS = (*_ATTENTION, *_SAMPLING, *_LOSS, *low_precision.OPERATORS, *state_space.OPERATORS)
