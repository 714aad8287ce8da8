"""PyTorch's attention, which picks one of its kernels by the inputs."""

from __future__ import annotations

from opperf.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    "scaled_dot_product_attention": call(
        "torch.nn.functional.scaled_dot_product_attention", "query=query, key=key, value=value", "is_causal=causal"
    ),
}
