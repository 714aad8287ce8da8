"""PyTorch's operator_benchmark: its command line, its lines, its CSV and JSON, measured by opperf.

What its benchmark files import is `child/backends/torch/operator_benchmark.py`.
"""
