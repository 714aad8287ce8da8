"""A call measured in the process that makes it: by the engine and the rules of a child, and nothing set up for it."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from opperf.child.measure.disturbance import ProcessCounters
from opperf.child.measure.engine import Engine
from opperf.child.worker.directions import ready
from opperf.domain.backend import Backend, Unsupported
from opperf.domain.call import Bound
from opperf.domain.case import Argument, Case
from opperf.domain.errors import InputError
from opperf.domain.kernels import wants_kernels
from opperf.domain.measurement import Outcome
from opperf.domain.plan import Settings, Trial
from opperf.domain.reason import Warning
from opperf.domain.registry import parse_device
from opperf.domain.tensor import TensorSpec

#: By the module that a type or a function comes from, the framework that it belongs to; NumPy last, whose arrays go
#: into the functions of others too.
FRAMEWORKS = {"torch": "torch", "jax": "jax", "jaxlib": "jax", "tensorflow": "tensorflow", "mxnet": "mxnet"}
NUMPY = "numpy"
#: Frameworks whose profiler has run in this process: launches take longer from then on.
_WATCHED: set[str] = set()
ONE_PROCESS = Warning(
    "one_process",
    "measured in the calling process alone: another start of it may be several per cent faster or slower",
    "`opperf.run` measures in fresh processes, and `opperf.compare` tells small changes",
)


def measure_call(
    call: Callable[..., Any], arguments: tuple[Any, ...], keywords: Mapping[str, Any], settings: Settings
) -> tuple[Outcome, Mapping[str, Any]]:
    """Return the time of a call in this process, and the facts of its framework.

    Threads, allocator and caches stay as the process has them. Arguments that a call changes are put back before the
    next one. Raises what the call raises, and `InputError` for one that cannot be measured here.
    """
    by_name = _by_name(call, arguments, keywords)
    return measure_bound(Bound(call, arguments, keywords, values=by_name, as_is=True), settings)


def measure_bound(bound: Bound, settings: Settings) -> tuple[Outcome, Mapping[str, Any]]:
    """Return the time of a call whose arguments have names, as `measure_call` does."""
    values = tuple(bound.values.values())
    backend = _backend(_framework(bound.function, values), _device(values))
    put_back = _snapshot(backend, values)

    def bind() -> Bound:
        put_back()
        return bound

    try:
        sound = ready(backend, bind, "forward", None, "caller", random=True)
        engine = Engine(backend, ProcessCounters())
        measurement = engine.measure(sound.work, settings, output_bytes=sound.output_bytes, took=sound.took)
        if backend.name in _WATCHED:
            measurement = replace(measurement, facts={**measurement.facts, "after_profiler": True})
        if wants_kernels(settings) and backend.kernel_watch() is not None:
            _WATCHED.add(backend.name)
            measurement = engine.kernels(sound.work, settings.runs).added_to(measurement)
        sound.check()
        sound.release()
    except Unsupported as error:
        raise InputError(str(error), hint=error.hint, slug=error.slug) from error
    finally:
        put_back()
    case = _case(backend, bound.function, bound.values)
    trial = Trial(case, replace(backend.side, implementation=case.operator), "forward")
    facts = backend.facts()
    measurement = replace(measurement, warnings=(*measurement.warnings, ONE_PROCESS))
    return Outcome(trial, 0, "ok", measurement, version=str(facts.get("version"))), facts


def _framework(call: Callable[..., Any], values: tuple[Any, ...]) -> str:
    """Return the framework of the arguments, else that of the function, else NumPy; raises `InputError` without it."""
    homes = [_home(type(value)) for value in _leaves(values)]
    homes += [_home(call), _home(type(call)), *(_home(value) for value in getattr(call, "__globals__", {}).values())]
    own = next((FRAMEWORKS[home] for home in homes if home in FRAMEWORKS), None)
    if own is not None:
        return own
    if NUMPY not in sys.modules and find_spec(NUMPY) is None:
        raise InputError("nothing here says which framework is called", hint="import it, or give one of its arrays")
    return NUMPY


def _home(value: object) -> str:
    name = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)
    return str(name or "").partition(".")[0]


def _snapshot(backend: Backend, values: tuple[Any, ...]) -> Callable[[], None]:
    """Return a function that puts the values of tensors back; nothing where tensors never change."""
    tensors = backend.leaves(list(values))
    if backend.immutable or not tensors:
        return lambda: None
    with suppress(Unsupported):
        return backend.snapshot(tensors)
    return lambda: None


def _leaves(value: object) -> Iterator[object]:
    """Yield the values in lists, tuples and mappings, themselves included."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, Mapping):
        yield from _leaves(list(value.values()))
    else:
        yield value


def _device(values: tuple[Any, ...]) -> str:
    """Return the device of the first tensor that is on another one than the CPU."""
    for value in _leaves(values):
        device = getattr(value, "device", None)
        kind = getattr(device, "type", None) or getattr(device, "platform", None)
        if isinstance(kind, str) and kind != "cpu":
            index = getattr(device, "index", None)
            if index is None:
                index = getattr(device, "id", 0)
            return parse_device(f"{'cuda' if kind == 'gpu' else kind}:{index or 0}")
    return "cpu"


def _backend(framework: str, device: str) -> Backend:
    """Return the backend of a framework that this process uses itself; whether a graph is recorded is its affair."""
    runtime = import_module(f"opperf.child.backends.{framework}.runtime")
    backend: Backend = runtime.running_backend(device)
    return backend


def _by_name(call: Callable[..., Any], arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return all arguments by name; those of a function that tells none by their places. A method has `self` too."""
    owner = getattr(call, "__self__", None)
    receiver = {} if owner is None or inspect.ismodule(owner) or inspect.isclass(owner) else {"self": owner}
    try:
        return {**receiver, **inspect.signature(call).bind(*arguments, **keywords).arguments}
    except (TypeError, ValueError):
        return {**receiver, **{f"argument {place}": value for place, value in enumerate(arguments, 1)}, **keywords}


def _case(backend: Backend, call: Callable[..., Any], by_name: Mapping[str, Any]) -> Case:
    """Return the case that a table shows: tensors by their shapes, what else is plain as it is, the rest by type."""
    flat: dict[str, Argument] = {}
    for name, value in by_name.items():
        leaves = backend.leaves(value)
        if len(leaves) == 1 and leaves[0] is value:
            flat[name.replace(" ", "_")] = backend.spec(value)
        else:
            several = {f"{name}_{place}".replace(" ", "_"): backend.spec(leaf) for place, leaf in enumerate(leaves, 1)}
            flat |= several
            if not several:
                flat[name.replace(" ", "_")] = value if _is_plain(value) else type(value).__name__
    inputs = {name: value for name, value in flat.items() if isinstance(value, TensorSpec)}
    return Case(_name(call), inputs, {name: value for name, value in flat.items() if name not in inputs})


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _name(call: Callable[..., Any]) -> str:
    """Return the name of a call in tables."""
    qualified = str(getattr(call, "__qualname__", None) or type(call).__qualname__)
    if any(part.startswith("_") for part in qualified.split(".")):
        qualified = qualified.rpartition(".")[2]
    module = getattr(call, "__module__", None) or type(call).__module__
    return qualified if module in ("__main__", "builtins", None) else f"{module}.{qualified}"
