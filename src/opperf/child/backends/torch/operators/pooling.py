"""PyTorch's pooling. Averages count padding as zeros, and a stride of None is the kernel: its defaults."""

from __future__ import annotations

from opperf.child.backends.call import Binding, call

BINDINGS: dict[str, Binding] = {
    **{
        name: call(f"torch.nn.functional.{name}", "input=data, kernel_size=kernel", "stride=stride, padding=padding")
        for name in ("max_pool1d", "avg_pool1d", "max_pool2d", "avg_pool2d", "max_pool3d", "avg_pool3d")
    },
    "global_avg_pool2d": call("torch.nn.functional.adaptive_avg_pool2d", "input=data, output_size=1"),
    "global_max_pool2d": call("torch.nn.functional.adaptive_max_pool2d", "input=data, output_size=1"),
    "global_avg_pool1d": call("torch.nn.functional.adaptive_avg_pool1d", "input=data, output_size=1"),
    "global_max_pool1d": call("torch.nn.functional.adaptive_max_pool1d", "input=data, output_size=1"),
    "global_avg_pool3d": call("torch.nn.functional.adaptive_avg_pool3d", "input=data, output_size=1"),
    "global_max_pool3d": call("torch.nn.functional.adaptive_max_pool3d", "input=data, output_size=1"),
    "adaptive_avg_pool2d": call("torch.nn.functional.adaptive_avg_pool2d", "input=data, output_size=output_size"),
    "lp_pool2d": call(
        "torch.nn.functional.lp_pool2d", "input=data, norm_type=power, kernel_size=kernel", "stride=stride"
    ),
}
