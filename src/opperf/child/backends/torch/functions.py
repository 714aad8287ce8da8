"""Which of PyTorch's functions are operators, and where a path finds them.

A path may come from a file, so it reaches what computes on tensors and nothing else: `torch.load` unpickles,
`torch.hub.load` downloads and runs code, `torch.ops.load_library` loads machine code, `torch.from_file` writes files.
Hence only these are found:

* `torch.add`: what PyTorch generates from its list of operators, and what `torch.functional` composes of them;
* `torch.nn.functional.relu`, `torch.linalg.norm` and functions right below the other modules of `HOMES`;
* `torch.Tensor.add`: methods of a tensor;
* `aten::add.Tensor`, `torch.ops.aten.add`: registered operators, with or without an overload.

Operators of PyTorch's own list, `opinfo::linalg.svd`, are in `opinfo.py`.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from keyword import iskeyword
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from opperf.child.backends.naming.paths import Refusal, function_at
from opperf.child.backends.torch.specs import Parameter
from opperf.domain.backend import Unsupported

#: Each holds operators right below it, and a few imports that `_operator` leaves out.
HOMES = {
    "torch.Tensor": torch.Tensor,
    "torch.fft": torch.fft,
    "torch.functional": torch.functional,
    "torch.linalg": torch.linalg,
    "torch.nn.functional": torch.nn.functional,
    "torch.signal.windows": torch.signal.windows,
    "torch.sparse": torch.sparse,
    "torch.special": torch.special,
}
#: Where `HOMES` import what helps their Python code from.
FOREIGN = ("typing", "torch._C", "torch._jit_internal", "torch.overrides")
VARIABLE_FUNCTIONS = torch._C._VariableFunctions
REGISTERED = (torch._ops.OpOverload, torch._ops.OpOverloadPacket)
#: Registered operators that open the file they are given the name of; with `shared`, the first makes it. TorchScript's
#: `save` writes one. The last two write past their arrays unless the lengths that they are given add up exactly.
REFUSALS = ("from_file", "load_tensor", "aten::save", "aten::segment_reduce", "aten::_segment_reduce_backward")

#: The packages that register the operators of a namespace when they are imported, and an environment that has each.
PACKAGES = {
    "fbgemm": ("fbgemm_gpu", "`--environment fbgemm`"),
    "torchvision": ("torchvision", "name an environment that has it: `--environment python=PATH`"),
    "torchaudio": ("torchaudio", "name an environment that has it: `--environment python=PATH`"),
    "xformers": ("xformers.ops", "name an environment that has it: `--environment python=PATH`"),
}


def other_paths(name: str, overload: str = "default") -> tuple[str, ...]:
    """Return where else an operator of this name is found: as a method, and as what it sends on to in ATen."""
    return (f"torch.Tensor.{name}", f"aten::{name}", f"aten::{name}.{overload}")


def resolve(path: str) -> Callable[..., Any]:
    """Return the operator at a path that users write; raises `LookupError`.

    Raises `Unsupported` for one of a package that does not import here.
    """
    namespace, registered, name = path.partition("::")
    candidate = _registered(namespace, name) if registered else function_at(path, {"torch": torch}, "torch")
    if candidate is None and namespace in PACKAGES:
        _import_package(path, *PACKAGES[namespace])
        candidate = _registered(namespace, name)
    if is_refused(path):
        raise Refusal(path, "it reads or writes files, or memory outside its arrays")
    if not _operator(path, candidate):
        raise LookupError(path)
    function: Callable[..., Any] = candidate
    return function


def names() -> list[str]:
    """Return the paths of functions and of registered operators; methods of tensors are the same once more."""
    functions = [
        f"{home}.{name}"
        for home, module in {"torch": torch, **HOMES}.items()
        if home != "torch.Tensor"
        for name in dir(module)
        if not name.startswith("_") and _operator(f"{home}.{name}", getattr(module, name))
    ]
    registered = {name.partition(".")[0] for name in torch._C._dispatch_get_all_op_names()}
    aten = {name for name in registered if name.startswith("aten::") and name.removeprefix("aten::") not in REFUSALS}
    return sorted(functions) + sorted(aten)


def overload(path: str) -> Any:
    """Return the overload of a registered operator: the one that is named, else the first; raises `LookupError`."""
    packet: Any = resolve(path)
    return packet if isinstance(packet, torch._ops.OpOverload) else getattr(packet, packet.overloads()[0])


def is_refused(path: str) -> bool:
    """Whether a path is one that files are read or written by."""
    return any(word in path for word in REFUSALS)


def _import_package(path: str, package: str, hint: str) -> None:
    """Import what registers an operator; raises `Unsupported` where that is not possible."""
    try:
        importlib.import_module(package)
    except (ImportError, OSError) as error:
        raise Unsupported(
            f"`{path}` is of the package {package}, which does not import here: {error}", slug="no_package", hint=hint
        ) from error


def _registered(namespace: str, name: str) -> Any:
    packet, _, overload = name.partition(".")
    packet_object = getattr(getattr(torch.ops, namespace, None), packet, None)
    return getattr(packet_object, overload, None) if overload else packet_object


def _operator(path: str, function: Any) -> bool:
    """Whether the object at a path computes on tensors."""
    home, _, name = path.rpartition(".")
    if not callable(function) or inspect.isclass(function) or is_refused(path):
        return False
    if isinstance(function, REGISTERED):
        return not is_refused(str(getattr(function, "overloadpacket", function)._qualified_op_name))
    if home == "torch":
        return hasattr(VARIABLE_FUNCTIONS, name) or getattr(function, "__module__", None) == "torch.functional"
    return home in HOMES and getattr(function, "__module__", None) not in FOREIGN


#: Takes each call: the path of its operator, that operator, and what it was called with.
Seen = Callable[[str, Any, Sequence[Any], Mapping[str, Any]], None]


class Watch(TorchDispatchMode):  # type: ignore[misc]
    """Reports every registered operator before it is called."""

    def __init__(self, note: Seen) -> None:
        super().__init__()
        self._note = note

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Tell, and call."""
        if isinstance(func, torch._ops.OpOverload):
            path = f"{func.namespace}::{func.overloadpacket.__name__}.{func._overloadname}"
            self._note(path, func, args, kwargs or {})
        return func(*args, **(kwargs or {}))


def parameters(overload: Any) -> list[Parameter]:
    """Return the parameters of an ATen operator, as its schema names them; Python has its own use for `from`."""
    return [
        Parameter(
            argument.name,
            argument.default_value if argument.has_default_value() else Parameter.default,
            argument.kwarg_only,
            unnamed=iskeyword(argument.name),
        )
        for argument in overload._schema.arguments
    ]


def arguments(function: Any) -> dict[str, bool] | None:
    """Return the arguments of a registered operator or a built-in function, and whether each may go by place.

    They are those of all overloads, in the order of their places. None for any other function.
    """
    schemas = _schemas(function)
    if not schemas:
        return None
    places: dict[str, int] = {}
    by_name: set[str] = set()
    for schema in schemas:
        for place, argument in enumerate(schema.arguments):
            if argument.kwarg_only or places.setdefault(argument.name, place) != place:
                by_name.add(argument.name)
            places.setdefault(argument.name, len(schema.arguments))
    renamed = {"self": "input"} if inspect.isbuiltin(function) else {}  # as Python's functions call it
    return {renamed.get(name, name): name not in by_name for name in sorted(places, key=places.__getitem__)}


def defaults(function: Any) -> dict[str, object]:
    """Return the defaults of arguments of a registered or built-in function.

    What only some overloads have can be left out: it is None then.
    """
    schemas, result = _schemas(function), {}
    for name in {own.name for schema in schemas for own in schema.arguments}:
        arguments = [next((one for one in schema.arguments if one.name == name), None) for schema in schemas]
        if any(one is None or one.has_default_value() for one in arguments):
            values = [one.default_value for one in arguments if one is not None and one.has_default_value()]
            result[name] = None if None in arguments else values[0]
    return result


def signatures(function: Any) -> list[str]:
    """Return the schemas of all overloads of a registered operator, as PyTorch writes them; none for another."""
    if isinstance(function, torch._ops.OpOverload):
        return [str(function._schema)]
    if isinstance(function, torch._ops.OpOverloadPacket):
        return [str(getattr(function, overload)._schema) for overload in function.overloads()]
    return []


def _schemas(function: Any) -> list[Any]:
    """Return the schemas of a function's overloads, of those on tensors where there are any.

    TorchScript has overloads on lists, numbers and text. None for what is neither registered nor built in.
    """
    if isinstance(function, torch._ops.OpOverload):
        return [function._schema]
    if isinstance(function, torch._ops.OpOverloadPacket):
        schemas = [getattr(function, overload)._schema for overload in function.overloads()]
    elif inspect.isbuiltin(function) or inspect.ismethoddescriptor(function):
        schemas = torch._C._jit_get_schemas_for_operator(f"aten::{function.__name__}")
    else:
        return []
    on_tensors = [schema for schema in schemas if any("Tensor" in str(own.type) for own in schema.arguments)]
    return on_tensors or list(schemas)
