"""What an operator written in Python costs: three additions, a custom operator that adds one, three additions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mxnet as mx

from opperf.child.backends.mxnet.custom_add_one import NAME
from opperf.compat.dl_operator_benchmark.layers import filled
from opperf.compat.in_process import InProcess, Subject


@dataclass(frozen=True)
class CustomAddition:
    """A custom operator among native ones."""

    summary: str = "a custom operator that adds one, between three native additions before it and three behind"

    def key(self, parameters: Mapping[str, Any], direction: str) -> str:
        """Return the key of a result."""
        return f"MX_CustomOp_Elementwise_Add_{direction.title()}_Time"

    def parameters(self) -> dict[str, Any]:
        """Return the shape and how it is filled."""
        return {"data": (1000, 1), "data_initializer": mx.nd.normal, "run_backward": True, "dtype": "float32"}

    def subject(self, here: InProcess, parameters: Mapping[str, Any], context: Any) -> Subject:
        """Return what is measured."""
        return here.of_function(added, [filled(here, "data", parameters, context)])


def added(data: Any) -> Any:
    """Return data to which one was added seven times, the fourth time by the custom operator."""
    return mx.nd.Custom(data + 1 + 1 + 1, op_type=NAME) + 1 + 1 + 1
