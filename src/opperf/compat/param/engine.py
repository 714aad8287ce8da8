"""opperf's engine over the PyTorch of this process, made once for each device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from opperf.catalog.param.values import argument
from opperf.child.measure.disturbance import ProcessCounters
from opperf.child.measure.engine import Engine
from opperf.child.measure.host import fix_allocator
from opperf.child.worker.arguments import Maker
from opperf.domain.registry import device_named

if TYPE_CHECKING:
    from opperf.domain.backend import Backend


@dataclass(frozen=True)
class Here:
    """A backend in this process, and what measures with it."""

    backend: Backend
    engine: Engine

    def value(self, spec: Mapping[str, Any], place: str) -> Any:
        """Return the value of a checked argument of a config; floating tensors ask for gradients unless told not to."""
        value = Maker(self.backend, place).make(argument(spec, place), "value")
        if spec["type"] == "tensor" and spec.get("requires_grad") is not False and value.is_floating_point():
            value.requires_grad_(True)
        return value


@cache
def here(device: str) -> Here:
    """Return the engine for a device; PyTorch keeps the number of threads that it has."""
    fix_allocator()
    from opperf.child.backends.torch import runtime

    backend = runtime.started(device_named(device))
    return Here(backend, Engine(backend, ProcessCounters()))
