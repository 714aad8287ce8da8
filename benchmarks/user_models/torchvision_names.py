"""Let torchvision be imported where its own library does not load: it asks for the names of operators of that library.

The library needs the build of PyTorch that it was made for. The models need none of its operators, but transformers
imports torchvision wherever it is installed.
"""

from __future__ import annotations

import torch

for name in ("nms", "qnms"):
    torch.library.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
