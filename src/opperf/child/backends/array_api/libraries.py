"""What the array API standard does not say of a library: how to start it, to wait for it, and to ask for its memory.

https://data-apis.org/array-api/latest/ speaks of functions and arrays. When a call is done, how many threads it takes
and what it allocates is each library's own affair, so it stands here, one short function for each. A library that
nobody has described is still measured: each result is copied to the host, and the record says that the copy is timed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from opperf.child.backends.numpy.runtime import of_call
from opperf.domain.backend import Unsupported
from opperf.domain.call import Work
from opperf.domain.dataclass import dataclass
from opperf.domain.device import memory_share
from opperf.domain.measurement import Memory
from opperf.domain.plan import Side

#: A library's functions by the standard's names, where its own module differs from the standard.
COMPAT = "array_api_compat"


@dataclass(frozen=True)
class Library:
    """A library that was imported, and what is known of it beside the standard.

    `namespace` has the functions of the standard: `module` itself, or what array-api-compat makes of it. `wait` gets
    the results, where it `collects` them; `waits` says how, for the record. `memory` measures one call. `device` is
    the one that it was started for, of its `devices`, and `place` are the keywords that make an array there. `free`
    tells the bytes that are free on it, and `trim` gives back what is kept for later arrays. `lacks` are operators
    whose functions do not do what the standard says, with the reasons.
    """

    module: Any
    namespace: Any
    waits: str
    wait: Callable[[Sequence[Any]], None]
    collects: bool = False
    to_numpy: Callable[[Any], Any] = np.asarray
    memory: Callable[[Work], Memory | None] = lambda work: None
    device: str = "cpu"
    devices: Sequence[str] = ()
    free: Callable[[], int | None] = lambda: None
    trim: Callable[[], None] = lambda: None
    place: Mapping[str, Any] = field(default_factory=dict)
    lacks: Mapping[str, str] = field(default_factory=dict)


def load(name: str, side: Side) -> Library:
    """Import a library and return what is known of it.

    Raises `Unsupported` for a device that it does not have, and for a module that does not keep the standard.
    """
    library = LIBRARIES.get(name, _any_library)(name, side)
    if not hasattr(library.namespace, "asarray"):
        raise Unsupported(
            f"`{name}` does not follow the array API standard: it has no `asarray`", slug="no_such_operator"
        )
    if side.device != library.device:
        message = f"opperf runs {name} on `{library.device}` only, not on `{side.device}`"
        raise Unsupported(message, slug="no_such_device", hint=f"`--device {library.device}`")
    return library


def best_device(side: Side) -> str:
    """Return the device that a library is best started for: a GPU where it has one."""
    name = side.framework.partition(":")[2]
    if name == "cupy":
        return "cuda:0"
    if name == "dpnp":
        return next((one for one in _sycl_devices() if ":gpu:" in one), "cpu")
    return "cpu"


def _array_api_strict(name: str, side: Side) -> Library:
    """Its arrays are NumPy's, and a call is done when it returns."""
    module = import_module(name)
    return Library(module, module, "a call is done when it returns", lambda outputs: None, memory=of_call)


def _dask_array(name: str, side: Side) -> Library:
    """Results are graphs. Two that are computed together are computed once where they are alike, so none are.

    Each block is NumPy's; the scheduler is Dask's synchronous one for one thread.
    """
    dask: Any = import_module("dask")
    scheduler = "synchronous" if side.threads == 1 else "threads"
    dask.config.set(scheduler=scheduler, num_workers=side.threads)

    def wait(outputs: Sequence[Any]) -> None:
        for output in _arrays(outputs):
            output.compute()

    def memory(work: Work) -> Memory | None:
        return of_call(replace(work, function=lambda *words, **more: wait([work.function(*words, **more)])))

    namespace = import_module(f"{COMPAT}.{name}")
    lacks = {
        "cholesky": "its `linalg.cholesky` returns the upper factor",
        "svd_values": "its `linalg.svdvals` asks for matrices that Dask does not compute",
    }
    waits = f"`compute()` of each result by itself, scheduler {scheduler}"
    return Library(import_module(name), namespace, waits, wait, collects=True, memory=memory, lacks=lacks)


def _mlx_core(name: str, side: Side) -> Library:
    """Results are computed when they are asked for, on a thread of the default stream."""
    module = import_module(name)
    module.set_default_device(module.cpu)

    def memory(work: Work) -> Memory | None:
        module.reset_peak_memory()
        before = module.get_active_memory()
        module.eval(work.function(*work.make_arguments(), **work.keywords))
        return Memory(max(0, module.get_peak_memory() - before), None, "mlx.core.get_peak_memory")

    return Library(module, module, "`mlx.core.eval` of the results", module.eval, True, np.array, memory)


def _dpnp(name: str, side: Side) -> Library:
    """Calls enter a SYCL queue. Its CPU device runs on threads of TBB, which only a limit to CPUs keeps in number.

    CPU over wall time of a matrix product on two CPUs was 1.5 with `DPCPP_CPU_NUM_CUS=1` and with every variable of
    OpenMP, MKL and TBB, and 1.0 on one CPU. Devices go by SYCL's names, as `level_zero:gpu:0`.
    """
    on_cpu = side.device == "cpu"
    if on_cpu or ":cpu:" in side.device:
        _keep_to(side.threads)
    if on_cpu:
        os.environ.setdefault("ONEAPI_DEVICE_SELECTOR", "*:cpu")
    present = _sycl_devices()
    if not on_cpu and side.device not in present:
        message = f"{name} has no device `{side.device}` here"
        raise Unsupported(message, slug="no_such_device", hint=f"it has {', '.join(present) or 'none'}")
    module = import_module(name)
    place = {} if on_cpu else {"device": side.device}
    queue = module.zeros(1, **place).sycl_queue
    return Library(
        *(module, module, "`sycl_queue.wait()`", lambda outputs: queue.wait()),
        to_numpy=module.asnumpy,
        device=side.device,
        devices=(*present, "cpu"),
        place=place,
    )


def _sycl_devices() -> list[str]:
    """Return SYCL's devices by the names that select them, those of GPUs first.

    The loader of OpenCL does not look for a driver that pip installed.
    """
    driver = Path(sys.prefix) / "lib" / "libintelocl.so"
    if driver.exists():
        os.environ.setdefault("OCL_ICD_FILENAMES", str(driver))
    names = [str(device.filter_string) for device in import_module("dpctl").get_devices()]
    return sorted(names, key=lambda name: ":gpu:" not in name)


def _cupy(name: str, side: Side) -> Library:
    """Calls enter a CUDA stream. Its pool of memory grows, up to the part of the device that it may take."""
    share = memory_share(os.environ)
    if share < 1:
        os.environ.setdefault("CUPY_GPU_MEMORY_LIMIT", f"{share:.0%}")
    module = import_module(name)
    index = int(side.device.partition(":")[2] or 0)
    gpu = module.cuda.Device(index)
    try:
        gpu.use()
    except Exception as error:  # there is no driver, or no such GPU: of no common type
        raise Unsupported(f"CuPy has no device `cuda:{index}` here", slug="no_device", hint=str(error)) from error
    pool = module.get_default_memory_pool()

    def free() -> int:
        left, total = gpu.mem_info
        return int(min(left + pool.free_bytes(), share * total - pool.used_bytes()))

    return Library(
        *(
            module,
            import_module(f"{COMPAT}.{name}"),
            "`synchronize()` of the device",
            lambda outputs: gpu.synchronize(),
        ),
        to_numpy=module.asnumpy,
        device=f"cuda:{index}",
        free=free,
        trim=pool.free_all_blocks,
    )


def _any_library(name: str, side: Side) -> Library:
    """Nothing is known of it: results are copied to the host, which cannot end before they are there."""
    _keep_to(side.threads)
    module = namespace = import_module(name)
    try:
        namespace = import_module(f"{COMPAT}.{name}")
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith(COMPAT):
            raise

    def wait(outputs: Sequence[Any]) -> None:
        for output in _arrays(outputs):
            _on_host(output)

    return Library(module, namespace, "unknown: each result is copied to the host", wait, True, _on_host)


LIBRARIES: Mapping[str, Callable[[str, Side], Library]] = {
    "array_api_strict": _array_api_strict,
    "cupy": _cupy,
    "dask.array": _dask_array,
    "dpnp": _dpnp,
    "mlx.core": _mlx_core,
}


def _keep_to(count: int) -> None:
    """Keep this process on so many of its CPUs, for a library whose threads nothing else limits."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-count:])


def _arrays(value: Any) -> list[Any]:
    """Return every array in a result."""
    if isinstance(value, (tuple, list)):
        return [array for item in value for array in _arrays(item)]
    return [value] if hasattr(value, "dtype") else []


def _on_host(array: Any) -> Any:
    try:
        return np.asarray(array)
    except (TypeError, RuntimeError):
        return np.from_dlpack(array)
