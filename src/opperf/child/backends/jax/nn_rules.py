"""What the functions of `jax.nn`, `jax.ops` and `jax.image` are given where a square matrix is not enough."""

from __future__ import annotations

from collections.abc import Mapping

from opperf.child.backends.notation import Rule, alike

FUNCTIONS: Mapping[str, Rule] = {
    "nn.dot_product_attention": ("query: 1,n,4,16 | key: 1,n,4,16 | value: 1,n,4,16", {}),
    "nn.log1mexp": ("x: n,n 0.1..2", {}),
    "nn.scaled_matmul": ("lhs: 1,64,64 | rhs: 1,64,64 | lhs_scales: 1,64,2 | rhs_scales: 1,64,2", {}),
    **alike(
        "data: nn,4 | segment_ids: nn int32 0..8",
        {"num_segments": 8},
        *(f"ops.segment_{kind}" for kind in ("min", "prod")),
    ),
    "image.scale_and_translate": (
        (
            "image: n,n,3 | shape = (16, 16, 3) | spatial_dims = (0, 1) | scale: 2 1..2 | translation: 2 |"
            " method = 'linear'"
        ),
        {},
    ),
}
