"""What can be measured by name: the user's own operators, and every function and layer of PyTorch."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from opperf.child.measure.disturbance import ProcessCounters
from opperf.child.measure.engine import Engine
from opperf.child.measure.host import fix_allocator
from opperf.child.worker.arguments import Maker
from opperf.domain.backend import Unsupported
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.registry import parse_device
from opperf.domain.workload import Registry
from opperf.param.cases import argument
from opperf.param.names import meaning

if TYPE_CHECKING:
    from opperf.domain.backend import Backend


@dataclass(frozen=True)
class DeviceEngine:
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
def device_engine(device: str) -> DeviceEngine:
    """Return the engine for a device; PyTorch keeps the number of threads that it has."""
    fix_allocator()
    from opperf.child.backends.torch import runtime

    backend = runtime.running_backend(parse_device(device))
    return DeviceEngine(backend, Engine(backend, ProcessCounters()))


class OperatorInterface(abc.ABC):
    """An operator: built where it needs that, then called. `device` is set before it is built."""

    device: str | None = None

    def build(self, *args: Any, **kwargs: Any) -> None:  # noqa: B027 - most operators build nothing
        """Build what is called."""

    def cleanup(self) -> None:  # noqa: B027
        """Give back what `build` made."""

    @abc.abstractmethod
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute."""

    def create_grad(self) -> None:
        """Make the gradient of the result, untimed; an operator that is measured backward says how."""
        raise NotImplementedError(f"{type(self).__name__} has no `create_grad`, which a backward needs")

    def backward(self) -> None:
        """Compute the gradients of the last call; an operator that is measured backward says how."""
        raise NotImplementedError(f"{type(self).__name__} has no `backward`")


class NamedOperator(OperatorInterface):
    """A function or a layer of PyTorch, by its path. opperf itself computes its gradients."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.parameters: tuple[Any, ...] = ()
        self._called: Callable[..., Any] | None = None

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Build a layer; a function has nothing to build."""
        layer = device_engine(self.device or "cpu").backend.layer(self.path, args, kwargs)
        if layer is not None:
            self._called, self.parameters = layer.function, layer.parameters

    def cleanup(self) -> None:
        """Drop the layer."""
        self._called, self.parameters = None, ()

    @property
    def function(self) -> Callable[..., Any]:
        """What is called: the layer, or the function."""
        if self._called is None:
            self.build()
            self._called = self._called or device_engine(self.device or "cpu").backend.resolve(self.path)
        return self._called

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call it."""
        return self.function(*args, **kwargs)


OPERATORS: Registry[OperatorInterface] = Registry("operator")


def register_operator(name: str, operator: OperatorInterface) -> None:
    """Make an operator known by a name; raises `ValueError` for one that is taken."""
    OPERATORS.add(name, operator)


def register_operators(operators: Mapping[str, OperatorInterface]) -> None:
    """Make several operators known."""
    for name, operator in operators.items():
        register_operator(name, operator)


def operator(name: str, device: str) -> OperatorInterface:
    """Return the operator of a name on a device; raises `InputError` for one that neither you nor PyTorch has."""
    if name in OPERATORS:
        entry = OPERATORS.find(name)
    else:
        sense = meaning(name)
        if sense is None or sense.framework != "torch":
            raise InputError(f"no operator `{name}`", hint="register it, or name one of PyTorch's", slug="param_config")
        entry = NamedOperator(sense.path)
        try:
            device_engine(device).backend.resolve(sense.path)
        except (LookupError, Unsupported) as error:
            raise InputError(f"PyTorch has no operator `{name}`", slug="param_config") from error
    entry.device = device
    return entry
