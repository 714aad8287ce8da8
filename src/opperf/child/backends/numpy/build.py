"""How NumPy was built: the BLAS it calls and the vector instructions it uses on this machine.

NumPy reports it since 1.25 with `show_config(mode="dicts")`; before, its `__config__` module has the names.

What runs in a call in NumPy: the vectorized loop that a ufunc has on this CPU. NumPy has no profiler.
`numpy.lib.introspect` tells the loops since 2.0. Of everything else there is the build: its BLAS, and the instruction
sets that it may use here.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from opperf.domain.call import Work
from opperf.domain.explanation import Event, Explanation


def facts() -> dict[str, Any]:
    """Return build facts as JSON values; what a version does not tell is None."""
    build = _config()
    blas = build.get("Build Dependencies", {}).get("blas", {})
    compiler = build.get("Compilers", {}).get("c", {})
    return {
        "build": _join(compiler.get("name"), compiler.get("version")),
        "blas": _join(blas.get("name"), blas.get("version")) or _link(),
        "blas_configuration": blas.get("openblas configuration"),
        "isa": _instructions(),
        "commit": getattr(np.version, "git_revision", None),
    }


def _config() -> dict[str, Any]:
    show: Any = np.show_config
    try:
        build: dict[str, Any] = show(mode="dicts")
    except TypeError:  # before 1.25 it takes no argument
        return {}
    return build


def _join(*words: str | None) -> str | None:
    return " ".join(word for word in words if word) or None


def _link() -> str | None:
    """Return the libraries that an older NumPy was linked to as its BLAS."""
    config: Any = import_module("numpy.__config__")
    for name in ("blas_ilp64_opt_info", "blas_opt_info"):
        libraries = getattr(config, name, {}).get("libraries", ())
        if libraries:
            return " ".join(dict.fromkeys(libraries))
    return None


def _instructions() -> str | None:
    """Return the instruction sets that every loop may use, and those of this CPU that some loops have versions for."""
    for name in ("numpy._core._multiarray_umath", "numpy.core._multiarray_umath"):
        try:
            module: Any = import_module(name)
        except ImportError:  # the package was renamed in 2.0
            continue
        features = [feature for feature in module.__cpu_dispatch__ if module.__cpu_features__.get(feature)]
        return " ".join([*module.__cpu_baseline__, *features])
    return None


def of_call(work: Work) -> Explanation:
    """Return the functions and kernels of a call."""
    build = facts()
    notes = [f"{title} {build[name]}" for name, title in (("blas", "BLAS"), ("isa", "instruction sets")) if build[name]]
    loop = _loop(work)
    return Explanation(() if loop is None else (Event(loop[0], "kernel", 1, None, loop[1]),), tuple(notes))


def _loop(work: Work) -> tuple[str, str] | None:
    """Return the name of a ufunc with its signature, and the instruction set of the loop that runs."""
    function: Any = work.function
    if not isinstance(function, np.ufunc) or not hasattr(function, "resolve_dtypes"):
        return None
    try:
        introspect: Any = import_module("numpy.lib.introspect")
        dtypes = [np.asarray(tensor).dtype for tensor in work.arguments[: function.nin]]
        types = "".join(dtype.char for dtype in function.resolve_dtypes((*dtypes, *[None] * function.nout)))
        loops = introspect.opt_func_info(func_name=f"^{function.__name__}$")
        current = loops[function.__name__][types]["current"]
    except (ImportError, TypeError, KeyError):  # a ufunc without versions by instruction set, or an older NumPy
        return None
    return f"{function.__name__} {types[: function.nin]}->{types[function.nin :]}", current
