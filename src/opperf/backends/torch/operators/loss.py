"""PyTorch's losses."""

from __future__ import annotations

from opperf.backends.call import Binding, call

#: `kl_div` warns that its mean over all elements, which the catalog wants, will be over samples in a later PyTorch.
SAME = ("mse_loss", "l1_loss", "cross_entropy", "nll_loss", "binary_cross_entropy_with_logits", "kl_div")

BINDINGS: dict[str, Binding] = {
    **{name: call(f"torch.nn.functional.{name}", "input=data, target=labels", "reduction=reduction") for name in SAME},
    "smooth_l1_loss": call(
        "torch.nn.functional.smooth_l1_loss", "input=data, target=labels", "reduction=reduction, beta=beta"
    ),
}
