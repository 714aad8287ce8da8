"""Ranges of NVTX, by which NVIDIA's tools know whose a kernel is.

They are ranges of the process, not of a thread: backward launches its kernels from a thread of PyTorch's own.
"""

from __future__ import annotations

import torch

from opperf.backend import Unsupported


def start(name: str) -> int:
    """Begin a range, and return what ends it; raises `Unsupported` in a build without NVTX."""
    try:
        begun: int = torch.cuda.nvtx.range_start(name)
    except (
        AttributeError,
        RuntimeError,
    ) as error:  # a build for CPUs has a stub in its place, without ranges of this kind
        raise Unsupported(
            "this build of PyTorch has no NVTX, so no tool could tell whose a kernel is",
            slug="no_ranges",
            hint="take a build for CUDA",
        ) from error
    return begun


def end(begun: int) -> None:
    """End a range."""
    torch.cuda.nvtx.range_end(begun)
