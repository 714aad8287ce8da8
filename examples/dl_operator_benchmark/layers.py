"""Layers of Gluon: alone, hybridized, and what is commonly fused."""

from opperf.compat.dl_operator_benchmark.gluon import Conv2D, Conv2DBatchNorm, Conv2DRelu

images = {"data": (4, 3, 32, 32)}
for layer in (
    Conv2D(inputs=images, warmup=1, runs=3),
    Conv2D(inputs={**images, "hybridize": True}, warmup=1, runs=3),
    Conv2DRelu(inputs=images, warmup=1, runs=3),
    Conv2DBatchNorm(inputs=images, warmup=1, runs=3),
):
    layer.run_benchmark()
    layer.print_benchmark_results()
